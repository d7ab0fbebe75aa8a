package orchestrator_test

import (
	"context"
	"testing"

	"github.com/manifold-run/manifold/orchestrator/access"
)

// many is a connection of several people who cannot be distinguished.
var many = access.Principal{Kind: access.KindFrontend, ID: "web", Roles: []access.Role{access.RoleOperator}}

// fate is what happens to the answer of a request: it is delivered, lost, or still being sent when
// the function returns.
type fate int

const (
	arrives fate = iota
	lost
	under
)

func exchange(t *testing.T, o *office, try int, what fate) string {
	t.Helper()
	ctx, cut := context.WithCancel(t.Context())
	a, err := o.Resolve(ctx, many, requested("one", try))
	if err != nil {
		t.Fatal(err)
	}
	end := o.Exchange(ctx, many, a)
	state, err := o.Handle(t.Context(), many, a)
	if err != nil {
		t.Fatal(err)
	}
	switch what {
	case arrives:
		end(true)
	case lost:
		cut()
		end(false)
	case under:
	}
	t.Cleanup(cut)
	return state.SessionID
}

func TestARepeatOnASharedConnectionNeverComesToSomebodyElsesChat(t *testing.T) {
	t.Parallel()
	t.Run("the other has their answer", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		mine := exchange(t, o, 0, lost)
		exchange(t, o, 0, arrives)
		if got := exchange(t, o, 1, arrives); got != mine {
			t.Errorf("the repeat came to %s, not to %s", got, mine)
		}
	})
	t.Run("the other waits for theirs", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		mine := exchange(t, o, 0, lost)
		exchange(t, o, 0, under)
		if got := exchange(t, o, 1, arrives); got != mine {
			t.Errorf("the repeat came to %s, not to %s", got, mine)
		}
	})
	t.Run("both were cut off", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		first, second := exchange(t, o, 0, lost), exchange(t, o, 0, lost)
		got := map[string]bool{exchange(t, o, 1, lost): true, exchange(t, o, 1, lost): true}
		if !got[first] || !got[second] {
			t.Errorf("the repeats came to %v, not to %s and %s", got, first, second)
		}
		got = map[string]bool{exchange(t, o, 2, arrives): true, exchange(t, o, 2, arrives): true}
		if !got[first] || !got[second] {
			t.Errorf("the second repeats came to %v, not to %s and %s", got, first, second)
		}
	})
	t.Run("mine never arrived", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		theirs := exchange(t, o, 0, arrives)
		if got := exchange(t, o, 1, arrives); got == theirs {
			t.Error("the repeat came to the chat of somebody who has their answer")
		}
	})
	t.Run("a loss that was not noticed", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t)
		mine := exchange(t, o, 0, under)
		if got := exchange(t, o, 1, arrives); got != mine {
			t.Errorf("the repeat came to %s, not to %s", got, mine)
		}
		r, err := o.Session(t.Context(), many, mine, patience)
		if err != nil || len(r.RunIDs) != 1 || r.Answer == nil {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
