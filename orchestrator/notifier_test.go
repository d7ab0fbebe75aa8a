package orchestrator_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
)

func TestAChangeIsToldToThoseWhoWaitForIt(t *testing.T) {
	t.Parallel()
	n := orchestrator.NewLocalNotifier()
	one, leaveOne := n.Subscribe("s1", true)
	two, leaveTwo := n.Subscribe("s2", false)
	defer leaveTwo()
	var heard []orchestrator.Change
	leave := n.Listen(func(c orchestrator.Change) { heard = append(heard, c) })
	told := func(signal <-chan struct{}) bool {
		select {
		case <-signal:
			return true
		default:
			return false
		}
	}
	n.Committed("s1", "r1")
	n.Committed("s1", "r2")
	if !told(one) || told(one) || told(two) { // two changes are one signal
		t.Error("not told once to who waits for s1, and to nobody else")
	}
	n.Committed("", "")
	if !told(one) || !told(two) {
		t.Error("a change of everything is not told to all")
	}
	n.Progressed("s1", "r1")
	n.Progressed("s2", "r4")
	if !told(one) || told(two) {
		t.Error("progress is not told to who waits for it, or to who does not")
	}
	leaveOne()
	leave()
	n.Committed("s1", "r3")
	if told(one) {
		t.Error("told to who has left")
	}
	want := []orchestrator.Change{{SessionID: "s1", RunID: "r1"}, {SessionID: "s1", RunID: "r2"}, {}, {SessionID: "s1", RunID: "r1"}, {SessionID: "s2", RunID: "r4"}}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}

// TestWhoWaitsLooksAfterAChangeAndNeverInBetween waits for hours on a fake clock.
func TestWhoWaitsLooksAfterAChangeAndNeverInBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, looks := orchestrator.NewLocalNotifier(), 0
		look := func(ctx context.Context) (bool, error) {
			looks++
			return looks == 3, context.Cause(ctx)
		}
		var err error
		ended := false
		go func() {
			err = orchestrator.WaitFor(t.Context(), n, "s1", 24*time.Hour, look)
			ended = true
		}()
		for want := range 2 {
			time.Sleep(5 * time.Hour)
			synctest.Wait()
			if looks != want+1 || ended {
				t.Fatalf("%d looks after %d changes, ended %t", looks, want, ended)
			}
			n.Committed("s1", "")
		}
		synctest.Wait()
		if looks != 3 || !ended || err != nil {
			t.Errorf("%d looks, ended %t, %v", looks, ended, err)
		}
		// The time of who waits is bounded, and so is their patience.
		looks = 10
		if err := orchestrator.WaitFor(t.Context(), n, "s1", time.Hour, look); err != nil || looks != 11 {
			t.Errorf("%d looks, %v", looks-10, err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := orchestrator.WaitFor(gone, n, "s1", time.Hour, look); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}
