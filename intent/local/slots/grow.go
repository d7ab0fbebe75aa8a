package slots

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Read parses a run of tokens as the value of a parameter.
func (a RequestWords) Read(m *Message, name string, first, last int) (any, contracts.Evidence, bool) {
	span := [2]int{m.Tokens[first].Start, m.Tokens[last].End}
	p := a.of.byName(name)
	if p == nil {
		return nil, contracts.Evidence{}, false
	}
	v, ok := a.of.parse(p, m.Src[span[0]:span[1]], m.Now)
	return v, contracts.Evidence{Span: span, Kind: kindPhrase, P: 0.85}, ok
}

// NameExtent returns the last token of a name that continues behind last with capitals, codes or
// numbers: "v2" in "Support Bot v2".
func NameExtent(m *Message, last int) int {
	for next := last + 1; next < len(m.Tokens) && !m.Tokens[next].Break && !m.Tokens[next].Glued; next++ {
		if named(m.Tokens[next]) {
			last = next
		} else if !m.Tokens[next].Has(lexicon.Particle) || m.Tokens[next].Is(tokenize.FormTitle) {
			break // a particle may be capitalised: "Cena de la Casa"
		}
	}
	return last
}

func named(t tokenize.Token) bool {
	return t.Is(tokenize.FormTitle|tokenize.FormCaps|tokenize.FormMixed|tokenize.FormDigits) && !t.Is(tokenize.FormQuoted) && !t.Has(lexicon.Function)
}

// closed extends a name by the common noun at its end, if no article stands before it: "city" in
// "from salt lake city".
func closed(f *completer, p *param, best LikelyOption) LikelyOption {
	next := best.Last + 1
	if best.Last == best.First || next >= f.to || best.First > 0 && f.doc.Tokens[best.First-1].Has(lexicon.Article) {
		return best
	}
	t := f.doc.Tokens[next]
	if t.Break || t.Is(tokenize.FormQuoted) || f.field.taken[next-f.from] || !slices.Contains(p.words, t.Stem) || !f.set.tools.cues.Proper[t.Stem] {
		return best
	}
	if _, text := best.Value.(string); !text {
		return best
	}
	if v, ok := f.set.parse(p, f.wording.Text(best.First, next), f.now); ok {
		best.Value, best.Last = v, next
	}
	return best
}

// NamedAs returns the name behind a word such as "as" at token i, if exactly one open parameter
// holds a name: "copy it as Desk Two".
func (a RequestWords) NamedAs(m *Message, i int, values map[string]any) (name string, first, last int) {
	if i+1 >= len(m.Tokens) || m.Tokens[i+1].Break {
		return "", 0, 0
	}
	var open []*param
	for _, p := range a.of.params {
		_, has := values[p.name()]
		if !has && p.free() && !p.resolver && slices.ContainsFunc(p.words, func(w string) bool { return a.of.tools.cues.Proper[w] || w == "name" }) {
			open = append(open, p)
		}
	}
	first, last = i+1, NameExtent(m, i)
	for last == i && m.Tokens[i+1].Is(tokenize.FormQuoted) || last > i && last+1 < len(m.Tokens) && m.Tokens[first].Is(tokenize.FormQuoted) && m.Tokens[last+1].Is(tokenize.FormQuoted) {
		last++
	}
	if p := sole(open); p != nil && last >= first {
		return p.name(), first, last
	}
	return "", 0, 0
}

// Explains returns the only parameter without a value that holds a reason or a note, such as
// "reason" or "comment". It returns "" if there are none or several.
func (a RequestWords) Explains(values map[string]any) string {
	var open []*param
	for _, p := range a.of.params {
		if _, has := values[p.name()]; !has && p.free() && !p.resolver && p.pattern == nil && p.list == "" && slices.ContainsFunc(p.words, func(w string) bool { return a.of.tools.cues.Why[w] }) {
			open = append(open, p)
		}
	}
	if p := sole(open); p != nil {
		return p.name()
	}
	return ""
}
