package contracts

import "strings"

// CleanSummary makes one line of at most MaxSummaryChars characters of any
// text: control characters and line breaks become spaces, the rest is cut.
func CleanSummary(s string) string {
	clean := strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || r == ' ' }), " ")
	runes := []rune(clean)
	if len(runes) <= MaxSummaryChars {
		return clean
	}
	return string(runes[:MaxSummaryChars-1]) + "…"
}
