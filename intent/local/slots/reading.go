package slots

import (
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// mention is a candidate value with its tokens.
type mention struct {
	param       *param
	first, last int
	span        tokenize.Span // byte span; empty means that of the tokens
	value       any
	values      []any // items of a whole list
	kind        string
	p           float64
	doubt       bool // ambiguous: the tokens are covered, but there is no value
	shared      bool // may overlap another value
	item        bool // read as a list item beside another value
}

// reading finds the candidate values of a passage, each with a score. The solver selects among
// them.
type reading struct {
	*passage
	mentions []mention
	beside   bool // the range is a statement beside the request
	tries    int  // cost so far
}

// maxMentions and maxTries limit the work on adversarial input: the number of candidates, and the
// total cost of tries. dear is the cost of a try that inspects the context.
const (
	maxMentions = 400
	maxTries    = 200_000
	contextCost = 8
)

// try reports whether the budget allows another try, and charges its cost. Comparing words costs
// 1, scoring the context more.
func (r *reading) try(cost int) bool {
	if r.tries+cost > maxTries || len(r.mentions) >= maxMentions {
		return false
	}
	r.tries += cost
	return true
}

func (r *reading) add(m mention) {
	if len(r.mentions) >= maxMentions || !m.param.named(r.only) {
		return
	}
	if m.first < r.from || m.last >= r.to || isIndefinite(r, m) || m.param.resolver && AfterNaming(r.doc.Tokens, m.first) {
		return
	}
	r.mentions = append(r.mentions, m)
}

// isIndefinite reports whether a free-text candidate consists of indefinite words: "post
// something" must lead to a question.
func isIndefinite(r *reading, m mention) bool {
	if m.kind != kindContext && m.kind != kindName {
		return false
	}
	return !slices.ContainsFunc(r.doc.Tokens[m.first:m.last+1], func(t tokenize.Token) bool { return !t.Has(lexicon.Indefinite) || t.Is(tokenize.FormQuoted) })
}

// collect finds all candidate values.
func (r *reading) collect() {
	if len(r.set.params) == 0 {
		return
	}
	r.numerals.count()
	for _, e := range r.entities {
		if e.First >= r.from && e.Last < r.to {
			for i := e.First; i <= e.Last; i++ {
				r.inEntity[i] = true
			}
			r.entity(e)
		}
	}
	for i := r.from; i < r.to; i++ {
		r.known(i)
		r.keyed(i)
		r.boolean(i)
		r.month(i)
		r.ordinal(i)
		if c, ok := r.doc.ChunkAt(i); ok && c.Last < r.to {
			r.identifier(c)
			readCamelCase(r, c)
		}
	}
	r.series()
	r.quoted()
	r.names()
	r.counted()
	r.lists()
	r.informed()
}

// after reports whether the parameter name stands right before token i, such as "title" in "title
// Senior Engineer". Of several words the last one is enough.
func (r *vicinity) after(p *param, i int) bool {
	j := i - 1
	for steps := 0; j >= r.from && steps < 2; steps++ {
		if r.doc.Tokens[j+1].Break {
			return false
		}
		stem := r.doc.Tokens[j].Stem
		if slices.Contains(p.words, stem) && (len(p.words) == 1 || !r.set.tools.Lexicon.StopWord(stem) || r.wording.PhraseEndsAt(p.words, j)) {
			return true
		}
		switch r.doc.Tokens[j].Fold {
		case "is", "as", "called", "named", "equals":
		case "to", "of", "at", "the", "a":
			if p.free() {
				return false // in "a message to Ana" the message is not Ana
			}
		default:
			return false
		}
		j--
	}
	return false
}

// in returns the byte span of a mention.
func (m mention) in(d *values.Doc) tokenize.Span {
	if m.span.End > m.span.Start {
		return m.span
	}
	return tokenize.Span{Start: d.Tokens[m.first].Start, End: d.Tokens[m.last].End}
}

// identifier adds a chunk as a candidate for the parameters whose pattern or examples it matches.
func (r *reading) identifier(c values.Chunk) {
	t := r.doc.Tokens[c.First]
	digit := strings.ContainsFunc(c.Text, unicode.IsDigit)
	if !digit && !t.Is(tokenize.FormCaps) && c.Last == c.First || !digit && r.set.Knows(t) && !r.learning {
		return
	}
	for _, p := range r.set.params {
		if !p.identified(r.inEntity[c.First]) {
			continue
		}
		like := p.shapes.Like(c.Text)
		if like == 0 && digit && p.resolver && r.near.expects(p.leftContext, c.First-1) {
			like = 0.76 // a code whose form differs from that of all examples
		} else if like > 0 && like < 0.6 {
			like += r.near.context(p, c.First, c.Last)
		}
		m := mention{param: p, first: c.First, last: c.Last, span: c.Span, value: tokenize.Clean(c.Text), kind: kindShape, p: like}
		if p.pattern != nil {
			m.kind, m.p = kindPattern, like
			switch upper := strings.ToUpper(c.Text); {
			case p.pattern.MatchString(c.Text):
				m.p = max(like, p.patternWorth(digit || t.Is(tokenize.FormCaps)))
			case digit && p.pattern.MatchString(upper):
				m.value, m.p = upper, 0.8
			case !p.resolver:
				continue
			}
		}
		if r.inEntity[c.First] && like == 0 && p.acceptsWords && !r.near.after(p, c.First) {
			continue // a plain number or date matches many patterns
		}
		if m.p > 0 {
			r.add(m)
		}
	}
}

// identified reports whether a parameter may take a code. A code inside a date or time is no value
// of a time of day.
func (p *param) identified(inEntity bool) bool {
	return p.kind == "string" && len(p.enum) == 0 && !p.temporal() && (!inEntity || p.clock == "")
}

// patternWorth returns the score of a pattern match.
func (p *param) patternWorth(special bool) float64 {
	if special {
		return 0.86
	}
	if p.acceptsWords {
		return 0
	}
	return 0.7
}
