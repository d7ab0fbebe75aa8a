package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/orchestrator"
)

// TestRoundTrips limits the round trips of a write, including seals: one to read (if necessary),
// one to store and read the recorded changes, one to seal and commit.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	w, address := between(t, pgtest.Start(t).URL(t))
	s := open(t, address)
	session := func(i int) orchestrator.Session {
		return orchestrator.Session{ID: fmt.Sprint("s", i), Owner: contracts.Principal{ID: "ana"}, CreatedAt: time.Now(), UpdatedAt: time.Now()}
	}
	content := func(i int) []execution.Blob {
		body := []byte(fmt.Sprint("content ", i))
		return []execution.Blob{{SHA256: contracts.HashBytes(body), Kind: "result", Body: body}}
	}
	for _, c := range []struct {
		what string
		most int64
		do   func(i int) error
	}{
		{"create a session", 2, func(i int) error { return s.CreateSession(t.Context(), session(i)) }},
		{"save a session", 2, func(i int) error {
			_, err := s.SaveSession(t.Context(), session(i))
			return err
		}},
		{"begin a turn, and read it", 3, func(i int) error {
			_, _, err := s.BeginTurn(t.Context(), orchestrator.Turn{TurnKey: orchestrator.TurnKey{Conversation: "c", Key: fmt.Sprint(i)}, SessionID: fmt.Sprint("s", i)})
			return err
		}},
		{"keep a plan that was shown", 2, func(i int) error {
			return s.SavePreview(t.Context(), orchestrator.Preview{Owner: "ana", PlanHash: fmt.Sprint(i), ExpiresAt: time.Now().Add(time.Hour)})
		}},
		{"create a run", 3, func(i int) error {
			create(t, s, fmt.Sprint("r", i))
			return nil
		}},
		{"create a session with its run", 3, func(i int) error {
			id := fmt.Sprint("both", i)
			return s.CreateSessionWithRun(t.Context(), session(100+i), execution.Run{
				ID: id, SessionID: fmt.Sprint("s", 100+i), Format: execution.Format, Owner: "one", State: contracts.RunRunning, Plan: contracts.Plan{RunID: id},
			}, time.Minute, execution.Transition{Nodes: node("n1")})
		}},
		{"commit a step with its event and a content", 3, func(i int) error {
			_, err := s.Commit(t.Context(), execution.Transition{
				Lease: execution.Lease{RunID: fmt.Sprint("r", i), Owner: "one", Epoch: 1}, Nodes: node("n1"), Blobs: content(i),
				Events: []contracts.Event{{Type: contracts.EventNodeEnd}},
			})
			return err
		}},
	} {
		var before int64
		for i := range 3 { // statements are prepared in the first iteration
			before = w.trips.Load()
			if err := c.do(i); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
		}
		if trips := w.trips.Load() - before; trips != c.most {
			t.Errorf("%s: %d round trips, want %d", c.what, trips, c.most)
		}
	}
}
