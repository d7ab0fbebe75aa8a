package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/pgtest"
)

// TestServersCountEachOther checks that each server knows the number of live servers and its
// index. A server that leaves or has expired does not count.
func TestServersCountEachOther(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	one, two, three := open(t, url), open(t, url), open(t, url)
	present := func(s *store, ttl time.Duration) (place, servers int) {
		t.Helper()
		place, servers, err := s.Quota.Present(t.Context(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		return place, servers
	}
	for n, s := range []*store{one, two, three} {
		if _, servers := present(s, time.Minute); servers != n+1 {
			t.Errorf("server %d counts %d", n, servers)
		}
	}
	places := map[int]bool{}
	for _, s := range []*store{one, two, three} {
		place, servers := present(s, time.Minute)
		if places[place] = true; servers != 3 || place < 0 || place > 2 {
			t.Errorf("place %d of %d", place, servers)
		}
	}
	if len(places) != 3 {
		t.Errorf("three servers have the places %v", places)
	}
	if err := two.Quota.Absent(t.Context()); err != nil {
		t.Fatal(err)
	}
	present(three, 0) // it expires at once
	if place, servers := present(one, time.Minute); place != 0 || servers != 1 {
		t.Errorf("the one that is left is %d of %d", place, servers)
	}
}

// TestPlacesAreClaimedByOneServerEach also checks concurrent claims.
func TestPlacesAreClaimedByOneServerEach(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	stores := []*store{open(t, url), open(t, url), open(t, url)}
	claim := func(s *store, places int, ttl time.Duration) bool {
		t.Helper()
		ok, err := s.Quota.ClaimPlace(t.Context(), "shop.get", places, ttl)
		if err != nil {
			t.Error(err)
		}
		return ok
	}
	for range 20 {
		var mu sync.Mutex
		var winners []*store
		var work sync.WaitGroup
		for _, s := range stores {
			work.Go(func() {
				if claim(s, 2, time.Minute) {
					mu.Lock()
					winners = append(winners, s)
					mu.Unlock()
				}
			})
		}
		work.Wait()
		if len(winners) == 0 || len(winners) > 2 {
			t.Fatalf("%d servers have two places", len(winners))
		}
		for _, s := range winners {
			if !claim(s, 2, time.Minute) {
				t.Fatal("who has a place does not keep it")
			}
			if err := s.Quota.ReturnPlace(t.Context(), "shop.get"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !claim(stores[0], 1, 0) || !claim(stores[1], 1, time.Minute) || claim(stores[0], 1, time.Minute) {
		t.Error("a place whose time is over is not free, or one that is not is")
	}
	if err := stores[0].Quota.ReturnPlace(t.Context(), "shop.get"); err != nil {
		t.Fatal(err)
	}
	if claim(stores[2], 1, time.Minute) {
		t.Error("somebody gave back a place that is another's")
	}
	if err := stores[1].Quota.Absent(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !claim(stores[2], 1, time.Minute) {
		t.Error("the place of a server that has gone is not free")
	}
}
