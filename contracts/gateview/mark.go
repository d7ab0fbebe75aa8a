package gateview

import (
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// quotable keeps what was read from ending the quotation, or the question, that it
// stands in.
var quotable = strings.NewReplacer("“", "'", "”", "'", `"`, "'", "?", "")

// Mark says, before anything else that a gate or a question says, that a model
// proposed it after it had read answers of domains: "" if it had read nothing.
func Mark(afterReading []string) string {
	if len(afterReading) == 0 {
		return ""
	}
	first := quotable.Replace(contracts.CleanSummary(afterReading[0]))
	if runes := []rune(first); len(runes) > 80 {
		first = string(runes[:79]) + "…"
	}
	if more := len(afterReading) - 1; more > 0 {
		first += fmt.Sprintf(" and %d more", more)
	}
	return "Proposed after reading “" + first + "”. "
}
