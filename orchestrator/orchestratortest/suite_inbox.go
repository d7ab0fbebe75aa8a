package orchestratortest

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
)

func receivedItem(id string, minute int) orchestrator.InboxMessage {
	return orchestrator.InboxMessage{
		Channel: "messenger", ID: id, Body: json.RawMessage(`{"text":"` + id + `"}`), At: day().Add(time.Duration(minute) * time.Minute),
	}
}

func itemOnce(t *testing.T, s Opened) {
	first, second := receivedItem("9", 0), receivedItem("2", 1)
	fresh, err := s.Receive(t.Context(), []orchestrator.InboxMessage{first})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "fresh", []orchestrator.InboxMessage{first}, fresh)
	repeated := first
	repeated.Body = json.RawMessage(`{"text":"other"}`)
	if fresh, err = s.Receive(t.Context(), []orchestrator.InboxMessage{repeated, second}); err != nil {
		t.Fatal(err)
	}
	same(t, "fresh of a repeat", []orchestrator.InboxMessage{second}, fresh)
	other := receivedItem("9", 0)
	other.Channel = "mail"
	if fresh, err = s.Receive(t.Context(), []orchestrator.InboxMessage{other}); err != nil || len(fresh) != 1 {
		t.Errorf("the same id of another channel: %+v %v", fresh, err)
	}
	left, err := s.Unfinished(t.Context(), "messenger")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "unfinished", []orchestrator.InboxMessage{first, second}, left)
}

func oneReceives(t *testing.T, s Opened) {
	var fresh atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			got, err := s.Receive(t.Context(), []orchestrator.InboxMessage{receivedItem("1", 0)})
			if err != nil {
				t.Errorf("receive: %v", err)
			}
			fresh.Add(int64(len(got)))
		})
	}
	wg.Wait()
	if fresh.Load() != 1 {
		t.Errorf("%d were told that it is fresh", fresh.Load())
	}
}

func itemIsFinished(t *testing.T, s Opened) {
	ctx, first, second := t.Context(), receivedItem("1", 0), receivedItem("2", 5)
	if _, err := s.Receive(ctx, []orchestrator.InboxMessage{first, second}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{s.Finish(ctx, "messenger", "1"), s.Finish(ctx, "messenger", "404")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[string]bool{"1": false, "2": true, "404": false} {
		if waits, err := s.NoteReply(ctx, "messenger", id, "77"); err != nil || waits != want {
			t.Errorf("item %s waits: %v, %v", id, waits, err)
		}
	}
	left, err := s.Unfinished(ctx, "messenger")
	if err != nil {
		t.Fatal(err)
	}
	second.Reply = "77"
	same(t, "unfinished", []orchestrator.InboxMessage{second}, left)
	later := day().Add(time.Hour)
	for _, step := range []struct {
		ended, all time.Time
		fresh      int
	}{{first.At, first.At, 0}, {later, first.At, 1}, {first.At, later, 2}} {
		if err := s.ForgetReceived(ctx, step.ended, step.all); err != nil {
			t.Fatal(err)
		}
		fresh, err := s.Receive(ctx, []orchestrator.InboxMessage{first, second})
		if err != nil || len(fresh) != step.fresh {
			t.Errorf("after forgetting what came before %s: fresh %+v, %v", step.ended, fresh, err)
		}
	}
}

func itemIsGivenUp(t *testing.T, s Opened) {
	ctx, first, second := t.Context(), receivedItem("1", 0), receivedItem("2", 5)
	if _, err := s.Receive(ctx, []orchestrator.InboxMessage{first, second}); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		s.GiveUp(ctx, "messenger", "1", "it broke"), s.GiveUp(ctx, "messenger", "404", "it broke"), s.Finish(ctx, "messenger", "2"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if left, err := s.Unfinished(ctx, "messenger"); err != nil || len(left) != 0 {
		t.Errorf("unfinished %+v, %v", left, err)
	}
	got, err := s.GivenUp(ctx, "messenger")
	if err != nil || len(got) != 1 || got[0].ID != "1" || got[0].Reply != "it broke" || strings.Contains(string(got[0].Body), "text") {
		t.Errorf("given up %+v, %v", got, err)
	}
	if fresh, err := s.Receive(ctx, []orchestrator.InboxMessage{first}); err != nil || len(fresh) != 0 {
		t.Errorf("it comes again: %+v, %v", fresh, err)
	}
}
