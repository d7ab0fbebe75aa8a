package slot

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// keyed reads name=value and "name: value" where a parameter's name begins at
// token i.
func (r *reading) keyed(i int) {
	for _, p := range r.set.params {
		for _, name := range p.names {
			last, ok := r.wording.nameAt(name, i)
			if !ok || last+1 >= r.to || !r.try(maxTries/maxMentions) { // a value is cut off the text and read
				continue
			}
			sep := strings.Trim(r.wording.gap(last, last+1), " \t\"'`“”")
			if sep != "" && (sep[0] == '=' || sep[0] == ':') {
				r.keyValue(p, name.list, last, sep[0])
			}
		}
	}
}

// spokenName is the name of a parameter as words.
type spokenName struct {
	words  []string
	joined string
	list   bool
}

// nameAt tells whether the name of a parameter stands at token i, written as
// one word or as several.
func (r *wording) nameAt(name spokenName, i int) (last int, ok bool) {
	if r.doc.Tokens[i].Fold == name.joined {
		return i, true
	}
	if i+len(name.words) > r.to {
		return 0, false
	}
	for k, w := range name.words {
		if r.doc.Tokens[i+k].Fold != w || k > 0 && r.doc.Tokens[i+k].Break {
			return 0, false
		}
	}
	return i + len(name.words) - 1, len(name.words) > 0
}

// maxKeyed bounds the text behind a key, in bytes.
const maxKeyed = 2048

// keyValue reads the value behind a sign. After ":" a text goes on to the next
// comma, semicolon or line; after "=" to the next space.
func (r *reading) keyValue(p *param, list bool, nameToken int, sign byte) {
	from := r.doc.Tokens[nameToken].End
	rest := r.doc.Src[from:r.wording.partEnd()]
	start := from + strings.IndexByte(rest, sign) + 1
	rest = r.doc.Src[start:min(r.wording.partEnd(), start+maxKeyed)]
	trimmed := strings.TrimLeft(rest, " \t")
	start, rest = start+len(rest)-len(trimmed), trimmed
	raw, quoted := valueText(rest, sign, list || p.single == "")
	if !quoted && sign == ':' && (p.naming || slices.ContainsFunc(p.words, func(w string) bool { return r.set.tools.cues.proper[w] })) && !p.speaks(r.set.tools.cues) {
		raw = r.wording.sentenceOf(raw)
	}
	end := start + len(raw)
	values, ok := r.set.parseMany(p, raw, quoted, r.now)
	first, last := r.wording.tokensIn(start, end)
	if !ok || last < first {
		return
	}
	for _, v := range values {
		r.add(mention{param: p, first: first, last: last, span: text.Span{Start: start, End: end}, value: v, kind: kindKeyed, p: 0.96, item: len(values) > 1})
	}
}

// sentenceOf cuts a name behind a colon at the end of its sentence: "name: Night Desk. it
// should …". The dot of a title or of an initial is none.
func (r *wording) sentenceOf(raw string) string {
	for i := 1; i+1 < len(raw); i++ {
		if !strings.ContainsRune(".!?", rune(raw[i])) || raw[i+1] != ' ' {
			continue
		}
		word := raw[strings.LastIndexAny(raw[:i], " ")+1 : i]
		if len(word) > 1 && !r.set.tools.Lexicon.Folded(lang.Fold(word)).Has(lang.Title) {
			return raw[:i]
		}
	}
	return raw
}

// partEnd is the end of the part in bytes, with the sign that closes a
// quotation or a list.
func (r *wording) partEnd() int {
	if r.to < len(r.doc.Tokens) {
		return r.doc.Tokens[r.to].Start
	}
	return len(r.doc.Src)
}

// valueText cuts the value off the rest of a text.
func valueText(rest string, sign byte, list bool) (raw string, quoted bool) {
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case first == '[':
		if end := strings.IndexByte(rest, ']'); end > 0 {
			return rest[:end+1], false
		}
	case strings.ContainsRune("\"'`“«", first):
		if q := text.Quotes(rest); len(q) > 0 && q[0].Start <= 4 {
			return rest[:q[0].End], true
		}
	}
	stops := ",;\n"
	if list {
		stops = ";\n"
	}
	end := len(rest)
	if i := strings.IndexAny(rest, stops); i >= 0 {
		end = i
	}
	another := false
	for _, next := range []string{"=", ": "} { // stop before the next key
		if i := strings.Index(rest[:end], next); i > 0 {
			if space := strings.LastIndexAny(rest[:i], " \t"); space > 0 {
				end, another = space, true
			}
		}
	}
	if sign == '=' && !list && !another {
		if i := strings.IndexAny(rest[:end], " \t)"); i >= 0 {
			end = i
		}
	}
	return strings.TrimRight(rest[:end], " \t.!?}"), false
}

// tokensIn gives the tokens inside a byte range.
func (r *wording) tokensIn(start, end int) (first, last int) {
	first, last = r.to, r.from-1
	for i := r.from; i < r.to; i++ {
		if t := r.doc.Tokens[i]; t.Start >= start && t.End <= end {
			first, last = min(first, i), i
		}
	}
	return first, last
}
