package slots

import (
	"strings"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// ParameterName is a tokenized parameter name.
type ParameterName struct {
	Words  []string
	Joined string
	List   bool
}

// NameAt reports whether a parameter name begins at token i, as one word or several.
func (r *Wording) NameAt(name ParameterName, i int) (last int, ok bool) {
	if r.Doc.Tokens[i].Fold == name.Joined {
		return i, true
	}
	if i+len(name.Words) > r.To {
		return 0, false
	}
	for k, w := range name.Words {
		if r.Doc.Tokens[i+k].Fold != w || k > 0 && r.Doc.Tokens[i+k].Break {
			return 0, false
		}
	}
	return i + len(name.Words) - 1, len(name.Words) > 0
}

// SentenceOf truncates a name behind a colon at the end of its sentence: "name: Night Desk. it
// should …". The dot of a title or of an initial does not end it.
func (r *Wording) SentenceOf(raw string) string {
	for i := 1; i+1 < len(raw); i++ {
		if !strings.ContainsRune(".!?", rune(raw[i])) || raw[i+1] != ' ' {
			continue
		}
		word := raw[strings.LastIndexAny(raw[:i], " ")+1 : i]
		if len(word) > 1 && !r.Lexicon.Folded(lexicon.Fold(word)).Has(lexicon.Title) {
			return raw[:i]
		}
	}
	return raw
}

// PartEnd returns the end of the range in bytes, including a closing quotation mark or bracket.
func (r *Wording) PartEnd() int {
	if r.To < len(r.Doc.Tokens) {
		return r.Doc.Tokens[r.To].Start
	}
	return len(r.Doc.Src)
}

// ValueText returns the value at the start of a text.
func ValueText(rest string, sign byte, list bool) (raw string, quoted bool) {
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case first == '[':
		if end := strings.IndexByte(rest, ']'); end > 0 {
			return rest[:end+1], false
		}
	case strings.ContainsRune("\"'`“«", first):
		if q := tokenize.Quotes(rest); len(q) > 0 && q[0].Start <= 4 {
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

// TokensIn returns the tokens inside a byte range.
func (r *Wording) TokensIn(start, end int) (first, last int) {
	first, last = r.To, r.From-1
	for i := r.From; i < r.To; i++ {
		if t := r.Doc.Tokens[i]; t.Start >= start && t.End <= end {
			first, last = min(first, i), i
		}
	}
	return first, last
}
