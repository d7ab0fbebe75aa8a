package gateview

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

const (
	// maxShownLines and maxShownDepth limit what a question shows. The interrupt itself is
	// complete.
	maxShownLines = 40
	maxShownDepth = 3
)

// Lines returns what a question shows besides its prompt, as pairs of name and text: first the
// value to approve, then its context. At most maxShownLines are returned; the last line counts
// those omitted.
func Lines(i contracts.Interrupt) [][2]string {
	var out [][2]string
	for _, part := range []any{i.Value, asTree(i.Show)} {
		out = append(out, tree("", part, 0)...)
	}
	if more := len(out) - maxShownLines; more > 0 {
		out = append(out[:maxShownLines], [2]string{"…", strconv.Itoa(more) + " lines more"})
	}
	return out
}

func asTree(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

func tree(name string, v any, depth int) [][2]string {
	one := func(text string) [][2]string {
		if !strings.HasPrefix(text, "https://") || strings.ContainsAny(text, " \t\r\n") { // a truncated link is useless
			text = contracts.CleanSummary(text)
		}
		return [][2]string{{cmp.Or(name, "value"), text}}
	}
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		if depth == maxShownDepth {
			return one(inlined(v))
		}
		var out [][2]string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			under := strings.TrimSpace(name + " " + strings.ReplaceAll(key, "_", " "))
			out = append(out, tree(contracts.CleanSummary(under), v[key], depth+1)...)
		}
		return out
	case []any:
		if len(v) == 0 {
			return one("none")
		}
		return listed(name, v, one)
	default:
		return one(inlined(v))
	}
}

// listed returns a short list of scalars as one line, any other list as one line per item.
func listed(name string, list []any, one func(string) [][2]string) [][2]string {
	words := make([]string, len(list))
	plain := true
	for n, item := range list {
		words[n] = inlined(item)
		switch item.(type) {
		case map[string]any, []any:
			plain = false
		}
	}
	if line := strings.Join(words, ", "); plain && len(line) <= contracts.MaxSummaryChars/2 {
		return one(line)
	}
	var out [][2]string
	for n, word := range words {
		out = append(out, [2]string{strings.TrimSpace(name + " " + strconv.Itoa(n+1)), contracts.CleanSummary(word)})
	}
	return out
}

// inlined returns a value in one line. The members of an object become "name: value", with nested
// ones as JSON.
func inlined(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, ok := v[key].(string)
			if !ok {
				text = asJSON(v[key])
			}
			parts = append(parts, strings.ReplaceAll(key, "_", " ")+": "+text)
		}
		return strings.Join(parts, ", ")
	default:
		return asJSON(v)
	}
}

func asJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// Words returns the text formats of answers that need more than a choice, for a workflow question
// or a budget.
func Words(i contracts.Interrupt) []string {
	var out []string
	if i.Type == contracts.InterruptBudgetExceeded {
		out = append(out, "raise: a number")
	}
	for _, answer := range i.Answers {
		switch answer {
		case contracts.SayIterate:
			out = append(out, contracts.SayIterate+": what should be different")
		case contracts.SayReject:
			out = append(out, contracts.SayReject+": why")
		case contracts.SaySearch:
			out = append(out, contracts.SaySearch+": another name")
		case contracts.SayEdit:
			out = append(out, contracts.SayEdit+": name = value")
		}
	}
	return out
}
