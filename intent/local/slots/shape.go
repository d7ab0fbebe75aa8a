package slots

import (
	"strings"
	"unicode"
)

// Shape is the outline of an identifier: runs of letters and digits, and other characters as they
// are. "al-17" has the outline "a-9" and the prefix "al-".
type Shape struct {
	outline string
	prefix  string
}

// ShapeOf returns the shape of an identifier; false for an ordinary word.
func ShapeOf(s string) (Shape, bool) {
	if len(s) > 128 || strings.ContainsFunc(s, unicode.IsSpace) {
		return Shape{}, false
	}
	outline, digit := outlineOf(s)
	if !digit {
		return Shape{}, false
	}
	prefix := s[:strings.IndexFunc(s, unicode.IsDigit)]
	return Shape{outline: outline, prefix: strings.ToLower(prefix)}, true
}

func outlineOf(s string) (outline string, digit bool) {
	var b strings.Builder
	prev := rune(0)
	for _, r := range s {
		class := r
		switch {
		case unicode.IsDigit(r):
			class, digit = '9', true
		case unicode.IsUpper(r):
			class = 'A'
		case unicode.IsLetter(r):
			class = 'a'
		}
		if class != prev || class != '9' && class != 'A' && class != 'a' {
			b.WriteRune(class)
		}
		prev = class
	}
	return b.String(), digit
}

// Shapes are the distinct shapes of the examples of one parameter.
type Shapes []Shape

// Like returns how well a text matches the shapes of the examples, from 0 to 1. A prefix that all
// examples share is part of the shape.
func (set Shapes) Like(s string) float64 {
	if len(set) == 0 {
		return 0
	}
	got, ok := ShapeOf(s)
	if !ok {
		return 0
	}
	shared := set.sharedPrefix()
	best := 0.0
	for _, want := range set {
		samePrefix := got.prefix == want.prefix
		switch {
		case want.outline == "9" || got.outline == "9":
			if want.outline == got.outline {
				best = max(best, 0.55) // digits alone match anything
			}
		case strings.EqualFold(got.outline, want.outline) && samePrefix:
			best = max(best, 0.92)
		case got.outline == want.outline && !shared:
			best = max(best, 0.82)
		case got.outline == want.outline:
			best = max(best, 0.6)
		case strings.HasPrefix(want.outline, got.outline+".") || strings.HasPrefix(want.outline, got.outline+"-") || strings.HasPrefix(want.outline, got.outline+":"):
			best = max(best, 0.78) // "PETR4" for "PETR4.SA"
		case samePrefix && len(want.prefix) > 1:
			best = max(best, 0.75)
		}
	}
	return best
}

func (set Shapes) sharedPrefix() bool {
	for _, s := range set {
		if s.prefix != set[0].prefix || s.prefix == "" {
			return false
		}
	}
	return true
}
