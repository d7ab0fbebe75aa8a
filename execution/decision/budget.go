package decision

import (
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Raise is the member of an answer that sets a new limit of a budget.
const Raise = "raise"

// raiseInWords parses "raise: 50" and "raise to 50".
func raiseInWords(i contracts.Interrupt, text string) (any, bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(text), Raise)
	if !ok || i.Type != contracts.InterruptBudgetExceeded {
		return nil, false
	}
	fields := strings.Fields(strings.Trim(rest, ": "))
	if len(fields) == 0 {
		return nil, false
	}
	to, err := strconv.ParseFloat(fields[len(fields)-1], 64)
	return map[string]any{Raise: to}, err == nil && len(fields) <= 3
}

// RaisesBudget reports whether an answer raises a budget of a run.
func RaisesBudget(i contracts.Interrupt, response any) bool {
	value, err := Value(i, response)
	return i.Type == contracts.InterruptBudgetExceeded && (err != nil || value != contracts.SayStop)
}
