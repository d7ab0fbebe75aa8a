package slots

import (
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// codeAt returns the chunk at a token if it is an address, a path, a version or an identifier.
func (f *field) codeAt(i int) (raw string, last int, ok bool) {
	if f.taken[i-f.from] || f.doc.Tokens[i].Is(tokenize.FormQuoted) {
		return "", 0, false
	}
	e, typed := f.entityAt[i]
	if typed && e.Kind == values.Phone && e.First == i && e.Last < f.to {
		return "+" + f.wording.Text(i, e.Last), e.Last, true
	}
	c, ok := f.doc.ChunkAt(i)
	if !ok || c.Last >= f.to || typed && e.Kind == values.Number && e.Last >= c.Last && !e.Spelled {
		return "", 0, false
	}
	address := typed && (e.Kind == values.Email || e.Kind == values.URL || e.Kind == values.UUID)
	return tokenize.Clean(c.Text), c.Last, address || c.Code()
}

// currencyAt adds the name of a currency as a candidate.
func (f *field) currencyAt(i int) (last int, ok bool) {
	if f.taken[i-f.from] || f.doc.Tokens[i].Is(tokenize.FormQuoted) || !f.takesMoney {
		return 0, false
	}
	code, last, ok := f.set.tools.Scanner.CurrencyAt(f.doc, i)
	if !ok || last >= f.to {
		return 0, false
	}
	f.add(span{first: i, last: last, currency: code, proper: true})
	return last, true
}

// currency reports whether a parameter holds a currency.
func (p *param) currency() bool {
	for _, w := range p.words {
		switch w {
		case "currenc", "currency", "moeda", "divisa", "moneda", "wahrung", "devis":
			return true
		}
	}
	return false
}

// takesCode reports whether a parameter takes codes, by its name or by the values that its
// description lists.
func (f *weigher) takesCode(p *param, raw string) bool {
	c := f.set.tools.cues
	for _, w := range p.words {
		if c.Code[w] {
			return true
		}
		if signs, ok := c.Written[w]; ok {
			return strings.ContainsAny(raw, signs)
		}
	}
	return slices.ContainsFunc(p.listed, func(v string) bool {
		return (values.Chunk{Text: v}).Code() && strings.ContainsFunc(v, unicode.IsDigit) == strings.ContainsFunc(raw, unicode.IsDigit)
	})
}
