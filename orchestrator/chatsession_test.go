package orchestrator_test

import (
	"sync"
	"testing"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// requested returns the input of a client that counts its own retries.
func requested(request string, try int) conversation.Input {
	return conversation.Input{
		Thread: &conversation.Thread{Request: request, Try: try}, Key: "message-1:x", Message: "compare the leave balances of Ana Souza, Bruno Keller and Chen Wei",
	}
}

func TestARepeatFindsTheLastOfItsEquals(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	say := func(request string, try int) orchestrator.SessionView {
		t.Helper()
		state, err := o.Chat(t.Context(), ana, requested(request, try))
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	seen := map[string]bool{}
	for n := range 5 {
		first := say("one", 0)
		if seen[first.RunID] || first.RunID == "" {
			t.Fatalf("request %d joined another one", n+1)
		}
		seen[first.RunID] = true
		if again := say("one", 1); again.RunID != first.RunID || again.SessionID != first.SessionID {
			t.Fatalf("repeat %d: run %s of %s, want %s of %s", n+1, again.RunID, again.SessionID, first.RunID, first.SessionID)
		}
	}
	if other := say("two", 1); seen[other.RunID] {
		t.Error("a repeat found another request")
	}
	state, err := o.Chat(t.Context(), vic, requested("one", 1))
	if err == nil && seen[state.RunID] {
		t.Error("a repeat found somebody else's request")
	}
}

func TestEqualRequestsAtOneMomentAreSeveral(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const many = 6
	var work sync.WaitGroup
	runs := make(chan string, many)
	for range many {
		work.Go(func() {
			state, err := o.Chat(t.Context(), ana, requested("one", 0))
			if err != nil {
				t.Error(err)
			}
			runs <- state.RunID
		})
	}
	work.Wait()
	close(runs)
	seen := map[string]bool{}
	for id := range runs {
		if seen[id] {
			t.Errorf("%s answers two requests", id)
		}
		seen[id] = true
	}
}
