// Package storetest is a test suite for implementations of domainkit.Store.
package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domainkit"
)

// Run tests a store. Open returns an empty store; it is called once per subtest and registers its
// own cleanup.
func Run(t *testing.T, open func(t *testing.T) domainkit.Store) {
	t.Helper()
	cases := map[string]func(*testing.T, domainkit.Store){
		"a key is claimed once":                                     claimOnce,
		"of many claims at once one wins":                           claimRace,
		"the same key in another scope is another key":              scopes,
		"a final result answers until it expires":                   final,
		"a released key can be claimed again":                       release,
		"only the holder of the record can settle it":               settleByHolder,
		"a settled record cannot be settled again":                  settleOnce,
		"a running record is not stolen before its lease ends":      stealLate,
		"a doubtful record is stolen at once":                       stealDoubtful,
		"of many thieves one wins":                                  stealRace,
		"a final record is not stolen":                              stealFinal,
		"after a theft the earlier holder has lost the record":      stealFromHolder,
		"sweeping removes what has expired and nothing else":        sweep,
		"a record keeps every field and the precision of its times": roundTrip,
	}
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

// start is the time at which every test starts; stores get the time from the test.
func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func record(key, token string) domainkit.Record {
	return domainkit.Record{
		ID: domainkit.KeyID{Scope: "shop.order", Key: key}, Fingerprint: "f1", State: domainkit.KeyRunning,
		Token: token, Operation: "op-" + token, LeaseUntil: start().Add(time.Minute), ExpiresAt: start().Add(time.Hour),
	}
}

func claim(t *testing.T, s domainkit.Store, r domainkit.Record, now time.Time) (domainkit.Record, bool) {
	t.Helper()
	standing, claimed, err := s.Claim(t.Context(), r, now)
	if err != nil {
		t.Fatalf("claim %s: %v", r.ID.Key, err)
	}
	return standing, claimed
}

func mustClaim(t *testing.T, s domainkit.Store, r domainkit.Record) {
	t.Helper()
	if standing, claimed := claim(t, s, r, start()); !claimed {
		t.Fatalf("claim %s: refused, %s stands", r.ID.Key, standing.Token)
	}
}

func mustSettle(t *testing.T, s domainkit.Store, r domainkit.Record, end domainkit.Settlement) {
	t.Helper()
	if err := s.Settle(t.Context(), r.ID, r.Token, end); err != nil {
		t.Fatalf("settle %s: %v", r.ID.Key, err)
	}
}

func steal(t *testing.T, s domainkit.Store, r domainkit.Record, from string, now time.Time) bool {
	t.Helper()
	stolen, err := s.Steal(t.Context(), r, from, now)
	if err != nil {
		t.Fatalf("steal %s: %v", r.ID.Key, err)
	}
	return stolen
}

func find(t *testing.T, s domainkit.Store, id domainkit.KeyID, now time.Time) (domainkit.Record, bool) {
	t.Helper()
	r, found, err := s.Find(t.Context(), id, now)
	if err != nil {
		t.Fatalf("find %s: %v", id.Key, err)
	}
	return r, found
}

func done() domainkit.Settlement {
	return domainkit.Settlement{State: domainkit.KeyFinal, Result: []byte(`{"ok":true}`), ExpiresAt: start().Add(2 * time.Hour)}
}

func claimOnce(t *testing.T, s domainkit.Store) {
	mustClaim(t, s, record("k", "a"))
	standing, claimed := claim(t, s, record("k", "b"), start())
	if claimed || standing.Token != "a" {
		t.Errorf("second claim: claimed %v, standing token %q; want the first record", claimed, standing.Token)
	}
}

// winners returns how many of n concurrent attempts succeed.
func winners(t *testing.T, n int, try func(i int) (bool, error)) int {
	t.Helper()
	results, errs := make([]bool, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { results[i], errs[i] = try(i) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	won := 0
	for _, ok := range results {
		if ok {
			won++
		}
	}
	return won
}

func claimRace(t *testing.T, s domainkit.Store) {
	won := winners(t, 16, func(i int) (bool, error) {
		_, claimed, err := s.Claim(t.Context(), record("k", fmt.Sprint(i)), start())
		return claimed, err
	})
	if won != 1 {
		t.Errorf("%d claims won, want 1", won)
	}
}

func scopes(t *testing.T, s domainkit.Store) {
	mustClaim(t, s, record("k", "a"))
	other := record("k", "b")
	other.ID.Scope = "shop.refund"
	mustClaim(t, s, other)
}

func final(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	mustSettle(t, s, r, done())
	standing, claimed := claim(t, s, record("k", "b"), start().Add(time.Hour))
	if claimed || standing.State != domainkit.KeyFinal || string(standing.Result) != `{"ok":true}` {
		t.Errorf("repeat: claimed %v, state %q, result %s; want the final result", claimed, standing.State, standing.Result)
	}
	if _, found := find(t, s, r.ID, start().Add(2*time.Hour)); found {
		t.Error("an expired record is found")
	}
	if _, claimed := claim(t, s, record("k", "c"), start().Add(2*time.Hour)); !claimed {
		t.Error("the key of an expired record cannot be claimed")
	}
}

func release(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	mustSettle(t, s, r, domainkit.Settlement{Released: true})
	if _, found := find(t, s, r.ID, start()); found {
		t.Error("a released record is found")
	}
	mustClaim(t, s, record("k", "b"))
}

func wantLost(t *testing.T, s domainkit.Store, id domainkit.KeyID, token string) {
	t.Helper()
	if err := s.Settle(t.Context(), id, token, done()); !errors.Is(err, domainkit.ErrLeaseLost) {
		t.Errorf("settle with token %q: %v, want ErrLeaseLost", token, err)
	}
}

func settleByHolder(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	wantLost(t, s, r.ID, "a")
	mustClaim(t, s, r)
	wantLost(t, s, r.ID, "b")
	if standing, _ := find(t, s, r.ID, start()); standing.State != domainkit.KeyRunning {
		t.Errorf("state %q after a refused settlement", standing.State)
	}
}

func settleOnce(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	mustSettle(t, s, r, done())
	wantLost(t, s, r.ID, "a")
}

func stealLate(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	if steal(t, s, record("k", "b"), "a", r.LeaseUntil.Add(-time.Nanosecond)) {
		t.Fatal("stolen before the lease ended")
	}
	if steal(t, s, record("k", "b"), "x", r.LeaseUntil) {
		t.Fatal("stolen from someone who does not hold it")
	}
	if !steal(t, s, record("k", "b"), "a", r.LeaseUntil) {
		t.Error("not stolen although the lease has ended")
	}
}

func doubtful() domainkit.Settlement {
	return domainkit.Settlement{State: domainkit.KeyDoubtful, ExpiresAt: start().Add(time.Hour)}
}

func stealDoubtful(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	mustSettle(t, s, r, doubtful())
	if !steal(t, s, record("k", "b"), "a", start()) {
		t.Error("a doubtful record is not stolen")
	}
}

func stealRace(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	mustSettle(t, s, r, doubtful())
	won := winners(t, 16, func(i int) (bool, error) {
		return s.Steal(t.Context(), record("k", fmt.Sprintf("thief-%d", i)), "a", start())
	})
	if won != 1 {
		t.Errorf("%d thieves won, want 1", won)
	}
}

func stealFinal(t *testing.T, s domainkit.Store) {
	r := record("k", "a")
	mustClaim(t, s, r)
	mustSettle(t, s, r, done())
	if steal(t, s, record("k", "b"), "a", start().Add(90*time.Minute)) {
		t.Error("a final record is stolen")
	}
}

func stealFromHolder(t *testing.T, s domainkit.Store) {
	r, thief := record("k", "a"), record("k", "b")
	mustClaim(t, s, r)
	if !steal(t, s, thief, "a", r.LeaseUntil) {
		t.Fatal("not stolen")
	}
	wantLost(t, s, r.ID, "a")
	mustSettle(t, s, thief, done())
}

func sweep(t *testing.T, s domainkit.Store) {
	short, long := record("short", "a"), record("long", "b")
	short.ExpiresAt = start().Add(time.Minute)
	mustClaim(t, s, short)
	mustClaim(t, s, long)
	removed, err := s.Sweep(t.Context(), start().Add(time.Minute))
	if err != nil || removed != 1 {
		t.Errorf("removed %d (%v), want 1", removed, err)
	}
	if _, found := find(t, s, long.ID, start()); !found {
		t.Error("a live record was removed")
	}
}

func roundTrip(t *testing.T, s domainkit.Store) {
	r := record("key with / and \x7f and ü", "a")
	r.LeaseUntil = r.LeaseUntil.Add(123456789 * time.Nanosecond)
	mustClaim(t, s, r)
	got, _ := find(t, s, r.ID, start())
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}
