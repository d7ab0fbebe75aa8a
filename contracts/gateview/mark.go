package gateview

import (
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// quotable replaces characters with which quoted text could end its quotation or question.
var quotable = strings.NewReplacer("“", "'", "”", "'", `"`, "'", "?", "")

// Mark returns the prefix of a gate or question that a model proposed after it had read domain
// answers, or "" if it had read none.
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
