package contracts

// CleanSummary makes one line of at most MaxSummaryChars characters of any
// text: control characters and line breaks become spaces, the rest is cut.
func CleanSummary(s string) string {
	clean := oneLine(s)
	if head := cut(clean, MaxSummaryChars); head != clean {
		return cut(clean, MaxSummaryChars-1) + "…"
	}
	return clean
}
