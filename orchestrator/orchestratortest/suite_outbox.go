package orchestratortest

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
)

// lookingAt claims due deliveries for zero time.
func lookingAt(now time.Time, limit int) orchestrator.DeliveryClaim {
	return orchestrator.DeliveryClaim{Now: now, Until: now, Limit: limit}
}

func dueDeliveries(t *testing.T, s Opened) []orchestrator.WebhookDelivery {
	t.Helper()
	due, err := s.Claim(t.Context(), lookingAt(day().Add(time.Minute), 10))
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func remindersWait(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	g := gate("g1", "s1", "r1")
	g.RemindS, g.EscalateAt, g.EscalateTo = 60, new(g.CreatedAt.Add(90*time.Second)), []string{"boss"}
	createRun(t, s, "r1", "s1", execution.Transition{Gates: []contracts.Interrupt{g}})
	for minutes, want := range []string{"interrupt", "interrupt reminder", "interrupt reminder escalation reminder"} {
		due, err := s.Claim(t.Context(), lookingAt(g.CreatedAt.Add(time.Duration(minutes)*time.Minute), 10))
		if err != nil {
			t.Fatal(err)
		}
		var events []string
		for _, d := range due {
			var notice orchestrator.InterruptNotice
			if err := json.Unmarshal(d.Body, &notice); err != nil {
				t.Fatal(err)
			}
			events = append(events, notice.Event)
		}
		if got := strings.Join(events, " "); got != want {
			t.Errorf("after %d minutes is due: %s, want %s", minutes, got, want)
		}
	}
}

func interruptsMakeDeliveries(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	quiet := exampleSession("s2", 0)
	quiet.WebhookURL = ""
	createSession(t, s, quiet)
	lease := createRun(t, s, "r1", "s1", execution.Transition{Gates: []contracts.Interrupt{gate("g1", "s1", "r1")}})
	createRun(t, s, "r2", "s2", execution.Transition{Gates: []contracts.Interrupt{gate("g2", "s2", "r2")}})
	bare := gate("g3", "", "") // session and run follow from the transition
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, At: day(), Gates: []contracts.Interrupt{bare}}); err != nil {
		t.Fatal(err)
	}
	due := dueDeliveries(t, s)
	if len(due) != 2 {
		t.Fatalf("got %+v; want the notices of g1 and g3", due)
	}
	for i, id := range []string{"g1", "g3"} {
		var notice orchestrator.InterruptNotice
		if err := json.Unmarshal(due[i].Body, &notice); err != nil {
			t.Fatal(err)
		}
		if notice.InterruptID != id || notice.SessionID != "s1" || notice.RunID != "r1" || due[i].URL != "https://hooks.example/s1" || due[i].Attempts != 0 || !due[i].CreatedAt.Equal(day()) {
			t.Errorf("delivery %d is %+v with %+v", i, due[i], notice)
		}
	}
	if due[0].ID == due[1].ID {
		t.Errorf("two deliveries have the id %s", due[0].ID)
	}
}

func refusalMakesNoDelivery(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	lease := createRun(t, s, "r1", "s1", execution.Transition{})
	_, err := s.Commit(t.Context(), execution.Transition{Lease: lease, At: day(), Gates: []contracts.Interrupt{gate("g1", "s1", "r1"), gate("g1", "s1", "r1")}})
	wantCode(t, err, contracts.CodeConflict)
	if due := dueDeliveries(t, s); len(due) != 0 {
		t.Errorf("got %+v", due)
	}
}

