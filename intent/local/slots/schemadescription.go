package slots

import (
	"strings"
	"time"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// maxListed limits how many values of a description are used.
const maxListed = 24

// ListedValues returns the values that a description lists: quoted ones, and those behind words
// such as "e.g.".
func ListedValues(description string) []string {
	var out []string
	add := func(s string) {
		s = strings.Trim(strings.TrimSpace(s), ".'\"`“”‘’ ")
		if n := len(strings.Fields(s)); n == 0 || n > 4 || len(out) >= maxListed || !strings.ContainsFunc(s, unicode.IsLetter) || pattern(s) {
			return
		}
		out = append(out, s)
	}
	for _, q := range tokenize.Quotes(description) {
		add(description[q.Start:q.End])
	}
	lower := strings.ToLower(description)
	if len(lower) != len(description) {
		lower = description // lower-casing changed the length, so markers in capitals are missed
	}
	for _, marker := range []string{"e.g", "such as ", "for example", "for instance", "i.e", "z.b.", "z. b.", "zum beispiel", "por exemplo", "tais como", "por ejemplo", "par exemple"} {
		at := strings.Index(lower, marker)
		if at < 0 {
			continue
		}
		rest := strings.TrimLeft(description[at+len(marker):], ".,: ")
		for _, item := range enumeration(rest) {
			add(item)
		}
	}
	return out
}

// enumeration returns the items at the start of a text.
func enumeration(rest string) []string {
	end := len(rest)
	for _, stop := range []string{")", ". ", "; ", " etc", "..."} {
		if i := strings.Index(rest, stop); i >= 0 {
			end = min(end, i)
		}
	}
	rest = rest[:end]
	for _, joint := range []string{" or ", " and ", " ou ", " oder ", " und ", " e ", " o "} {
		rest = strings.ReplaceAll(rest, joint, ",")
	}
	return withStates(strings.Split(rest, ","))
}

// withStates joins a place with the state code behind its comma: "Berkeley, CA".
func withStates(items []string) []string {
	var out []string
	for _, item := range items {
		item = strings.TrimSpace(item)
		if n := len(out); n > 0 && IsStateCode(strings.Trim(item, ".'\"")) {
			out[n-1] += ", " + item
			continue
		}
		out = append(out, item)
	}
	return out
}

// IsStateCode reports whether a text is a two-letter state code.
func IsStateCode(s string) bool {
	return len(s) == 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'A' && s[1] <= 'Z'
}

// pattern reports whether a text describes a format, such as "YYYY-MM-DD", and is no value.
func pattern(s string) bool {
	lower := strings.ToLower(s)
	return strings.Contains(lower, "yy") || strings.Contains(lower, "mm-") || strings.Contains(lower, "-mm") || strings.Contains(lower, "mm/") || strings.Contains(lower, "hh:")
}

// DateLayoutOf returns the date layout that a description requires.
func DateLayoutOf(description string) string {
	lower := strings.ToLower(description)
	for _, form := range []struct{ said, layout string }{
		{"yyyy-mm-dd hh:mm:ss", time.DateTime},
		{"yyyy-mm-dd hh:mm", "2006-01-02 15:04"},
		{"yyyy-mm-dd", time.DateOnly},
		{"mm-dd-yyyy", "01-02-2006"},
		{"dd-mm-yyyy", "02-01-2006"},
		{"yyyy/mm/dd", "2006/01/02"},
		{"mm/dd/yyyy", "01/02/2006"},
		{"dd/mm/yyyy", "02/01/2006"},
		{"dd.mm.yyyy", "02.01.2006"},
		{"dd/mm/aaaa", "02/01/2006"},
		{"aaaa-mm-dd", time.DateOnly},
		{"tt.mm.jjjj", "02.01.2006"},
		{"month-day-year", "01-02-2006"},
		{"day-month-year", "02-01-2006"},
		{"year-month-day", time.DateOnly},
	} {
		if strings.Contains(lower, form.said) {
			return form.layout
		}
	}
	return ""
}

// ClockOf returns the time layout that a description requires, or "".
func ClockOf(description string) string {
	lower := strings.ToLower(description)
	for _, form := range []struct{ said, layout string }{
		{"hh:mm:ss", time.TimeOnly},
		{"hh:mm am", "03:04 PM"},
		{"hh:mm pm", "03:04 PM"},
		{"hh:mm", "15:04"},
	} {
		if strings.Contains(lower, form.said) {
			return form.layout
		}
	}
	return ""
}

// DateFormatOf returns the JSON Schema date format that a description requires, or "".
func DateFormatOf(description string) string {
	upper := strings.ToUpper(description)
	switch {
	case strings.Contains(upper, "RFC 3339"), strings.Contains(upper, "RFC3339"), strings.Contains(upper, "YYYY-MM-DDT"):
		return "date-time"
	case strings.Contains(upper, "YYYY-MM-DD"):
		return "date"
	}
	return ""
}
