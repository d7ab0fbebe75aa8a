package contracts

// CleanSummary converts any text to one line of at most MaxSummaryChars characters. Control
// characters and line breaks become spaces, and a longer text is cut.
func CleanSummary(s string) string {
	clean := oneLine(s)
	if head := cut(clean, MaxSummaryChars); head != clean {
		return cut(clean, MaxSummaryChars-1) + "…"
	}
	return clean
}
