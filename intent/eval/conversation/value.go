package conversation

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold makes texts comparable: no case, no accents, single spaces, and no
// punctuation around them.
func Fold(s string) string {
	s = norm.NFKD.String(cases.Fold().String(s))
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, s)
	return strings.Trim(strings.Join(strings.Fields(s), " "), " .!?\"'“”„«»‘’:")
}

// Alternatives are the values of {"any": […]}; ok is false for any other value.
func Alternatives(v any) (values []any, ok bool) {
	m, isMap := v.(map[string]any)
	if !isMap {
		return nil, false
	}
	values, ok = m["any"].([]any)
	return values, ok
}

// Wildcard is the expected value that any value meets.
const Wildcard = "*"

// Equal reports whether a value of a parameter is what was expected.
func (r Rules) Equal(key string, want, got any) bool {
	if options, ok := Alternatives(want); ok {
		return slices.ContainsFunc(options, func(w any) bool { return r.Equal(key, w, got) })
	}
	if want == Wildcard {
		return got != nil
	}
	if list, ok := want.([]any); ok {
		other, ok := got.([]any)
		return ok && slices.Equal(folded(list), folded(other))
	}
	if same, decided := equalScalars(want, got); decided {
		return same
	}
	return r.equalTexts(key, Fold(text(want)), Fold(text(got)))
}

// equalScalars compares truth values and numbers; decided is false for others.
func equalScalars(want, got any) (same, decided bool) {
	a, isBool := want.(bool)
	b, otherBool := got.(bool)
	if isBool || otherBool {
		return isBool && otherBool && a == b, true
	}
	x, isNumber := number(want)
	y, otherNumber := number(got)
	if isNumber && otherNumber {
		return math.Abs(x-y) < 1e-9, true
	}
	return false, false
}

func (r Rules) equalTexts(key, want, got string) bool {
	if slices.Contains(r.Stem, key) {
		want, _, _ = strings.Cut(want, ".")
		got, _, _ = strings.Cut(got, ".")
	}
	if slices.Contains(r.Versions, key) {
		want, got = strings.TrimLeft(want, "v"), strings.TrimLeft(got, "v")
	}
	return want == got
}

func folded(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		out = append(out, Fold(text(v)))
	}
	slices.Sort(out)
	return out
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// text is a value as a text.
func text(v any) string {
	if f, ok := number(v); ok {
		return fmt.Sprint(f)
	}
	return fmt.Sprint(v)
}
