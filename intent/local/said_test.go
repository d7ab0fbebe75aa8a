package local_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// accounted reports what is wrong with an account of a message: a word without a
// class, one with two, a value of no parameter, or a class that there is not.
func accounted(in contracts.Intent) string {
	s, at := in.Utterance, 0
	if s == nil {
		return "nothing is said"
	}
	classes := map[contracts.WordClass]bool{
		contracts.WordValue: true, contracts.WordCommand: true, contracts.WordOther: true, contracts.WordCourtesy: true,
		contracts.WordIrrelevant: true, contracts.WordUnused: true, contracts.WordUnresolved: true,
	}
	for _, w := range s.Words {
		switch {
		case w.Span[0] < at || w.Span[1] <= w.Span[0] || w.Span[1] > len(s.Text):
			return "words overlap, or are out of order"
		case !classes[w.Class]:
			return "no class is called " + string(w.Class)
		case (w.Class == contracts.WordValue) != (w.Parameter != ""):
			return "a value of no parameter: " + s.Text[w.Span[0]:w.Span[1]]
		}
		if word := wordIn(s.Text[at:w.Span[0]]); word != "" {
			return "no class for " + word
		}
		at = w.Span[1]
	}
	if word := wordIn(s.Text[at:]); word != "" {
		return "no class for " + word
	}
	for name := range in.Parameters {
		if s.Values[name] == "" {
			return "nobody knows where " + name + " comes from"
		}
	}
	return ""
}

// signs are letters to Unicode, and signs to whoever reads one by itself: the
// apostrophe, and an iota to write below another letter, which is a blank with a mark
// in every normal form of Unicode for comparing.
const signs = "ʼ\u037a"

// wordIn returns the first letter or digit between two words, of which there is none.
func wordIn(gap string) string {
	for _, r := range gap {
		if !strings.ContainsRune(signs, r) && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return gap
		}
	}
	return ""
}

func accountedMessages() []string {
	return []string{
		"request 2 days off for Ana Souza from 2026-12-07", "could you please cancel the leave of Ana, she told me yesterday. Thanks!",
		"delete all my alerts except al-2", "set an alert for PETR4 above 40 and show my alerts", "my back hurts, so book 2 days off for Ana Souza",
		"wenn du kurz Zeit hast, lösche den Alarm al-3, der alte ist weg", "no borres la alerta al-1, por favor", "l'alerte al-2 : supprime-la",
		"\"quoted\" and “more”, 'single' (brackets) — dashes… and\nlines; semicolons", "提醒我 al-2 明天", "don't", "?", "al-1 al-2 al-3", "x=1 y: two",
	}
}

// Every word of every message has exactly one class for every intent.
func TestEveryWordHasExactlyOneClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, message := range accountedMessages() {
		u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: b.catalog, Now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range u.Intents {
			seen++
			if fault := accounted(in); fault != "" {
				t.Errorf("%q as %s: %s", message, in.Ref(), fault)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d intents were read", seen)
	}
}

func FuzzEveryWordHasExactlyOneClass(f *testing.F) {
	for _, message := range accountedMessages() {
		f.Add(message)
	}
	b := setup(f)
	a, err := local.New(local.Config{Accept: 0.01, AcceptWrite: 0.01, Clarify: 0.001})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, message string) {
		u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: b.catalog, Now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Skip()
		}
		for _, in := range u.Intents {
			if in.Utterance == nil {
				continue // it was only asked about
			}
			if fault := accounted(in); fault != "" {
				t.Errorf("%q as %s: %s", message, in.Ref(), fault)
			}
		}
	})
}
