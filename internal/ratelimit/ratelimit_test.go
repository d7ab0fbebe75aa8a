package ratelimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/ratelimit"
)

func start() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// TestNoMinuteHasMoreThanAStrictLimit calls as often as possible for ten minutes and checks every
// minute that begins with a call.
func TestNoMinuteHasMoreThanAStrictLimit(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{1, 2, 7, 10, 30, 60, 100, 600} {
		var k ratelimit.Keyed
		var calls []time.Time
		for at := start(); at.Before(start().Add(10 * time.Minute)); {
			wait := k.Take("a", ratelimit.Strict(perMinute), at)
			if wait <= 0 {
				calls = append(calls, at)
				continue
			}
			at = at.Add(wait)
		}
		last := 0
		for first := range calls {
			for last < len(calls) && calls[last].Before(calls[first].Add(time.Minute)) {
				last++
			}
			if n := last - first; n > perMinute {
				t.Fatalf("%d a minute: %d calls in the minute from call %d on", perMinute, n, first)
			}
		}
		if least := perMinute * 10 * 8 / 10; len(calls) < least {
			t.Errorf("%d a minute: only %d calls in ten minutes, want %d", perMinute, len(calls), least)
		}
	}
}

func TestKeysAndChangedLimitsAreApart(t *testing.T) {
	t.Parallel()
	var k ratelimit.Keyed
	one := ratelimit.Limit{PerMinute: 60, Burst: 1}
	if k.Take("a", one, start()) != 0 || k.Take("b", one, start()) != 0 {
		t.Error("the first of a key waits")
	}
	if wait := k.Take("a", one, start()); wait != time.Second {
		t.Errorf("the second waits %s, want 1s", wait)
	}
	if wait := k.Take("a", one, start()); wait != time.Second {
		t.Errorf("who was refused has taken something: %s", wait)
	}
	if wait := k.Take("a", ratelimit.Limit{PerMinute: 120, Burst: 2}, start()); wait != time.Second/2 {
		t.Errorf("a limit that was changed waits %s, want 500ms: it fills no bucket", wait)
	}
}

func TestKeysThatSayNothingAreForgotten(t *testing.T) {
	t.Parallel()
	var k ratelimit.Keyed
	limit := ratelimit.Limit{PerMinute: 60, Burst: 1}
	for n := range 50_000 {
		k.Take(fmt.Sprint("key ", n), limit, start().Add(time.Duration(n)*time.Second))
	}
	if n := k.Len(); n > 10_000 {
		t.Errorf("%d buckets are kept", n)
	}
}

// TestSharesAddUpToTheLimit checks several numbers of servers.
func TestSharesAddUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2, 3, 5} {
		for _, perMinute := range []int{5, 7, 30, 100} {
			shares := make([]ratelimit.Share, servers)
			buckets := make([]ratelimit.Keyed, servers)
			places := 0
			for i := range shares {
				shares[i].Set(i, servers)
				places += shares[i].Places(perMinute)
			}
			if places != perMinute {
				t.Errorf("%d places among %d servers are %d", perMinute, servers, places)
			}
			var calls []time.Time // every server calls as often as allowed
			for at := start(); at.Before(start().Add(5 * time.Minute)); at = at.Add(100 * time.Millisecond) {
				for i := range shares {
					if buckets[i].Take("a", shares[i].Strictly(perMinute), at) <= 0 {
						calls = append(calls, at)
					}
				}
			}
			last := 0
			for first := range calls {
				for last < len(calls) && calls[last].Before(calls[first].Add(time.Minute)) {
					last++
				}
				if n := last - first; n > perMinute {
					t.Fatalf("%d servers, %d a minute: %d calls in one", servers, perMinute, n)
				}
			}
			if least := perMinute * 5 * 6 / 10; len(calls) < least {
				t.Errorf("%d servers, %d a minute: only %d calls in five minutes, want %d", servers, perMinute, len(calls), least)
			}
		}
	}
}

func TestAShareOfACallersLimit(t *testing.T) {
	t.Parallel()
	var alone *ratelimit.Share
	limit := ratelimit.Limit{PerMinute: 30, Burst: 10}
	if alone.Of(limit) != limit || alone.Servers() != 1 || alone.Places(3) != 3 {
		t.Errorf("one server alone has %+v of %+v", alone.Of(limit), limit)
	}
	var last ratelimit.Share
	last.Set(2, 3)
	if got, want := last.Of(limit), (ratelimit.Limit{PerMinute: 10, Burst: 3}); got != want {
		t.Errorf("the last of three has %+v, want %+v", got, want)
	}
	if got := last.Of(ratelimit.Limit{PerMinute: 3, Burst: 1}); got.Burst != 1 || got.PerMinute != 1 {
		t.Errorf("the last of three has %+v of 3 a minute", got)
	}
}
