package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// keyed reads "name=value" and "name: value" where a parameter name begins at token i.
func (r *reading) keyed(i int) {
	for _, p := range r.set.params {
		for _, name := range p.names {
			last, ok := r.wording.NameAt(name, i)
			if !ok || last+1 >= r.to || !r.try(maxTries/maxMentions) { // parsing a value is costly
				continue
			}
			sep := strings.Trim(r.wording.Gap(last, last+1), " \t\"'`“”")
			if sep != "" && (sep[0] == '=' || sep[0] == ':') {
				r.keyValue(p, name.List, last, sep[0])
			}
		}
	}
}

// maxKeyed limits the length of a keyed value in bytes.
const maxKeyed = 2048

// keyValue reads the value behind "=" or ":". After ":" it ends at the next comma, semicolon or
// line break; after "=" at the next space.
func (r *reading) keyValue(p *param, list bool, nameToken int, sign byte) {
	from := r.doc.Tokens[nameToken].End
	rest := r.doc.Src[from:r.wording.PartEnd()]
	start := from + strings.IndexByte(rest, sign) + 1
	rest = r.doc.Src[start:min(r.wording.PartEnd(), start+maxKeyed)]
	trimmed := strings.TrimLeft(rest, " \t")
	start, rest = start+len(rest)-len(trimmed), trimmed
	raw, quoted := ValueText(rest, sign, list || p.single == "")
	if !quoted && sign == ':' && (p.naming || slices.ContainsFunc(p.words, func(w string) bool { return r.set.tools.cues.Proper[w] })) && !p.speaks(r.set.tools.cues) {
		raw = r.wording.SentenceOf(raw)
	}
	end := start + len(raw)
	values, ok := r.set.parseMany(p, raw, quoted, r.now)
	first, last := r.wording.TokensIn(start, end)
	if !ok || last < first {
		return
	}
	for _, v := range values {
		r.add(mention{param: p, first: first, last: last, span: tokenize.Span{Start: start, End: end}, value: v, kind: kindKeyed, p: 0.96, item: len(values) > 1})
	}
}
