package lexicon

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxFold limits the comparable form of a word in bytes.
const MaxFold = 96

// Fold returns the comparable form of a word: compatibility forms resolved, lower case, Latin
// accents and apostrophes removed.
func Fold(raw string) string {
	raw = cut(raw, MaxFold)
	if lower, ok := foldASCII(raw); ok {
		return lower
	}
	return folded(raw, false)
}

// Lower is like Fold, but keeps accents.
func Lower(raw string) string {
	raw = cut(raw, MaxFold)
	if lower, ok := foldASCII(raw); ok {
		return lower
	}
	return folded(raw, true)
}

func folded(raw string, accents bool) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(raw) {
		switch {
		case r >= 0x0300 && r <= 0x036F:
			if accents {
				b.WriteRune(r)
			}
		case Apostrophe(r), Shapeless(r), r == utf8.RuneError:
		case r == 'ß' && !accents:
			b.WriteString("ss")
		case (r == 'ø' || r == 'Ø') && !accents:
			b.WriteByte('o')
		case (r == 'ł' || r == 'Ł') && !accents:
			b.WriteByte('l')
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.IsNumber(r):
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return norm.NFC.String(b.String())
}

// Apostrophe reports whether a character is an apostrophe inside a word.
func Apostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// Shapeless reports whether a character is invisible, such as joiners and directional marks. It
// never separates words.
func Shapeless(r rune) bool { return unicode.Is(unicode.Cf, r) || r == 0xFE0F }

// foldASCII is the fast path for ASCII.
func foldASCII(raw string) (string, bool) {
	change := false
	for i := range len(raw) {
		c := raw[i]
		if c >= utf8.RuneSelf {
			return "", false
		}
		change = change || c == '\'' || c >= 'A' && c <= 'Z'
	}
	if !change {
		return raw, true
	}
	out := make([]byte, 0, len(raw))
	for i := range len(raw) {
		c := raw[i]
		switch {
		case c == '\'':
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out), true
}

// cut truncates to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
