package gateview

import (
	"strings"
	"unicode"
)

// Visible replaces characters that hide, move or join other text, such as zero-width characters,
// fillers and direction marks, by U+FFFD. Joiners and variation selectors of emoji, line breaks
// and tabs are kept.
func Visible(s string) string {
	if strings.IndexFunc(s, hides) < 0 {
		return s
	}
	runes := []rune(s)
	var out strings.Builder
	for n, r := range runes {
		if hides(r) && !drawn(runes, n) {
			r = unicode.ReplacementChar
		}
		out.WriteRune(r)
	}
	return out.String()
}

// hides reports whether a character is invisible or affects the rendering of adjacent text.
func hides(r rune) bool {
	switch r {
	case '\n', '\t', '\r':
		return false
	case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0: // blank letters and symbols
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Co)
}

const (
	joiner  = 0x200D
	asImage = 0xFE0F
)

// drawn reports whether the nth character is part of an emoji.
func drawn(runes []rune, n int) bool {
	picture := func(at int) bool {
		return at >= 0 && at < len(runes) && (unicode.In(runes[at], unicode.So, unicode.Sk) || runes[at] == asImage)
	}
	switch runes[n] {
	case asImage:
		return picture(n-1) && runes[n-1] != asImage
	case joiner:
		return picture(n-1) && n+1 < len(runes) && unicode.Is(unicode.So, runes[n+1])
	default:
		return false
	}
}
