package flow

import (
	"strconv"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Distances of the automatic layout.
const (
	columnGap = 100
	rowGap    = 60
)

// box is the position and size of a node.
type box struct {
	at            Point
	width, height float64
}

// number returns the number at a path, or 0.
func number(raw []byte, path ...string) float64 {
	value, _ := get(raw, path...)
	v, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return 0
	}
	return v
}

// heightOf estimates the height of a chatflow node on the canvas.
func heightOf(def *knowledge.Definition) float64 {
	height := 150.0
	for i := range def.Inputs {
		if !def.Inputs[i].AdditionalParams {
			height += 60
		}
	}
	return min(height, 800)
}

// layOut places the added nodes in columns to the right of all existing ones, by their distance
// from the first node of their chain. It does not move other nodes or the viewport.
func (d *draft) layOut() {
	groups := map[string][]*draftNode{}
	var parents []string
	for _, n := range d.nodes {
		if !n.added {
			continue
		}
		parent := n.Parent()
		if groups[parent] == nil {
			parents = append(parents, parent)
		}
		groups[parent] = append(groups[parent], n)
	}
	if len(groups[""]) > 0 {
		d.layOutGroup("", groups[""])
	}
	for _, parent := range parents {
		if parent != "" {
			d.layOutGroup(parent, groups[parent])
		}
	}
}

func (d *draft) layOutGroup(parent string, nodes []*draftNode) {
	origin := d.freeCorner(parent)
	offset := d.origin(parent)
	columns := d.columns(nodes)
	x := origin.X
	for _, column := range columns {
		y, width := origin.Y, 0.0
		for _, n := range column {
			b := n.box
			at := Point{X: x, Y: y}
			n.place(at, Point{X: offset.X + at.X, Y: offset.Y + at.Y})
			n.added = false
			y += b.height + rowGap
			width = max(width, b.width)
		}
		x += width + columnGap
	}
}

// freeCorner returns the upper left corner of the free area. In an iteration, positions are
// relative to the iteration.
func (d *draft) freeCorner(parent string) Point {
	corner, found := Point{X: 100, Y: 100}, false
	if parent != "" {
		corner = Point{X: 50, Y: 80}
	}
	top := 0.0
	for _, n := range d.nodes {
		if n.added || n.Parent() != parent {
			continue
		}
		b := n.box
		if !found || b.at.Y < top {
			top = b.at.Y
		}
		if right := b.at.X + b.width + columnGap; !found || right > corner.X {
			corner.X = right
		}
		found = true
	}
	if found {
		corner.Y = top
	}
	return corner
}

func (d *draft) origin(parent string) Point {
	for _, n := range d.nodes {
		if parent != "" && n.id == parent {
			return n.box.at
		}
	}
	return Point{}
}

// columns sorts new nodes by the longest path of new edges to them. Within a column they keep the
// order of the ops.
func (d *draft) columns(nodes []*draftNode) [][]*draftNode {
	depth := make(map[string]int, len(nodes))
	for _, n := range nodes {
		depth[n.id] = 0
	}
	for range nodes {
		settled := true
		for _, e := range d.edges {
			from, known := depth[e.Source]
			to, also := depth[e.Target]
			if known && also && to < from+1 && from+1 < len(nodes) {
				depth[e.Target], settled = from+1, false
			}
		}
		if settled {
			break
		}
	}
	var columns [][]*draftNode
	for level := range nodes {
		var column []*draftNode
		for _, n := range nodes {
			if depth[n.id] == level {
				column = append(column, n)
			}
		}
		if len(column) > 0 {
			columns = append(columns, column)
		}
	}
	return columns
}
