package slots

import (
	"slices"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// codeAt reads what is written as no word is: an address, or a chunk that looks
// like a path, a version or an identifier.
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

// currencyAt offers the name of a currency.
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

// currency tells parameters that are currencies.
func (p *param) currency() bool {
	for _, w := range p.words {
		switch w {
		case "currenc", "currency", "moeda", "divisa", "moneda", "wahrung", "devis":
			return true
		}
	}
	return false
}

// takesCode tells parameters whose values are written as a text is that is no
// word: by their name, or by a value that the description names.
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
