package site

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
	"golang.org/x/text/unicode/norm"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// Exactly returns the flows with this name or id: compared ignoring case, or if there is none, also
// ignoring accents and punctuation.
func Exactly(flows []api.Flow, query string) []api.Flow {
	query = strings.TrimSpace(query)
	for _, is := range []func(api.Flow) bool{
		func(f api.Flow) bool { return letters(f.Name) == letters(query) || strings.EqualFold(f.ID, query) },
		func(f api.Flow) bool { return SameName(f.Name, query) },
	} {
		if out := slices.DeleteFunc(slices.Clone(flows), func(f api.Flow) bool { return !is(f) }); len(out) > 0 {
			return out
		}
	}
	return nil
}

// letters returns a name with normalized case and spaces.
func letters(name string) string {
	return norm.NFC.String(strings.ToLower(strings.Join(strings.Fields(name), " ")))
}

// SameName reports whether two names differ only in case, accents and punctuation. Names without
// letters or digits must be equal.
func SameName(a, b string) bool {
	if p := Plain(a); p != "" {
		return p == Plain(b)
	}
	return letters(a) == letters(b)
}

// Ranked returns the flows that match a query, sorted by similarity of the name, then by last
// change.
func Ranked(flows []api.Flow, query string) []api.Flow {
	type scored struct {
		flow  api.Flow
		score int
	}
	var found []scored
	for _, f := range flows {
		if s := likeness(f, query); s > 0 {
			found = append(found, scored{f, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.flow.UpdatedDate.Compare(a.flow.UpdatedDate))
	})
	out := make([]api.Flow, len(found))
	for i, f := range found {
		out[i] = f.flow
	}
	return out
}

// likeness returns the similarity of a name and a query, from 0 to 1000 for equal.
func likeness(f api.Flow, query string) int {
	name, want := Plain(f.Name), Plain(query)
	switch {
	case strings.EqualFold(f.ID, strings.TrimSpace(query)), SameName(f.Name, query):
		return 1000
	case want == "" && strings.Contains(letters(f.Name), letters(query)):
		return 700
	case want == "":
		return 0
	case strings.HasPrefix(name, want):
		return 800
	case strings.Contains(name, want), name != "" && strings.Contains(want, name):
		return 700
	}
	words, hits := strings.Fields(want), 0
	for _, w := range words {
		if slices.ContainsFunc(strings.Fields(name), func(n string) bool { return similar(w, n) }) {
			hits++
		}
	}
	if score := 600 * hits / len(words); score > 0 {
		return score
	}
	if similar(strings.ReplaceAll(want, " ", ""), strings.ReplaceAll(name, " ", "")) {
		return 300
	}
	return 0
}

// similar reports whether two words are similar: a prefix, or at most one wrong letter in four.
func similar(a, b string) bool {
	if len(a) >= 3 && strings.HasPrefix(b, a) {
		return true
	}
	return levenshtein.ComputeDistance(a, b) <= min(len(a), len(b))/4
}

// Plain returns a name without case, accents and punctuation.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case !unicode.Is(unicode.Mn, r):
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
