package intent

import (
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/text"
)

func alternatives(candidates []Candidate) []contracts.Alternative {
	var out []contracts.Alternative
	for _, c := range candidates {
		out = append(out, c.alternative())
	}
	return out
}

// describe names a candidate for a person.
func describe(c Candidate) string {
	d := strings.TrimRight(contracts.CleanSummary(c.Entry.Capability.Description), ". ")
	if d == "" {
		d = text.SplitName(c.Entry.Capability.Name)
	}
	return fmt.Sprintf("%s (%s)", d, c.Entry.Ref())
}

// maxQuote bounds how much of a message a question repeats.
const maxQuote = 80

func quote(s string) string {
	s = text.Clean(s)
	if r := []rune(s); len(r) > maxQuote {
		s = string(r[:maxQuote]) + "…"
	}
	return "“" + s + "”"
}

func quoteAll(parts []string) string {
	quoted := make([]string, 0, len(parts))
	for _, p := range parts[:min(len(parts), 3)] {
		quoted = append(quoted, quote(p))
	}
	return strings.Join(quoted, " and ")
}
