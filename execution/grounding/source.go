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

// Source is a source that a sentence may be based on.
type Source struct {
	// ID is the node of the result; empty for the question.
	ID string
	// Kind is the same for similar sources, such as calls of one capability. A value of one does
	// not belong to a name of another.
	Kind string
	// Texts are a title, a summary, or the message.
	Texts []string
	// Values are facts or parameters, plain JSON.
	Values []any
	// Units are the units of values, by the last name of their path.
	Units map[string]string
}

// Ground is the index of the sources that sentences are checked against.
type Ground struct {
	sources []Source
	rows    []row
	values  []value
	dates   []dayFound
	texts   []text
	// words are the places of each word; known are all words, including names of facts.
	words map[string][]place
	known map[string]bool
	units map[string]bool
	links map[string]link
	lists []list
}

// row groups values and names that belong together: an item of a list, or everything of a source
// outside of lists.
type row struct {
	source, parent int
	// group is the list of the item, or the kind of the source.
	group string
}

// value is a number in a source, or one derived from such numbers.
type value struct {
	of       []*big.Rat
	decimals int
	units    []string
	row      int
	// column is the same for values of the same name in rows of one group; empty in texts.
	column string
}

type dayFound struct {
	date
	row int
	// text is the index of the text that contains it.
	text int
}

// place is an occurrence of a word: its row and its column.
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

// text is one text of a source. words are its folded words, each between spaces.
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

// New indexes the sources.
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

// value adds a plain JSON value under a name.
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

// object adds the members of an object. One of them may declare the unit of the others.
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

// text adds the words of a text, and the numbers and dates in it.
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

// link is the place of a link: the whole value of a fact, or a part of a text, which anybody may
// have written.
type link struct {
	row    int
	inText bool
}

// link adds a link of a fact.
func (g *Ground) link(t token, at int, inText bool) {
	before, known := g.links[t.text]
	if g.sources[g.rows[at].source].ID != "" && (!known || before.inText) {
		g.links[t.text] = link{at, inText}
	}
}

// squeezed returns the text folded, with single spaces.
func squeezed(s string) string { return strings.Join(strings.Fields(fold(s)), " ") }

// within reports whether a row is outer or inside it.
func (g *Ground) within(r, outer int) bool {
	for ; r >= 0; r = g.rows[r].parent {
		if r == outer {
			return true
		}
	}
	return false
}

// shares reports whether two rows are about the same thing.
func (g *Ground) shares(a, b int) bool { return g.within(a, b) || g.within(b, a) }

// inGroup returns the row of a group that contains r, -1 if there is none.
func (g *Ground) inGroup(r int, group string) int {
	for ; r >= 0; r = g.rows[r].parent {
		if g.rows[r].group == group {
			return r
		}
	}
	return -1
}
