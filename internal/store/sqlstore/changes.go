package sqlstore

import (
	"cmp"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/internal/store/stored"
)

// changes are the rows that a group adds.
type changes struct {
	nodes, data       distinct
	bornNodes         []any // of runs that this group inserts
	gates, intentRows []any
	ledger, mail      []any
	payloads          []any
	events            []stored.EventPack
	blobs             map[string]blobRow
	names             map[nameRow]bool
	consumed          []string // nonces
	statements        []Statement
	deliveries        []string
	// house means that rows of the global scope are included.
	house bool
}

type (
	nodeKey struct{ runID, nodeID string }
	nameRow struct{ hash, runID string }
	blobRow struct {
		kind string
		body []byte
	}
)

// distinct are rows with at most one per node, the last one, because a statement may touch a row
// only once.
type distinct struct {
	place map[nodeKey]int
	cells []any
}

func (d *distinct) put(runID, nodeID string, values ...any) {
	key := nodeKey{runID, nodeID}
	if at, ok := d.place[key]; ok {
		copy(d.cells[at+2:], values)
		return
	}
	if d.place == nil {
		d.place = map[nodeKey]int{}
	}
	d.place[key] = len(d.cells)
	d.cells = append(append(d.cells, runID, nodeID), values...)
}

func (a *changes) addBlob(hash, kind string, body []byte) {
	if a.blobs == nil {
		a.blobs = map[string]blobRow{}
	}
	a.blobs[hash], a.house = blobRow{kind, body}, true
}

func (a *changes) addNames(runID string, hashes ...string) {
	for _, hash := range hashes {
		if a.names == nil {
			a.names = map[nameRow]bool{}
		}
		a.names[nameRow{hash, runID}] = true
	}
}

// rows returns the rows by table, contents sorted by hash. All servers use the same order, which
// prevents deadlocks.
func (a *changes) rows() []Rows {
	blobs, names := Rows{Table: &tables.blobs}, Rows{Table: &tables.names}
	for _, hash := range slices.Sorted(maps.Keys(a.blobs)) {
		blobs.add(hash, a.blobs[hash].kind, a.blobs[hash].body)
	}
	for _, n := range slices.SortedFunc(maps.Keys(a.names), func(x, y nameRow) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.runID, y.runID))
	}) {
		names.add(n.hash, n.runID)
	}
	return []Rows{
		{&tables.bornNodes, a.bornNodes},
		{&tables.nodes, a.nodes.cells},
		{&tables.gates, a.gates},
		{&tables.intents, a.intentRows},
		{&tables.ledger, a.ledger},
		{&tables.payloads, a.payloads},
		blobs, names,
		{&tables.data, a.data.cells},
		{&tables.mail, a.mail},
	}
}
