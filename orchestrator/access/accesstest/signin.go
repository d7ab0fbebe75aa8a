package accesstest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// RunSignIns runs the suite against the empty stores that open returns.
func RunSignIns(t *testing.T, open func(t *testing.T) access.SignInStore) {
	t.Helper()
	tests := map[string]func(t *testing.T, s access.SignInStore){
		"a token is seen when it is made and when it is noted": signInIsSeen,
		"a token that is removed stays gone":                   removedStaysGone,
		"of many who remove a token exactly one is told":       oneRemoves,
		"tokens that are over are forgotten":                   overIsForgotten,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func made(t *testing.T, s access.SignInStore, hash string, at time.Time) {
	t.Helper()
	if err := s.InsertSignIn(t.Context(), hash, at, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func wantSeen(t *testing.T, s access.SignInStore, hash string, want time.Time) {
	t.Helper()
	if seen, err := s.SignInSeen(t.Context(), hash); err != nil || !seen.Equal(want) {
		t.Errorf("%s was seen at %v, %v; want %v", hash, seen, err, want)
	}
}

func wantGone(t *testing.T, s access.SignInStore, hash string) {
	t.Helper()
	_, err := s.SignInSeen(t.Context(), hash)
	wantCode(t, err, contracts.CodeNotFound)
}

func moment() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

func signInIsSeen(t *testing.T, s access.SignInStore) {
	at := moment()
	made(t, s, "a", at)
	made(t, s, "b", at)
	wantSeen(t, s, "a", at)
	if err := s.SeeSignIn(t.Context(), "a", at.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	wantSeen(t, s, "a", at.Add(time.Minute))
	wantSeen(t, s, "b", at)
	wantGone(t, s, "c")
}

func removedStaysGone(t *testing.T, s access.SignInStore) {
	made(t, s, "a", moment())
	if was, err := s.RemoveSignIn(t.Context(), "a"); !was || err != nil {
		t.Errorf("removed: %v, %v", was, err)
	}
	if err := s.SeeSignIn(t.Context(), "a", moment()); err != nil {
		t.Error(err)
	}
	wantGone(t, s, "a")
	if was, err := s.RemoveSignIn(t.Context(), "a"); was || err != nil {
		t.Errorf("removed again: %v, %v", was, err)
	}
}

func oneRemoves(t *testing.T, s access.SignInStore) {
	made(t, s, "a", moment())
	var told atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			was, err := s.RemoveSignIn(context.WithoutCancel(t.Context()), "a")
			if err != nil {
				t.Error(err)
			}
			if was {
				told.Add(1)
			}
		})
	}
	all.Wait()
	if told.Load() != 1 {
		t.Errorf("%d were told that it was there, want 1", told.Load())
	}
}

func overIsForgotten(t *testing.T, s access.SignInStore) {
	made(t, s, "old", moment())
	made(t, s, "new", moment().Add(time.Hour))
	wantGone(t, s, "old")
	wantSeen(t, s, "new", moment().Add(time.Hour))
}
