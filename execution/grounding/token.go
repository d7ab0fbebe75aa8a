package grounding

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// kind is the kind of a token.
type kind int

const (
	kindPunct kind = iota
	kindWord
	kindNumber
	kindDate
	kindClock
	kindIdent
	kindMail
	kindLink
)

// token is a token of a text.
type token struct { //nolint:recvcheck // what reads it on needs a pointer
	kind       kind
	text, fold string
	start, end int
	number     number
	date       date
}

// lexer matches the longest form at a position, in this order.
var lexer = regexp.MustCompile(
	`(?P<link>(?i:[a-z][a-z0-9+.\-]*://\S+|www\.\S+|mailto:\S+))` +
		`|(?P<mail>[\p{L}\p{N}._%+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+)` +
		`|(?P<iso>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+\-]\d{2}:?\d{2})?)?)` +
		`|(?P<numeric>\b\d{1,2}[./]\d{1,2}[./]\d{4}\b)` +
		`|(?P<clock>\b\d{1,2}(?::\d{2}){1,2}(?:[ \x{a0}\x{202f}]?[aApP]\.?[mM]\b\.?)?|\b\d{1,2}h\d{2}\b|\b(?:0?[1-9]|1[0-2])[ \x{a0}\x{202f}]?[aApP]\.?[mM]\b\.?)` +
		`|(?P<host>(?:[\p{L}\p{N}\-]+\.)+[\p{L}]{2,})` +
		`|(?P<ident>\p{L}+(?:[\-_/#]\p{L}+)*[\-_/#]?\d[\p{L}\p{N}\-_/#]*|\d+[\-_]?\p{L}[\p{L}\-_]*\d[\p{L}\p{N}\-_]*|\d+(?:[\-_/]\d+){2,}|\d+(?:\.\d+){3,})` +
		`|(?P<number>\b\d{1,3}(?:[ \x{a0}\x{202f}'’]\d{3})+(?:[.,]\d+)?\b|\d+(?:[.,]\d+)*)` +
		`|(?P<word>\p{L}[\p{L}\p{M}]*(?:['’\-][\p{L}\p{M}]+)*)` +
		`|(?P<punct>\S)`)

// tokenize splits a text into tokens, and parses numbers and dates.
func tokenize(text string) []token {
	names := lexer.SubexpNames()
	var out []token
	for _, m := range lexer.FindAllStringSubmatchIndex(text, -1) {
		t := token{text: text[m[0]:m[1]], start: m[0], end: m[1]}
		for g := 1; g < len(names); g++ {
			if m[2*g] >= 0 {
				t.is(names[g])
				break
			}
		}
		t.fold = fold(t.text)
		out = append(out, t)
	}
	out = glued(out)
	for i := range out {
		if out[i].kind == kindNumber {
			out[i].number = numberAt(out, i)
		}
	}
	return dated(out)
}

// is sets the kind from the name of the group.
func (t *token) is(form string) {
	switch form {
	case "link", "host":
		t.kind = kindLink
		t.trim(".,;:!?)]}>\"'”’»")
	case "mail":
		t.kind = kindMail
	case "iso", "numeric":
		t.kind, t.date = kindDate, readDate(t.text)
	case "clock":
		t.kind, t.date = kindClock, readClock(t.text)
	case "ident":
		t.kind = kindIdent
		t.trim("-_/#")
	case "number":
		t.kind = kindNumber
	case "word":
		t.kind = kindWord
	}
}

func (t *token) trim(cutset string) {
	t.text = strings.TrimRight(t.text, cutset)
	t.end = t.start + len(t.text)
}

// glued joins a number and following letters that are no unit to an id: "4f".
func glued(in []token) []token {
	var out []token
	for i := 0; i < len(in); i++ {
		t := in[i]
		if t.kind == kindNumber && i+1 < len(in) && in[i+1].kind == kindWord && in[i+1].start == t.end {
			next := in[i+1].fold
			if unitOf(next) == "" && scaleOf(next) == 0 && !ordinalEnding(next) {
				t.kind, t.text, t.end = kindIdent, t.text+in[i+1].text, in[i+1].end
				t.fold = fold(t.text)
				i++
			}
		}
		out = append(out, t)
	}
	return out
}

// fold returns the text in lower case without accents, for comparisons.
func fold(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == '’':
			b.WriteRune('\'')
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// capital reports whether a word begins with a capital letter.
func (t token) capital() bool { return capital(t.text) }

func capital(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(r)
}

// words returns the folded words of a text, including ids.
func words(tokens []token) []string {
	var out []string
	for _, t := range tokens {
		switch t.kind {
		case kindWord, kindIdent, kindMail, kindNumber:
			out = append(out, t.fold)
		default:
		}
	}
	return out
}
