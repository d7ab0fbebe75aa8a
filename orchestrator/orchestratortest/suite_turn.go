package orchestratortest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
)

func turnOnce(t *testing.T, s Opened) {
	want := exampleTurn("s1", "k1")
	want.Intents = []contracts.Intent{{ID: "i1", Domain: "alpha", Capability: "read", Parameters: map[string]any{"n": 1.0}, Evidence: map[string]contracts.Evidence{"n": {Span: [2]int{1, 2}}}}}
	got, created, err := s.BeginTurn(t.Context(), want)
	if err != nil || !created {
		t.Fatalf("begin: created %v, %v", created, err)
	}
	same(t, "turn as begun", want, got)
	want.Outcome, want.RunID = orchestrator.TurnRun, "r1"
	want.Answer = &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockTable, Rows: [][]any{{"a", 1.0}}}}}
	want, err = s.SaveTurn(t.Context(), want)
	if err != nil || want.Version != 1 {
		t.Fatalf("version %d, %v", want.Version, err)
	}
	again := exampleTurn("s1", "k1")
	again.Fingerprint = "other"
	got, created, err = s.BeginTurn(t.Context(), again)
	if err != nil || created {
		t.Fatalf("begin again: created %v, %v", created, err)
	}
	same(t, "turn as saved", want, got)
	other := exampleTurn("s1", "k1")
	other.Model = "beta"
	if _, created, err = s.BeginTurn(t.Context(), other); err != nil || !created {
		t.Errorf("another model is another turn: created %v, %v", created, err)
	}
	turns, err := s.ListTurns(t.Context(), orchestrator.TurnFilter{SessionID: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "turns", []orchestrator.Turn{want, other}, turns)
}

// sessionStands reads a session while it changes: everything that a turn refers to exists.
func sessionStands(t *testing.T, s Opened) {
	const runs = 12
	createSession(t, s, orchestrator.Session{ID: "s1", Owner: contracts.Principal{ID: "ana"}})
	createRun(t, s, "elsewhere", "s2", execution.Transition{})
	var reading sync.WaitGroup
	var over atomic.Bool
	reading.Go(func() {
		for !over.Load() {
			at, err := s.SessionState(t.Context(), "s1", 2*runs)
			if err != nil {
				t.Errorf("read: %v", err)
				return
			}
			for _, turn := range at.Turns {
				if !slices.ContainsFunc(at.Runs, func(r execution.Run) bool { return r.ID == turn.RunID }) ||
					!slices.ContainsFunc(at.Open, func(i contracts.Interrupt) bool { return i.InterruptID == turn.InterruptID }) {
					t.Errorf("turn %s names what is not there: %d runs, %d questions", turn.Key, len(at.Runs), len(at.Open))
				}
			}
		}
	})
	for i := range runs {
		id := fmt.Sprintf("r%02d", i)
		createRun(t, s, id, "s1", execution.Transition{Gates: []contracts.Interrupt{gate("g-"+id, "s1", id)}})
		turn := exampleTurn("s1", id)
		turn.RunID, turn.InterruptID = id, "g-"+id
		if _, _, err := s.BeginTurn(t.Context(), turn); err != nil {
			t.Errorf("begin: %v", err)
		}
	}
	over.Store(true)
	reading.Wait()
	at, err := s.SessionState(t.Context(), "s1", 3)
	if err != nil || len(at.Runs) != 3 || len(at.Turns) != runs || len(at.Open) != runs || at.Turns[0].Key != "r00" {
		t.Errorf("%d runs of 3, %d turns, %d questions, %v", len(at.Runs), len(at.Turns), len(at.Open), err)
	}
}

func oneTurnBegins(t *testing.T, s Opened) {
	var begun atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		turn := exampleTurn("s1", "k1")
		turn.Message = fmt.Sprintf("message %d", i)
		wg.Go(func() {
			_, created, err := s.BeginTurn(t.Context(), turn)
			if err != nil {
				t.Errorf("begin: %v", err)
			}
			if created {
				begun.Add(1)
			}
		})
	}
	wg.Wait()
	if begun.Load() != 1 {
		t.Errorf("%d turns were begun", begun.Load())
	}
}

