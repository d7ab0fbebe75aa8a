package grounding

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Source is something that a sentence may rest on.
type Source struct {
	// ID is the node that found it; empty for what was asked.
	ID string
	// Kind is the same for sources that are alike, such as calls of one capability:
	// a value of one does not hold for what is named in another.
	Kind string
	// Texts are words: a title, a summary, the message.
	Texts []string
	// Values are facts or parameters, plain JSON.
	Values []any
	// Units are those of values, by the last name of their path.
	Units map[string]string
}

// Ground is what sentences are checked against.
type Ground struct {
	sources []Source
	rows    []row
	values  []value
	dates   []dayFound
	texts   []text
	// words are the rows in which a word stands, known those that stand anywhere,
	// names of facts among them.
	words map[string][]place
	known map[string]bool
	units map[string]bool
	links map[string]link
	lists []list
}

// row is one thing that values and names belong to: an item of a list, or all that
// a source says outside of lists.
type row struct {
	source, parent int
	// group is the list that it is an item of, or the kind of its source.
	group string
}

// value is a number that stands in a source, or follows from those that do.
type value struct {
	of       []*big.Rat
	decimals int
	units    []string
	row      int
	// column is the same for values of the same name in rows of one group; empty in
	// texts.
	column string
}

type dayFound struct {
	date
	row int
	// text is the text in which it stands.
	text int
}

// place is where a word stands: in which row, and under which name of it.
type place struct {
	row    int
	column string
}

func rowsOf(places []place) []int {
	out := make([]int, len(places))
	for i, p := range places {
		out[i] = p.row
	}
	return out
}

// text is one text of a source, as its folded words with a space around each.
type text struct {
	words string
	plain string
	row   int
}

// list is a list of facts, for counts.
type list struct {
	row   int
	group string
	items []int
}

// New reads the sources.
func New(sources []Source) *Ground {
	g := &Ground{sources: sources, words: map[string][]place{}, known: map[string]bool{}, units: map[string]bool{}, links: map[string]link{}}
	kinds := map[string][]int{}
	for i, s := range sources {
		root := g.newRow(i, -1, "kind "+s.Kind)
		if s.ID != "" && s.Kind != "" {
			kinds[s.Kind] = append(kinds[s.Kind], root)
		}
		for _, t := range s.Texts {
			g.text(t, root, "")
		}
		for _, v := range s.Values {
			g.value(v, root, "", "", nil)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		g.lists = append(g.lists, list{row: -1, group: "kind " + kind, items: kinds[kind]})
	}
	return g
}

func (g *Ground) newRow(source, parent int, group string) int {
	g.rows = append(g.rows, row{source: source, parent: parent, group: group})
	return len(g.rows) - 1
}

// value takes a plain JSON value under a name.
func (g *Ground) value(v any, at int, path, name string, beside []string) {
	switch v := v.(type) {
	case map[string]any:
		g.object(v, at, path, beside)
	case []any:
		l := list{row: at, group: fmt.Sprint(g.rows[at].group, " ", path)}
		for _, item := range v {
			r := g.newRow(g.rows[at].source, at, l.group)
			l.items = append(l.items, r)
			g.value(item, r, path, name, beside)
		}
		g.lists = append(g.lists, l)
	case string:
		tokens := g.text(v, at, path)
		for _, t := range tokens {
			if t.kind == kindLink {
				g.link(t, at, len(tokens) > 1)
			}
		}
	case bool, nil:
	default:
		g.number(v, at, path, name, beside)
	}
}

// object takes the members of an object; one beside them may say their unit.
func (g *Ground) object(v map[string]any, at int, path string, beside []string) {
	for name, member := range v {
		if said, ok := member.(string); ok && namesUnit(name) && unitOf(fold(said)) != "" {
			beside = append(slices.Clip(beside), unitOf(fold(said)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		for _, w := range keyWords(name) {
			g.known[w] = true
		}
		for _, u := range keyUnits(name) {
			g.units[u] = true
		}
		g.value(v[name], at, path+"."+name, name, beside)
	}
}

func (g *Ground) number(v any, at int, path, name string, beside []string) {
	said := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		said = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if n, ok := v.(json.Number); ok {
		said = n.String()
	}
	rat, ok := new(big.Rat).SetString(said)
	if !ok {
		return
	}
	hints := keyUnits(name)
	if declared := unitOf(fold(g.sources[g.rows[at].source].Units[name])); len(hints) == 0 && declared != "" {
		hints = []string{declared}
	}
	if len(hints) == 0 {
		hints = beside
	}
	_, behind, _ := strings.Cut(said, ".")
	for _, u := range hints {
		g.units[u] = true
	}
	g.values = append(g.values, value{of: []*big.Rat{rat}, decimals: len(behind), units: hints, row: at, column: g.rows[at].group + " " + path})
	g.known[fold(said)] = true
}

// text takes the words of a text, with the numbers and dates in it.
func (g *Ground) text(said string, at int, column string) []token {
	here := place{at, column}
	tokens := tokenize(said)
	for _, t := range tokens {
		if u := unitOf(t.fold); u != "" && (t.kind == kindWord && len(t.fold) > 1 || t.kind == kindPunct) {
			g.units[u] = true
		}
		switch t.kind {
		case kindNumber:
			v := value{of: t.number.values, decimals: t.number.decimals, row: at}
			if t.number.unit != "" {
				v.units = []string{t.number.unit}
				g.units[t.number.unit] = true
			}
			g.values = append(g.values, v)
			g.word(t.fold, here)
		case kindDate, kindClock:
			g.dates = append(g.dates, dayFound{t.date, at, len(g.texts)})
			g.word(t.fold, here)
		case kindWord, kindIdent, kindMail, kindLink:
			g.word(t.fold, here)
			for _, part := range strings.FieldsFunc(t.fold, func(r rune) bool { return r == '-' || r == '\'' || r == '.' || r == '_' || r == '/' }) {
				g.word(part, here)
			}
		case kindPunct:
		}
	}
	g.texts = append(g.texts, text{words: " " + strings.Join(words(tokens), " ") + " ", plain: squeezed(said), row: at})
	return tokens
}

func (g *Ground) word(w string, at place) {
	g.known[w] = true
	if places := g.words[w]; len(places) == 0 || places[len(places)-1] != at {
		g.words[w] = append(g.words[w], at)
	}
}

// link is where a link stands: as the whole value of a fact, or inside a text, into
// which anybody may have put it.
type link struct {
	row    int
	inText bool
}

// link takes a link of a fact.
func (g *Ground) link(t token, at int, inText bool) {
	before, known := g.links[t.text]
	if g.sources[g.rows[at].source].ID != "" && (!known || before.inText) {
		g.links[t.text] = link{at, inText}
	}
}

// squeezed is a text with single spaces, folded.
func squeezed(s string) string { return strings.Join(strings.Fields(fold(s)), " ") }

// within reports whether a row is another, or stands in it.
func (g *Ground) within(r, outer int) bool {
	for ; r >= 0; r = g.rows[r].parent {
		if r == outer {
			return true
		}
	}
	return false
}

// shares reports whether what stands in two rows is said of the same thing.
func (g *Ground) shares(a, b int) bool { return g.within(a, b) || g.within(b, a) }

// inGroup are the rows of a group that hold a row; none where the row is outside.
func (g *Ground) inGroup(r int, group string) int {
	for ; r >= 0; r = g.rows[r].parent {
		if g.rows[r].group == group {
			return r
		}
	}
	return -1
}
