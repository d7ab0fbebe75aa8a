package local

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func alternatives(candidates []Candidate) []contracts.Alternative {
	var out []contracts.Alternative
	for _, c := range candidates {
		out = append(out, c.alternative())
	}
	return out
}

// describe returns a label of a candidate for the user.
func describe(c Candidate) string {
	d := firstSentence(c.Entry.Capability.Description)
	if d == "" {
		d = tokenize.SplitName(c.Entry.Capability.Name)
	}
	return fmt.Sprintf("%s (%s)", d, c.Entry.Ref())
}

// firstSentence returns the first sentence of a description.
func firstSentence(description string) string {
	d, _, _ := strings.Cut(contracts.CleanSummary(description), ". ")
	return strings.TrimRight(d, ". ")
}

// maxQuote limits how much of a message a question quotes.
const maxQuote = 80

func quote(s string) string {
	s = tokenize.Clean(s)
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

// held returns the question about an action that the message does not plainly ask for.
func held(clause string, best Candidate, likely []Candidate) string {
	if len(likely) > 1 {
		return fmt.Sprintf("%s: %s, so nothing was done. Do you want one of these?", quote(clause), best.Note)
	}
	return fmt.Sprintf("%s: %s, so nothing was done. Do you want it done: %s?", quote(clause), best.Note, describe(best)+withValues(best))
}

// without returns the question whether to ignore unused words. A yes agrees to exactly that.
func without(c Candidate) string {
	left := c.Said.Texts(contracts.WordUnresolved)
	if len(left) == 0 {
		left = c.Said.Texts(contracts.WordUnused)
	}
	return fmt.Sprintf("I do not use %s. Shall I do it without that: %s?", quoteAll(left), describe(c)+withValues(c))
}

// withValues lists the parameters of a candidate.
func withValues(c Candidate) string {
	if len(c.Parameters) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(c.Parameters))
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %v", tokenize.SplitName(name), c.Parameters[name]))
	}
	return ", with " + contracts.CleanSummary(strings.Join(parts, ", "))
}
