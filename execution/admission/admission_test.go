package admission

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// waiting is a run whose nodes accept every wake-up.
func waiting(l *Limits, id string) (*Run, *[]string, *[]Key) {
	var woken []string
	var nudged []Key
	r := NewRun(l, id,
		func(key Key) { nudged = append(nudged, key) },
		func(node string) bool { woken = append(woken, node); return true })
	return r, &woken, &nudged
}

func call(node string, p contracts.Policy) Call { return Call{Node: node, Tool: "shop.get", Policy: p} }

// TestNoMinuteHasMoreCallsThanTheLimit also checks the first minute, and one after a long pause,
// for several limits.
func TestNoMinuteHasMoreCallsThanTheLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 2, 7, 10, 60, 600} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			l := NewLimits(1)
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var taken []time.Time
			for step := range 4 * 60 * 20 { // every 50 ms for four minutes, with an hour's rest in the middle
				if step == 2*60*20 {
					now = now.Add(time.Hour)
				}
				now = now.Add(50 * time.Millisecond)
				for l.allow(rateKey("x"), limit, now) == 0 {
					taken = append(taken, now)
				}
			}
			for i, at := range taken {
				within := 0
				for _, other := range taken[i:] {
					if other.Sub(at) < time.Minute {
						within++
					}
				}
				if within > limit {
					t.Fatalf("%d calls in the minute after %v, the limit is %d", within, at, limit)
				}
			}
			if len(taken) < 2*limit {
				t.Errorf("only %d calls in four minutes", len(taken))
			}
		})
	}
}

func TestOneByOneIsOneExchangeOfTheRunAtATime(t *testing.T) {
	t.Parallel()
	r, woken, _ := waiting(NewLimits(8), "a")
	r.Serialize()
	other, _, _ := waiting(r.limits, "b")
	get, list := call("n1", contracts.Policy{}), Call{Node: "n2", Tool: "store.list"}
	if _, ok := r.Enter(get, time.Time{}); !ok {
		t.Fatal("the first call was refused")
	}
	if w, ok := r.Enter(list, time.Time{}); ok || w.Reason != "other calls of this run" {
		t.Errorf("a call of another capability: %+v, %t", w, ok)
	}
	if _, ok := other.Enter(list, time.Time{}); !ok {
		t.Error("another run was refused")
	}
	r.Leave(get)
	if !slices.Equal(*woken, []string{"n2"}) {
		t.Errorf("woken %v", *woken)
	}
	if _, ok := r.Enter(list, time.Time{}); !ok {
		t.Error("refused though nothing is under way")
	}
}

func TestWhoIsRefusedIsToldWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	l := NewLimits(8)
	p := contracts.Policy{MaxConcurrency: 1}
	a, _, _ := waiting(l, "a")
	b, _, nudged := waiting(l, "b")
	if _, ok := a.Enter(call("n1", p), time.Time{}); !ok {
		t.Fatal("the first call was refused")
	}
	if w, ok := b.Enter(call("n1", p), time.Time{}); ok || w.Reason != "room at shop.get" {
		t.Errorf("the second call: %+v, %t", w, ok)
	}
	if !b.WaitsForSlot() || !slices.Equal(b.WaitingForSlots(), []string{"n1"}) {
		t.Error("the run does not know that it waits")
	}
	a.Leave(call("n1", p))
	if !slices.Equal(*nudged, []Key{capKey("shop.get")}) {
		t.Errorf("nudged %v", *nudged)
	}
	b.WakeNext(capKey("shop.get"))
	if _, ok := b.Enter(call("n1", p), time.Time{}); !ok {
		t.Error("refused though there is room")
	}
	b.Close()
	if _, ok := a.Enter(call("n2", p), time.Time{}); !ok {
		t.Error("a run that closed kept its place")
	}
}

func TestARunWritesOneThingAtATime(t *testing.T) {
	t.Parallel()
	r, woken, _ := waiting(NewLimits(8), "a")
	r.SetWriter("n1")
	if _, ok := r.AwaitWriter("n2"); ok {
		t.Error("two write at once")
	}
	if _, ok := r.AwaitWriter("n1"); !ok {
		t.Error("the one that writes was refused")
	}
	r.ReleaseWriter("n2")
	if len(*woken) > 0 {
		t.Errorf("%v woken by somebody who does not write", *woken)
	}
	r.ReleaseWriter("n1")
	if diff := cmp.Diff([]string{"n2"}, *woken); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

func TestLockKeys(t *testing.T) {
	t.Parallel()
	params := map[string]string{"id": "7", "a": "x"}
	got := LockKeys([]string{"thing:{id}", "a:{a}/{b}", "thing:{id}", "all"}, func(name string) string {
		if v, ok := params[name]; ok {
			return v
		}
		return "*"
	})
	if diff := cmp.Diff([]string{"a:x/*", "all", "thing:7"}, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
