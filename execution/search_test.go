package execution_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
)

// staff is a search over two people with similar names.
func staff(_ context.Context, c execution.Call) execution.Reply {
	matches := []any{}
	query, _ := c.Parameters["query"].(string)
	for id, name := range map[string]string{"w1": "Ana Souza", "w2": "Ana Lopes"} {
		if query != "" && strings.Contains(name, query) {
			matches = append(matches, match(id, name))
		}
	}
	return facts(map[string]any{"matches": matches})
}

func TestASearchThatFoundNothingIsMadeAgainByOtherWords(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("search", staff)
		w.caps["search"].Schema = json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","maxLength":20}}}`)
		w.rebuild()
		w.read("get", func(_ context.Context, call execution.Call) execution.Reply {
			return facts(map[string]any{"who": call.Parameters["who"]})
		})
		r := w.runner()
		search := w.node("n1", "search", map[string]any{"query": "Bruni"})
		search.Role = contracts.RolePreSearch
		which := choose(contracts.ChooseAsk)
		which.Human.Prompt = `Which who is meant by "Bruni"?`
		id := w.submit(r, search, which, w.node("n3", "get", map[string]any{"who": "${steps.n2.facts.value}"}, "n2"))
		ask := func(words, prompt string) contracts.Interrupt {
			t.Helper()
			g := w.gates(r, id, 1)["n2"]
			if g.Prompt != prompt {
				t.Fatalf("prompt %q, want %q", g.Prompt, prompt)
			}
			answer, ok := decision.SearchAgain(g, words)
			if !ok {
				t.Fatalf("%q cannot be searched: %+v", words, g.ResponseSchema)
			}
			_, err := r.Decide(t.Context(), g.InterruptID, contracts.Resume{Response: answer}, decision.Decider{ID: "ana", May: anybody})
			if err != nil && contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Fatal(err)
			}
			return g
		}
		first := ask("somebody whose name is too long", `Nothing was found. Which who is meant by "Bruni"?`)
		if again := ask("Bruno", `Nothing was found. Which who is meant by "Bruni"?`); again.InterruptID != first.InterruptID {
			t.Error("words that the search does not take ended the question")
		}
		w.until(r, id, "the second question", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != first.InterruptID
		})
		second := ask("Ana", `Nothing was found. Which who is meant by "Bruno"?`)
		w.until(r, id, "the third question", func(v contracts.RunView) bool {
			return len(v.Interrupts) == 1 && v.Interrupts[0].InterruptID != second.InterruptID
		})
		third := w.gates(r, id, 1)["n2"]
		if _, ok := decision.SearchAgain(third, "Bruno"); ok || len(third.Options) != 2 {
			t.Errorf("a question with options is searched again: %+v", third)
		}
		w.decide(r, third, contracts.Resume{Response: "Ana Lopes"})
		v := w.ended(r, id)
		if v.Nodes[2].Facts["who"] != "w2" {
			t.Errorf("got %v", v.Nodes[2].Facts)
		}
		if calls := w.callsOf("search"); len(calls) != 3 {
			t.Errorf("%d searches", len(calls))
		}
		if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 || replayed.State != v.State {
			t.Errorf("replayed as %+v, %v", replayed, err)
		}
	})
}

// A look-up by other parameters alone cannot be repeated with another text: the run ends with its
// message.
func TestALookUpThatFoundNothingEnds(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("search", staff)
		w.read("get", staff)
		r := w.runner()
		search := w.node("n1", "search", map[string]any{"query": "Bruni"})
		search.Role = contracts.RolePreSearch
		which := choose(contracts.ChooseAsk)
		which.Human.LooksUp = true
		v := w.ended(r, w.submit(r, search, which, w.node("n3", "get", map[string]any{"who": "${steps.n2.facts.value}"}, "n2")))
		if failed := v.Nodes[1]; failed.State != contracts.NodeFailed || failed.Error == nil || failed.Error.Type != contracts.ErrNotFound || len(w.callsOf("get")) != 0 {
			t.Errorf("got %+v", failed)
		}
	})
}

func TestAValueIsNoWordsToSearchBy(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("search", staff)
		r := w.runner()
		search := w.node("n1", "search", map[string]any{"query": "Bruni"})
		search.Role = contracts.RolePreSearch
		id := w.submit(r, search, choose(contracts.ChooseAsk))
		g := w.gates(r, id, 1)["n2"]
		if _, ok := decision.SearchAgain(g, "w7"); ok {
			t.Error("an id was taken for words")
		}
		w.decide(r, g, contracts.Resume{Response: "w7"})
		if v := w.ended(r, id); v.Nodes[1].Facts["value"] != "w7" {
			t.Errorf("got %v", v.Nodes[1].Facts)
		}
	})
}