func turnIsSavedOnceAVersion(t *testing.T, s Opened) {
	turn, _, err := s.BeginTurn(t.Context(), exampleTurn("s1", "k1"))
	if err != nil {
		t.Fatal(err)
	}
	saved := race(t, func(n int) error {
		mine := turn
		mine.Notice = fmt.Sprintf("writer %d", n)
		_, err := s.SaveTurn(t.Context(), mine)
		return err
	})
	got, err := s.Turn(t.Context(), turn.TurnKey)
	if err != nil || got.Version != 1 || got.Notice != fmt.Sprintf("writer %d", saved) {
		t.Errorf("got %q of version %d, %v; writer %d has won", got.Notice, got.Version, err, saved)
	}
}

func unfinishedTurns(t *testing.T, s Opened) {
	for n, key := range []string{"k1", "k2", "k3", "k4"} {
		turn := exampleTurn("s1", key)
		turn.CreatedAt = day().Add(time.Duration(n) * time.Minute)
		if key == "k2" {
			turn.Outcome = orchestrator.TurnAnswered
		}
		turn, _, err := s.BeginTurn(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		if key == "k4" { // an outcome may be reset: the turn continues
			turn.Outcome = orchestrator.TurnClarifying
			if turn, err = s.SaveTurn(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
			turn.Outcome = ""
			if _, err = s.SaveTurn(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		before time.Duration
		limit  int
		want   []string
	}{{time.Hour, 0, []string{"k1", "k3", "k4"}}, {3 * time.Minute, 0, []string{"k1", "k3"}}, {time.Hour, 1, []string{"k1"}}} {
		turns, err := s.ListTurns(t.Context(), orchestrator.TurnFilter{Unfinished: true, Before: day().Add(test.before), Limit: test.limit})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, turn := range turns {
			keys = append(keys, turn.Key)
		}
		same(t, "unfinished turns", test.want, keys)
	}
}

func turnByInterrupt(t *testing.T, s Opened) {
	turn := exampleTurn("s1", "k1")
	if _, _, err := s.BeginTurn(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	turn.InterruptID, turn.Outcome = "g1", orchestrator.TurnClarifying
	turn, err := s.SaveTurn(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.ListTurns(t.Context(), orchestrator.TurnFilter{InterruptID: "g1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "turns", []orchestrator.Turn{turn}, got)
	if got, err = s.ListTurns(t.Context(), orchestrator.TurnFilter{InterruptID: "g2"}); err != nil || len(got) != 0 {
		t.Errorf("%d turns wait for a question that nobody asked, %v", len(got), err)
	}
}

func previewsExpire(t *testing.T, s Opened) {
	ctx := t.Context()
	want := orchestrator.Preview{
		PlanHash: "hash", Owner: "ana", Goal: "compare", Plan: contracts.Plan{PlanID: "p", PlanHash: "hash"},
		Intents: []contracts.Intent{{ID: "i1", Parameters: map[string]any{}}},
		Draft:   &contracts.Draft{Steps: []contracts.DraftStep{{ID: "a", Tool: "alpha.read", Params: map[string]any{"n": 1.0}, When: "${b.ok}"}}}, ExpiresAt: day().Add(time.Hour),
	}
	for range 2 { // the same plan may be shown again
		if err := s.SavePreview(ctx, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Preview(ctx, "ana", "hash", day())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "preview", want, got)
	_, err = s.Preview(ctx, "ben", "hash", day())
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.Preview(ctx, "ana", "hash", want.ExpiresAt)
	wantCode(t, err, contracts.CodeNotFound)
	if err := s.DropPreviews(ctx, day()); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Preview(ctx, "ana", "hash", day()); err != nil {
		t.Errorf("a preview was dropped before its time: %v", err)
	}
	if err := s.DropPreviews(ctx, want.ExpiresAt); err != nil {
		t.Fatal(err)
	}
	_, err = s.Preview(ctx, "ana", "hash", day())
	wantCode(t, err, contracts.CodeNotFound)
}

func oneSecret(t *testing.T, s Opened) {
	got := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			secret, err := s.SecretOnce(t.Context(), "webhook", fmt.Appendf(nil, "proposal %d", i))
			if err != nil {
				t.Errorf("secret %d: %v", i, err)
			}
			got[i] = secret
		})
	}
	wg.Wait()
	for i := range got {
		same(t, "secret", got[0], got[i])
	}
	other, err := s.SecretOnce(t.Context(), "marker", []byte("own"))
	if err != nil || string(other) != "own" {
		t.Errorf("another name: got %q, %v", other, err)
	}
}
