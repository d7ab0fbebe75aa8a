package gateview

import (
	"strings"
	"unicode"
)

// Visible makes a text show what it holds: what hides, moves or joins other text,
// such as characters without width, fillers and marks of direction, becomes a
// sign. What joins one picture to the next, or says how a picture is drawn, stays.
// Line breaks and tabs stay too.
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

// hides reports whether a character shows as nothing, or moves what stands beside it.
func hides(r rune) bool {
	switch r {
	case '\n', '\t', '\r':
		return false
	case 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0: // letters and symbols that are blank
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Co)
}

const (
	joiner  = 0x200D
	asImage = 0xFE0F
)

// drawn reports whether the nth character is part of a picture.
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
