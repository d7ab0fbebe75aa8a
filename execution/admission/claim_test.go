package admission

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/ratelimit"
)

// shelf stores the slots of one key for several servers.
type shelf struct {
	mu    sync.Mutex
	until map[int]map[*seat]time.Time
}

// seat is the connection of one server to the shelf. A dead server has none.
type seat struct {
	*shelf

	dead bool
}

func (s *seat) ClaimPlace(_ context.Context, _ string, places int, ttl time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return false, contracts.Errorf(contracts.CodeUnavailable, "dead")
	}
	free := -1
	for n := range places {
		taken := false
		for who, until := range s.until[n] {
			switch {
			case who == s:
				s.until[n][s] = time.Now().Add(ttl)
				return true, nil
			case time.Now().Before(until):
				taken = true
			}
		}
		if !taken {
			free = n
		}
	}
	if free < 0 {
		return false, nil
	}
	s.until[free] = map[*seat]time.Time{s: time.Now().Add(ttl)}
	return true, nil
}

func (s *seat) ReturnPlace(context.Context, string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, who := range s.until {
		delete(who, s)
	}
	return nil
}

// rush has the calls of several servers to one capability: each server has runs that make one call
// each.
type rush struct {
	mu          sync.Mutex
	under, most int
	done        int
	first       map[int]time.Duration
}

// server makes the calls of one server, one per run, each of the given duration.
func (r *rush) server(ctx context.Context, n int, l *Limits, policy contracts.Policy, calls int, long time.Duration) *sync.WaitGroup {
	var work sync.WaitGroup
	begun := time.Now()
	for id := range calls {
		work.Go(func() {
			again := make(chan struct{}, 1)
			run := NewRun(l, string(rune('a'+id)), func(Key) {
				select {
				case again <- struct{}{}:
				default:
				}
			}, func(string) bool { return true })
			for {
				if _, ok := run.Enter(call("n", policy), time.Now()); ok {
					break
				}
				select {
				case <-again:
				case <-ctx.Done():
					return
				}
			}
			r.mu.Lock()
			r.under++
			r.most = max(r.most, r.under)
			if _, ok := r.first[n]; !ok {
				r.first[n] = time.Since(begun)
			}
			r.mu.Unlock()
			time.Sleep(long)
			r.mu.Lock()
			r.under--
			r.done++
			r.mu.Unlock()
			run.Leave(call("n", policy))
		})
	}
	return &work
}

func together(ctx context.Context, at *seat, place, servers int, work *sync.WaitGroup) *Limits {
	var share ratelimit.Share
	share.Set(place, servers)
	l := NewLimits(64)
	l.ShareWith(ctx, Quota{Share: &share, Places: at}, work.Go)
	return l
}

// TestServersKeepALimitTogether checks that a shared or claimed limit is never exceeded over all
// servers, and that all calls are made.
func TestServersKeepALimitTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ limit, servers int }{
		"one place of three servers":  {1, 3},
		"fewer places than servers":   {2, 3},
		"as many as servers":          {3, 3},
		"more than servers, unevenly": {7, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				places := &shelf{until: map[int]map[*seat]time.Time{}}
				r := &rush{first: map[int]time.Duration{}}
				var keepers sync.WaitGroup
				var all []*sync.WaitGroup
				for n := range c.servers {
					l := together(ctx, &seat{shelf: places}, n, c.servers, &keepers)
					all = append(all, r.server(ctx, n, l, contracts.Policy{MaxConcurrency: c.limit}, 20, time.Second))
				}
				for _, w := range all {
					w.Wait()
				}
				if r.most != c.limit || r.done != 20*c.servers {
					t.Errorf("%d calls were under way at once and %d made, want %d and %d", r.most, r.done, c.limit, 20*c.servers)
				}
				stop()
				keepers.Wait()
				for n, who := range places.until {
					if len(who) > 0 {
						t.Errorf("place %d was not given back", n)
					}
				}
			})
		})
	}
}

// TestThePlaceOfADeadServerIsFree checks that a slot is free after the time for which a dead server
// keeps a run, and that a server without access to the store stops calls before another may have
// the slot.
func TestThePlaceOfADeadServerIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		places := &shelf{until: map[int]map[*seat]time.Time{}}
		var keepers sync.WaitGroup
		policy := contracts.Policy{MaxConcurrency: 1}
		cut := &seat{shelf: places}
		first, second := together(ctx, cut, 0, 2, &keepers), together(ctx, &seat{shelf: places}, 1, 2, &keepers)
		r := &rush{first: map[int]time.Duration{}}
		dying := r.server(ctx, 0, first, policy, 30, 500*time.Millisecond)
		time.Sleep(time.Second)
		places.mu.Lock()
		cut.dead = true
		places.mu.Unlock()
		living := r.server(ctx, 1, second, policy, 5, time.Second)
		living.Wait()
		if r.most != 1 {
			t.Errorf("%d calls were under way at once", r.most)
		}
		if r.first[1] > claimFor+time.Second {
			t.Errorf("the other server waited %v", r.first[1])
		}
		if r.done >= 35 {
			t.Error("a server without the store went on making calls")
		}
		stop()
		dying.Wait()
		keepers.Wait()
	})
}

// TestAServerAloneClaimsNothing checks limits without a quota.
func TestAServerAloneClaimsNothing(t *testing.T) {
	t.Parallel()
	l := NewLimits(8)
	r, _, _ := waiting(l, "a")
	if _, ok := r.Enter(call("n1", contracts.Policy{MaxConcurrency: 1}), time.Time{}); !ok {
		t.Error("the first call waits")
	}
}
