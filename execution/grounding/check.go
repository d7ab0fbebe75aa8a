package grounding

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSentence limits the length of a sentence, in characters.
const MaxSentence = 400

// Grounded is a sentence that passed the check.
type Grounded struct {
	Text string
	// Sources are the ids of its sources, in the order of the sources.
	Sources []string
	// LinkFrom is the kind of the source whose text contains a link of the sentence, if the link is
	// not a value of its own: the author of the text wrote the link.
	LinkFrom string
}

// Kind is the kind of an ungrounded part of a sentence.
type Kind string

// The kinds of ungrounded parts.
const (
	KindForm      Kind = "form"
	KindNumber    Kind = "number"
	KindUnit      Kind = "unit"
	KindDate      Kind = "date"
	KindName      Kind = "name"
	KindQuotation Kind = "quotation"
	KindID        Kind = "id"
	KindLink      Kind = "link"
	// KindElsewhere is a value that belongs to another name.
	KindElsewhere Kind = "elsewhere"
)

// Error explains why a sentence failed the check. It never contains words of the sentence, because
// they are not verified.
type Error struct{ Kind Kind }

func (e *Error) Error() string {
	switch e.Kind {
	case KindForm:
		return "it is no sentence of plain text"
	case KindElsewhere:
		return "a value in it belongs to another name"
	case KindUnit:
		return "a number in it has another unit"
	default:
		return fmt.Sprintf("a %s in it stands nowhere", e.Kind)
	}
}

// markup matches what plain text does not contain.
var markup = regexp.MustCompile(`</?[A-Za-z!]|\]\s*\(|\]\s*:|!\[|[\x00-\x08\x0b-\x1f\x7f]`)

// Check reports whether everything in a sentence is in the sources. The error is an *Error.
func (g *Ground) Check(sentence string) (Grounded, error) {
	said := strings.NewReplacer("**", "", "`", "", "__", "").Replace(strings.Join(strings.Fields(sentence), " "))
	said = strings.TrimSpace(strings.TrimPrefix(said, "- "))
	if said == "" || utf8.RuneCountInString(said) > MaxSentence || markup.MatchString(said) {
		return Grounded{}, &Error{KindForm}
	}
	c := check{g: g, said: said, tokens: tokenize(said), inOrder: map[int]int{}}
	if kind := c.all(); kind != "" {
		return Grounded{}, &Error{kind}
	}
	return Grounded{Text: said, Sources: c.cited(), LinkFrom: c.linkFrom}, nil
}

// check is the state of checking one sentence.
type check struct {
	// linkFrom is Grounded.LinkFrom.
	linkFrom string
	g        *Ground
	said     string
	tokens   []token
	// quoted are the ranges that are quoted from a source.
	quoted [][2]int
	// rests are, for each value and name, the rows that contain it.
	rests [][]int
	// named are the names of the sentence with their clauses.
	named []label
	// inOrder maps clauses of numbers to the clauses of the names that they belong to.
	inOrder map[int]int
	// workings are the calculations of the sentence.
	workings []working
}

// label is a name with the places where it occurs.
type label struct {
	clause int
	places []place
}

func (l label) rows() []int { return rowsOf(l.places) }

func (c *check) all() Kind {
	steps := []func() Kind{c.quotations, c.names, c.ids, c.beside, c.order, c.work, c.days, c.numbers}
	for _, step := range steps {
		if kind := step(); kind != "" {
			return kind
		}
	}
	return ""
}

func (c *check) rest(rows ...int) { c.rests = append(c.rests, rows) }

// quotation matches quoted texts by their pairs of marks.
var quotation = regexp.MustCompile(`"([^"]+)"|“([^”“]+)[”“]|„([^“”]+)[“”]|«\s*([^»]+?)\s*»|(?:^|[\s(])['‘]([^'’]{2,})['’](?:$|[\s.,;:!?)])`)

func (c *check) quotations() Kind {
	for _, m := range quotation.FindAllStringSubmatchIndex(c.said, -1) {
		for k := 2; k < len(m); k += 2 {
			if m[k] < 0 {
				continue
			}
			said := squeezed(strings.TrimRight(c.said[m[k]:m[k+1]], ".,;:!?"))
			var rows []int
			for _, t := range c.g.texts {
				if at := strings.Index(t.plain, said); at >= 0 && bounded(t.plain, at, at+len(said)) {
					rows = append(rows, t.row)
				}
			}
			if len(rows) == 0 {
				return KindQuotation
			}
			c.rest(rows...)
			c.quoted = append(c.quoted, [2]int{m[k], m[k+1]})
		}
	}
	return ""
}

