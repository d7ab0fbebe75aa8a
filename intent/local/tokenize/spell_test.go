package tokenize_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func TestSpellerKnowsOneTypingError(t *testing.T) {
	t.Parallel()
	s := tokenize.NewSpeller([]string{"transfer", "reserve", "reverse", "account", "account"})
	for typed, want := range map[string][]string{
		"transefr":  {"transfer"}, // two letters changed places
		"tranfer":   {"transfer"}, // one is missing
		"transsfer": {"transfer"}, // one is doubled
		"transger":  {"transfer"}, // one is wrong
		"accuont":   {"account"},
		"acount":    {"account"},
		"reerse":    {"reverse"},
		"resverse":  {"reverse"},
		"rexerse":   {"reverse"},
		"reseverse": nil, // two errors
		"transfer":  nil, // none
		"ransfer":   nil, // the first letter
		"":          nil,
	} {
		if got := s.Near(typed); !slices.Equal(got, want) {
			t.Errorf("Near(%q) = %q, want %q", typed, got, want)
		}
	}
	if got := tokenize.NewSpeller([]string{"reserve", "reserved", "reserves"}).Near("reserv"); !slices.Equal(got, []string{"reserve"}) {
		t.Errorf("Near(reserv) = %q", got)
	}
	if got := tokenize.NewSpeller([]string{"rating", "racing"}).Near("raking"); !slices.Equal(got, []string{"racing", "rating"}) {
		t.Errorf("Near(raking) = %q", got)
	}
}

func TestOnlyLongPlainWordsAreSpellable(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{"transfer": true, "férias": true, "pay": false, "AB1234": false, "NASDAQ": false, "2026": false, "Marta": false} {
		tokens := tokenize.Tokens("now " + word)
		if got := tokenize.Spellable(tokens[1]); got != want {
			t.Errorf("Spellable(%q) = %v, want %v", word, got, want)
		}
	}
}
