package local_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

func TestCarryReadsWhatWasSaidBeforeInThePlaceOfAWord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	about := func(domain, capability, name string, values ...string) (out []contracts.Intent) {
		for _, v := range values {
			out = append(out, contracts.Intent{Domain: domain, Capability: capability, Parameters: map[string]any{name: v}})
		}
		return out
	}
	wei := about("people", "get_leave_balances", "worker", "Chen Wei")
	cases := map[string]struct {
		message string
		before  []contracts.Intent
		unsaid  bool
		ref     string
	}{
		"a pronoun of a write":         {"book 3 days off for her from 2026-12-07", wei, false, "people.book_leave"},
		"nothing before":               {"book 3 days off for her from 2026-12-07", nil, false, ""},
		"two that may be meant":        {"book 3 days off for her from 2026-12-07", about("people", "get_leave_balances", "worker", "Chen Wei", "Ana Souza"), false, ""},
		"another domain":               {"book 3 days off for her from 2026-12-07", about("stocks", "get_price", "symbol", "AAPL"), false, ""},
		"a name is said":               {"book 3 days off for Ana Souza from 2026-12-07", wei, false, ""},
		"a read that leaves it out":    {"how many vacation days are left", wei, true, "people.get_leave_balances"},
		"a write that leaves it out":   {"book 3 days off from 2026-12-07", wei, true, ""},
		"not to be done":               {"don't book 3 days off for her from 2026-12-07", wei, false, ""},
		"only if":                      {"book 3 days off for her from 2026-12-07 only if she asks", wei, false, ""},
		"a word that is quoted":        {`post "ask her" in general`, wei, false, ""},
		"words that nothing here does": {"bake a cake for her", wei, false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, ok := b.adapter.FollowUp(t.Context(), intent.Request{Message: c.message, Catalog: b.catalog, AnyRole: true, Now: saturday}, c.before, c.unsaid)
			if !ok {
				if c.ref != "" {
					t.Fatalf("%q is not carried", c.message)
				}
				return
			}
			if c.ref == "" {
				t.Fatalf("%q is carried to %+v", c.message, u.Intents)
			}
			in := u.Intents[0]
			if in.Ref() != c.ref || in.Parameters["worker"] != "Chen Wei" || in.Utterance == nil || in.Utterance.Values["worker"] != contracts.FromCarried {
				t.Errorf("got %s %v %+v", in.Ref(), in.Parameters, in.Utterance)
			}
			if c.unsaid {
				return
			}
			end := 0
			for _, w := range in.Utterance.Words {
				if w.Span[0] < end || w.Span[1] > len(c.message) || w.Span[1] < w.Span[0] {
					t.Errorf("words overlap or run over: %+v", in.Utterance.Words)
				}
				end = w.Span[1]
			}
			if ev := in.Evidence["worker"]; in.Utterance.Text != c.message || c.message[ev.Span[0]:ev.Span[1]] != "her" {
				t.Errorf("%q: worker is said at %v", in.Utterance.Text, ev.Span)
			}
		})
	}
}
