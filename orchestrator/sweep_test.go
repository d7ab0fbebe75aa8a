package orchestrator_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
	"github.com/manifold-run/manifold/orchestrator/runs"
)

func TestWhatNobodyReadsFromAChannelIsSweptInTheEnd(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	service, err := orchestrator.NewRetention(orchestrator.RetentionConfig{SweepEvery: time.Millisecond, Retention: 30 * 24 * time.Hour}, o.store, o.store, o.store, o.store)
	if err != nil {
		t.Fatal(err)
	}
	old, young := time.Now().Add(-31*24*time.Hour), time.Now().Add(-29*24*time.Hour)
	items := []orchestrator.InboxMessage{{Channel: "gone", ID: "1", Body: []byte(`{}`), At: old}, {Channel: "gone", ID: "2", Body: []byte(`{}`), At: young}}
	if _, err := o.store.Receive(t.Context(), items); err != nil {
		t.Fatal(err)
	}
	if err := service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := service.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		left, err := o.store.Unfinished(ctx, "gone")
		if err != nil || ctx.Err() != nil {
			t.Fatalf("%+v, %v", left, err)
		}
		if len(left) == 1 && left[0].ID == "2" {
			return
		}
	}
}

func TestAMessageWhoseRunIsNoLongerKeptIsNeitherAnErrorNorDoneAnew(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	say := func(key, words string) orchestrator.SessionView {
		t.Helper()
		state, err := o.Chat(t.Context(), ana, inChat("c", key, words))
		if err == nil && state.Running {
			state, err = o.Await(t.Context(), ana, state, patience)
		}
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	const request = "book 2 days off for Bruno Keller from 2026-12-07"
	asked := say("m1", request)
	if got := say("m2", "reject "+asked.Open[0].Code); !strings.Contains(got.Notice, "withdrawn") {
		t.Fatalf("%+v", got)
	}
	swept, err := o.store.Sweep(t.Context(), time.Now().Add(time.Hour))
	if err != nil || swept.Runs != 1 {
		t.Fatalf("%+v, %v", swept, err)
	}
	for key, words := range map[string]string{"m1": request, "m2": "reject " + asked.Open[0].Code} {
		if got := say(key, words); !strings.Contains(text(got.Answer), "not kept any more") || len(got.Open) != 0 || got.Running {
			t.Errorf("%s again: %+v", key, got)
		}
	}
	if runs, err := o.Runs.List(t.Context(), ana, runs.Filter{}); err != nil || len(runs.Items) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
}

// counted counts sweeps.
type counted struct {
	orchestrator.Sessions

	sweeps atomic.Int32
}

func (c *counted) SweepSessions(context.Context, time.Time) (orchestrator.SweptSessions, error) {
	c.sweeps.Add(1)
	return orchestrator.SweptSessions{}, nil
}

func TestTheFirstSweepComesSoonAfterTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := orchestratortest.NewStore()
		sessions := &counted{Sessions: store}
		r, err := orchestrator.NewRetention(orchestrator.RetentionConfig{}, store, sessions, store, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for after, want := range []int32{1, 2} { // two minutes after the start, and an hour later
			time.Sleep(2*time.Minute + time.Duration(after)*time.Hour)
			synctest.Wait()
			if n := sessions.sweeps.Load(); n != want {
				t.Errorf("%d sweeps, want %d", n, want)
			}
		}
		if err := r.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
