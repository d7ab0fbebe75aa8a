package orchestrator_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

func TestAListenerGetsEveryEventOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.ask("book 2 days off for Bruno Keller from 2026-12-07")
	page, err := o.Rooms.Sessions.Events(t.Context(), ana, r.SessionID, contracts.Page{Limit: contracts.MaxEvents})
	seen := page.Items
	if err != nil || len(seen) < 2 {
		t.Fatal(seen, err)
	}
	last := seen[len(seen)-1].Seq
	var listeners []*orchestrator.Listener
	for _, after := range []int64{0, last - 1, last} {
		l, err := o.Rooms.Sessions.Listen(t.Context(), ana, r.SessionID, after)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners = append(listeners, l)
	}
	if err := o.approve(bob, *r.Interrupt); err != nil {
		t.Fatal(err)
	}
	page, err = o.Rooms.Sessions.Events(t.Context(), ana, r.SessionID, contracts.Page{Limit: contracts.MaxEvents})
	all := page.Items
	if err != nil || all[len(all)-1].Type != contracts.EventDone {
		t.Fatal(all, err)
	}
	for n, after := range []int64{0, last - 1, last} {
		var got []int64
		for len(got) == 0 || got[len(got)-1] < all[len(all)-1].Seq {
			events, err := listeners[n].Next(t.Context(), patience)
			if err != nil || len(events) == 0 {
				t.Fatalf("after %d: %v, %v", after, got, err)
			}
			for _, e := range events {
				got = append(got, e.Seq)
			}
		}
		var want []int64
		for _, e := range all {
			if e.Seq > after {
				want = append(want, e.Seq)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d: %v, want %v", after, got, want)
		}
	}
}

func TestWhoMayListenAndWhere(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.ask("book 2 days off for Bruno Keller from 2026-12-07")
	if _, err := o.Rooms.Sessions.Listen(t.Context(), ana, r.SessionID, 10_000); !errors.Is(err, orchestrator.ErrReset) {
		t.Errorf("a place that does not exist: %v", err)
	}
	if _, err := o.Rooms.Sessions.Listen(t.Context(), vic, r.SessionID, 0); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("somebody else's session: %v", err)
	}
	if _, err := o.Runs.Read(t.Context(), vic, r.RunIDs[0]); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("somebody else's run: %v", err)
	}
}

// TestAListenerWhoDoesNotListenIsDropped sends more events than a listener may lag behind; other
// listeners are not delayed.
func TestAListenerWhoDoesNotListenIsDropped(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.ask("book 2 days off for Bruno Keller from 2026-12-07")
	lazy, err := o.Rooms.Sessions.Listen(t.Context(), ana, r.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lazy.Close()
	awake, err := o.Rooms.Sessions.Listen(t.Context(), ana, r.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer awake.Close()
	read := func(l *orchestrator.Listener) (int64, error) {
		events, err := l.Next(t.Context(), patience)
		if len(events) == 0 {
			return 0, err
		}
		return events[len(events)-1].Seq, err
	}
	at, err := read(awake)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // one batch each: the next is sent after this one has arrived
		if _, err := o.Say(t.Context(), ana, r.SessionID, "how many vacation days does Chen Wei have left", "", patience); err != nil {
			t.Fatal(err)
		}
		next, err := read(awake)
		if err != nil || next <= at {
			t.Fatalf("after %d: %d, %v", at, next, err)
		}
		at = next
	}
	for {
		if _, err = read(lazy); err != nil {
			break
		}
	}
	if !errors.Is(err, orchestrator.ErrReset) {
		t.Errorf("%v", err)
	}
}
