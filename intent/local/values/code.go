package values

import (
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Code reports whether a chunk is a code: a path, a file or host name, a version, an identifier,
// or a name such as "#ops".
func (c Chunk) Code() bool {
	s := c.Text
	if s == "" || strings.ContainsFunc(s, unicode.IsSpace) {
		return false
	}
	var letters, digits, signs int
	for i, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case strings.ContainsRune("/\\_:@#~+*", r), r == '.' && i > 0 && i < len(s)-1:
			signs++
		}
	}
	switch first := rune(s[0]); {
	case letters+digits == 0:
		return false
	case strings.ContainsRune("/~#@.\\", first):
		return letters > 0 || strings.Count(s, "/") > 1
	case strings.HasSuffix(s, "+") || strings.HasSuffix(s, "#"):
		return true
	case letters > 0 && digits > 0:
		return signs > 0 || strings.ContainsFunc(s, unicode.IsUpper) || strings.Contains(s, "-") || digits > 1
	case letters == 0:
		return strings.Count(s, ".") > 1 || strings.Count(s, "-") == 1 && digits > 6
	}
	return strings.ContainsAny(s, "\\_@") || strings.Count(s, "/") > 1 || fileLike(s)
}

// fileLike reports whether a text has a file or domain suffix: "notes.txt", "example.org".
func fileLike(s string) bool {
	at := strings.LastIndexByte(s, '.')
	return at > 1 && len(s)-at > 2 && len(s)-at <= 6 && unicode.IsLower(rune(s[at+1]))
}

// The number of digits of an international telephone number.
const (
	fewestDigits = 8
	mostDigits   = 15
)

// phone reads a telephone number that begins with "+", across spaces.
func phone(d *Doc, i int) (Entity, bool) {
	start := d.Tokens[i].Start
	if start == 0 || d.Src[start-1] != '+' || !d.Tokens[i].Is(tokenize.FormDigits) {
		return Entity{}, false
	}
	digits, last := 0, i-1
	for j := i; j < len(d.Tokens) && d.Tokens[j].Is(tokenize.FormDigits); j++ {
		if j > i && strings.Trim(d.Src[d.Tokens[j-1].End:d.Tokens[j].Start], " -()/") != "" {
			break
		}
		digits, last = digits+d.Tokens[j].End-d.Tokens[j].Start, j
	}
	return Entity{Kind: Phone, First: i, Last: last, P: 0.9}, digits >= fewestDigits && digits <= mostDigits
}