func deliveriesAreDrained(t *testing.T, s Opened) {
	ctx := t.Context()
	createSession(t, s, exampleSession("s1", 0))
	createRun(t, s, "r1", "s1", execution.Transition{Gates: []contracts.Interrupt{gate("g1", "s1", "r1"), gate("g2", "s1", "r1")}})
	due := dueDeliveries(t, s)
	if len(due) != 2 {
		t.Fatalf("got %d deliveries, want 2", len(due))
	}
	if one, err := s.Claim(ctx, lookingAt(day().Add(time.Minute), 1)); err != nil || len(one) != 1 || one[0].ID != due[0].ID {
		t.Errorf("limited to one: got %+v, %v; want the oldest", one, err)
	}
	if early, err := s.Claim(ctx, lookingAt(day().Add(-time.Minute), 10)); err != nil || len(early) != 0 {
		t.Errorf("before their time: got %+v, %v", early, err)
	}
	if err := s.Retry(ctx, due[0].ID, day().Add(time.Hour), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Done(ctx, due[1].ID); err != nil {
		t.Fatal(err)
	}
	if left := dueDeliveries(t, s); len(left) != 0 {
		t.Errorf("nothing is due now, got %+v", left)
	}
	later, err := s.Claim(ctx, lookingAt(day().Add(time.Hour), 10))
	if err != nil || len(later) != 1 || later[0].ID != due[0].ID || later[0].Attempts != 1 {
		t.Errorf("an hour later: got %+v, %v; want the first again, with one attempt", later, err)
	}
}

func deliveryIsClaimedByOne(t *testing.T, s Opened) {
	ctx := t.Context()
	createSession(t, s, exampleSession("s1", 0))
	createRun(t, s, "r1", "s1", execution.Transition{Gates: []contracts.Interrupt{gate("g1", "s1", "r1"), gate("g2", "s1", "r1")}})
	now := day().Add(time.Minute)
	claim := orchestrator.DeliveryClaim{Now: now, Until: now.Add(time.Minute), Limit: 2}
	var got atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			mine, err := s.Claim(ctx, claim)
			if err != nil {
				t.Errorf("claim: %v", err)
			}
			got.Add(int64(len(mine)))
		})
	}
	wg.Wait()
	if got.Load() != 2 {
		t.Errorf("%d deliveries were given to somebody, want each of the two once", got.Load())
	}
	claim.Now, claim.Until = claim.Until, claim.Until.Add(time.Minute)
	again, err := s.Claim(ctx, claim)
	if err != nil || len(again) != 2 || again[0].Attempts != 0 {
		t.Fatalf("when the claims have ended: got %+v, %v; want both again", again, err)
	}
	claim.ID, claim.Now, claim.Until = again[1].ID, claim.Until, claim.Until.Add(time.Minute)
	one, err := s.Claim(ctx, claim)
	if err != nil || len(one) != 1 || one[0].ID != claim.ID {
		t.Errorf("by its id: got %+v, %v; want %s", one, err, claim.ID)
	}
	if one, err = s.Claim(ctx, claim); err != nil || len(one) != 0 {
		t.Errorf("by its id while it is claimed: got %+v, %v", one, err)
	}
}

func noticeHoldsNoParameters(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	createRun(t, s, "r1", "s1", execution.Transition{Gates: []contracts.Interrupt{gate("g1", "s1", "r1")}})
	due := dueDeliveries(t, s)
	if len(due) != 1 {
		t.Fatalf("got %d deliveries, want 1", len(due))
	}
	var notice map[string]any
	if err := json.Unmarshal(due[0].Body, &notice); err != nil {
		t.Fatal(err)
	}
	same(t, "notice", map[string]any{
		"event": "interrupt", "session_id": "s1", "run_id": "r1", "node_id": "n1", "interrupt_id": "g1", "code": "Cg1",
		"type": "write_approval", "tool_name": "alpha.change", "risk_level": "high", "reason": "writes need approval",
		"prompt": "Change in Alpha?", "created_at": day().Format(time.RFC3339Nano),
	}, notice)
}

func clarificationIsNotified(t *testing.T, s Opened) {
	createSession(t, s, exampleSession("s1", 0))
	question := gate("g1", "s1", "")
	question.Type, question.Action = contracts.InterruptClarification, nil
	if err := s.OpenInterrupt(t.Context(), question, contracts.Event{SessionID: "s1", Type: contracts.EventInterrupt, At: day()}); err != nil {
		t.Fatal(err)
	}
	events, err := s.Events(t.Context(), "s1", 0, 0)
	if err != nil || len(events) != 1 || events[0].Type != contracts.EventInterrupt || events[0].Seq != 1 {
		t.Errorf("events: got %+v, %v", events, err)
	}
	if due := dueDeliveries(t, s); len(due) != 1 {
		t.Errorf("got %d deliveries, want 1", len(due))
	}
}