func bounded(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !letter(before) && !letter(after)
}

func (c *check) isQuoted(t token) bool {
	return slices.ContainsFunc(c.quoted, func(q [2]int) bool { return q[0] <= t.start && t.end <= q[1] })
}

// ids checks ids, addresses and links, which must be in the sources unchanged.
func (c *check) ids() Kind {
	for i, t := range c.tokens {
		switch t.kind {
		case kindLink:
			found, ok := c.g.links[t.text]
			if !ok {
				return KindLink
			}
			c.rest(found.row)
			if found.inText {
				c.linkFrom = c.g.sources[c.g.rows[found.row].source].Kind
			}
		case kindIdent, kindMail:
			places := c.find(t)
			if len(places) == 0 {
				return KindID
			}
			c.rest(rowsOf(places)...)
			c.label(c.clause(i), places)
		default:
		}
	}
	return ""
}

// clause returns the number of the clause of a token.
func (c *check) clause(at int) int {
	n := 0
	for i := range at {
		if parting(c.tokens[i]) {
			n++
		}
	}
	return n
}

// subject returns the rows that a clause is about, by its names or by those of the last clause
// before it that has names. It returns nil if that is unknown.
func (c *check) subject(clause int) []int {
	if names, ok := c.inOrder[clause]; ok {
		clause = names
	}
	for at := clause; at >= 0; at-- {
		var found []int
		any := false
		for _, l := range c.named {
			if l.clause != at {
				continue
			}
			if !any {
				found, any = l.rows(), true
				continue
			}
			both := slices.DeleteFunc(slices.Clone(found), func(r int) bool {
				return !slices.ContainsFunc(l.rows(), func(o int) bool { return c.g.shares(r, o) })
			})
			if len(both) == 0 {
				return nil // it is about more than one
			}
			found = both
		}
		if any {
			return found
		}
	}
	return nil
}

// beside checks that names in one statement, such as a person and a team, are in the same item of a
// list, unless they are alternatives.
func (c *check) beside() Kind {
	for i, a := range c.named {
		for _, b := range c.named[i+1:] {
			if c.goesOn(a.clause, b.clause) && !alternatives(a, b) && !c.belongs(a.rows(), b.rows()) {
				return KindElsewhere
			}
		}
	}
	return ""
}

// goesOn reports whether a clause has the same subject as one before it: it is the same clause, or
// names no alternative to the names of that one.
func (c *check) goesOn(from, to int) bool {
	if from == to {
		return true
	}
	for _, a := range c.named {
		for _, b := range c.named {
			if a.clause >= from && a.clause < b.clause && b.clause <= to && alternatives(a, b) {
				return false
			}
		}
	}
	return true
}

// alternatives reports whether two names occur under the same column, like names that are compared.
func alternatives(a, b label) bool {
	return slices.ContainsFunc(a.places, func(p place) bool {
		return slices.ContainsFunc(b.places, func(q place) bool { return p.column == q.column })
	})
}

// belongs reports whether values of some rows can belong to the subject: no list has both in
// different items.
func (c *check) belongs(subject, rows []int) bool {
	for _, l := range c.g.lists {
		var of, in []int
		for _, r := range subject {
			if item := c.g.inGroup(r, l.group); item >= 0 {
				of = append(of, item)
			}
		}
		for _, r := range rows {
			if item := c.g.inGroup(r, l.group); item >= 0 {
				in = append(in, item)
			}
		}
		if len(of) > 0 && len(in) > 0 && !slices.ContainsFunc(of, func(r int) bool { return slices.Contains(in, r) }) {
			return false
		}
	}
	return true
}

// cited returns the sources of the sentence: first those of values that only one source has, then
// sources for the remaining values.
func (c *check) cited() []string {
	chosen := map[int]bool{}
	source := func(r int) int { return c.g.rows[r].source }
	for _, only := range []bool{true, false} {
		for _, rows := range c.rests {
			var of []int
			covered := false
			for _, r := range rows {
				covered = covered || chosen[source(r)]
				if !slices.Contains(of, source(r)) {
					of = append(of, source(r))
				}
			}
			if len(of) == 0 || covered || only && len(of) > 1 {
				continue
			}
			found := slices.IndexFunc(of, func(s int) bool { return c.g.sources[s].ID != "" })
			chosen[of[max(found, 0)]] = true
		}
	}
	var out []string
	for i, s := range c.g.sources {
		if chosen[i] && s.ID != "" && !slices.Contains(out, s.ID) {
			out = append(out, s.ID)
		}
	}
	return out
}
