package registry_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// awaitHealth waits for the state of the only domain.
func awaitHealth(t *testing.T, r *registry.Registry, want contracts.HealthStatus) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		got := r.List()[0].Health
		if got == want {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatalf("health is %s, want %s", got, want)
		}
	}
}

// after advances the bubble's clock and waits until everything in it is blocked.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{HealthEvery: 10 * time.Second})
		b.register(t, "alpha", manifestOf("alpha", read("look")))
		if got := b.List()[0].Health; got != contracts.HealthStarting {
			t.Errorf("before the first check it is %s", got)
		}
		start(t, b.Registry, contracts.Bootstrap{})
		want := func(when string, status contracts.HealthStatus) {
			t.Helper()
			if got := b.List()[0].Health; got != status {
				t.Errorf("%s it is %s, want %s", when, got, status)
			}
		}
		after(time.Second)
		want("after the first check", contracts.HealthOK)

		b.world.set(urlOf("alpha"), func(s *service) { s.sick = errors.New("no answer") })
		after(22 * time.Second) // a third check comes after 24 s at the earliest
		want("after two checks without an answer", contracts.HealthOK)
		after(15 * time.Second)
		want("after three", contracts.HealthDown)
		if _, ok := b.Catalog().Capability("alpha.look"); !ok {
			t.Error("a domain that is down lost its capabilities")
		}

		b.world.set(urlOf("alpha"), func(s *service) { s.sick, s.health = nil, contracts.HealthDegraded })
		after(13 * time.Second)
		want("as soon as it says so", contracts.HealthDegraded)
		stop(t, b.Registry)
	})
}

func TestDomainThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{RetryFirst: time.Second, Poll: 16 * time.Second})
		b.world.set(urlOf("alpha"), func(s *service) { s.err = contracts.Errorf(contracts.CodeUnavailable, "connection refused") })
		b.offer("beta", manifestOf("beta", read("look")))
		start(t, b.Registry, contracts.Bootstrap{Domains: []contracts.Registration{registration("alpha"), registration("beta")}})
		after(time.Second)
		views := b.List()
		if views[0].Outcome != contracts.DomainStarting || views[0].Detail == "" || views[1].Outcome != contracts.DomainActive {
			t.Errorf("got %+v", views)
		}
		after(2 * time.Minute)
		pauses := gaps(b.world.get(urlOf("alpha")).times)
		for i, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 16 * time.Second} {
			if got := pauses[i]; got < want*8/10 || got > want*12/10 {
				t.Errorf("pause %d is %v, want %v give or take a fifth", i, got, want)
			}
		}
		b.world.set(urlOf("alpha"), func(s *service) { s.err = nil })
		b.offer("alpha", manifestOf("alpha", read("look")))
		after(20 * time.Second)
		if got := b.List()[0].Outcome; got != contracts.DomainActive {
			t.Errorf("once it is there it is %s", got)
		}
		stop(t, b.Registry)
	})
}

func gaps(times []time.Time) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(times); i++ {
		out = append(out, times[i].Sub(times[i-1]))
	}
	return out
}

func TestPolling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{Poll: time.Hour})
		b.offer("alpha", manifestOf("alpha", read("look")))
		reg := registration("alpha")
		reg.PollS = 60
		start(t, b.Registry, contracts.Bootstrap{Domains: []contracts.Registration{reg}})
		after(10 * time.Minute)
		s := b.world.get(urlOf("alpha"))
		if s.asked < 8 || s.asked > 14 {
			t.Errorf("asked %d times in 10 minutes, want about once a minute", s.asked)
		}
		if s.etags[0] != "" || slices.Contains(s.etags[1:], "") {
			t.Errorf("asked with the tags %q; only the first time there is none", s.etags)
		}
		b.offer("alpha", manifestOf("alpha", read("look"), read("peek")))
		after(80 * time.Second)
		if _, ok := b.Catalog().Capability("alpha.peek"); !ok {
			t.Error("a changed manifest was not noticed")
		}
		stop(t, b.Registry)
	})
}

func TestRefusedManifestIsJudgedAgainOnlyWhenSomethingChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var judged, good atomic.Int32
		b := setup(t, registry.Config{Poll: 10 * time.Second})
		r := b.process(t, registry.Config{Poll: 10 * time.Second}, func(_ *contracts.Catalog, domain, _ string) string {
			if domain != "alpha" || good.Load() > 0 {
				return ""
			}
			judged.Add(1)
			return "not yet"
		})
		manifest := with(t, manifestOf("alpha", read("look")), `"capabilities"`,
			`"tests":[{"say":"show it","expect":{"capability":"look"}}],"capabilities"`)
		b.world.set(urlOf("alpha"), func(s *service) { s.manifest = manifest }) // without an ETag
		b.offer("beta", manifestOf("beta", read("other")))
		start(t, r, contracts.Bootstrap{Domains: []contracts.Registration{registration("alpha")}})
		after(5 * time.Minute)
		if n := judged.Load(); n != 1 || r.List()[0].Outcome != contracts.DomainRefused {
			t.Errorf("judged %d times while nothing changed; it is %s", n, r.List()[0].Outcome)
		}
		good.Store(1)
		if _, err := r.Register(t.Context(), registration("beta")); err != nil {
			t.Fatal(err)
		}
		after(time.Minute)
		if got := r.List()[0].Outcome; got != contracts.DomainActive {
			t.Errorf("after the reason was gone it is %s", got)
		}
		stop(t, r)
	})
}

// TestManifestsOfOneStartAreJudgedBesideEachOther: each alone, and then all together, but not each
// with those that happened to come before it.
func TestManifestsOfOneStartAreJudgedBesideEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{})
		var mu sync.Mutex
		tried := map[string]int{}
		r := b.process(t, registry.Config{}, func(c *contracts.Catalog, domain, _ string) string {
			mu.Lock()
			defer mu.Unlock()
			if len(c.Domains) == 1 {
				domain += " alone"
			} else if len(c.Domains) != 3 {
				domain += " beside one"
			}
			tried[domain]++
			return ""
		})
		var all []contracts.Registration
		for _, domain := range []string{"alpha", "beta", "gamma"} {
			b.offer(domain, with(t, manifestOf(domain, read("look")), `"capabilities"`,
				`"tests":[{"say":"show it","expect":{"capability":"look"}}],"capabilities"`))
			all = append(all, registration(domain))
		}
		start(t, r, contracts.Bootstrap{Domains: all})
		after(time.Second)
		mu.Lock()
		defer mu.Unlock()
		for _, domain := range []string{"alpha", "beta", "gamma"} {
			if n := tried[domain+" alone"]; n != 1 {
				t.Errorf("%s was tried alone %d times", domain, n)
			}
			if tried[domain] == 0 || tried[domain+" beside one"] > 0 {
				t.Errorf("%s: %v", domain, tried)
			}
		}
		if got := len(r.Catalog().Domains); got != 3 {
			t.Errorf("%d domains are in use", got)
		}
		stop(t, r)
	})
}

func TestHangingDomainHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{})
		hang := make(chan struct{})
		b.world.set(urlOf("alpha"), func(s *service) { s.hang = hang })
		b.offer("beta", manifestOf("beta", read("look")))
		start(t, b.Registry, contracts.Bootstrap{Domains: []contracts.Registration{registration("alpha"), registration("beta")}})
		after(time.Second)
		if _, ok := b.Catalog().Capability("beta.look"); !ok {
			t.Error("beta waits for alpha")
		}
		b.register(t, "gamma", manifestOf("gamma", read("look")))
		stop(t, b.Registry) // Stop ends the hanging fetch
		if len(b.Catalog().Domains) != 2 {
			t.Errorf("after the stop the catalog has %d domains", len(b.Catalog().Domains))
		}
	})
}

func TestStopAndStartAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, registry.Config{Poll: 10 * time.Second})
		b.register(t, "alpha", manifestOf("alpha", read("look")))
		start(t, b.Registry, contracts.Bootstrap{})
		after(time.Minute)
		stop(t, b.Registry)
		stop(t, b.Registry)
		asked := b.world.get(urlOf("alpha")).asked
		after(time.Minute)
		if n := b.world.get(urlOf("alpha")).asked; n != asked {
			t.Errorf("asked %d times while stopped", n-asked)
		}
		start(t, b.Registry, contracts.Bootstrap{})
		start(t, b.Registry, contracts.Bootstrap{}) // it continues
		after(time.Minute)
		if n := b.world.get(urlOf("alpha")).asked - asked; n < 4 || n > 9 {
			t.Errorf("asked %d times in the minute after the start; is it watched twice?", n)
		}
		stop(t, b.Registry)
	})
}

func TestStartStopUnderLoad(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{Poll: time.Millisecond, HealthEvery: time.Millisecond, RetryFirst: time.Millisecond})
	b.offer("alpha", manifestOf("alpha", read("look")))
	b.offer("beta", manifestOf("beta", read("look")))
	file := contracts.Bootstrap{Domains: []contracts.Registration{registration("alpha")}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				ctx := context.WithoutCancel(t.Context())
				if err := b.Start(ctx, file); err != nil {
					t.Error(err)
				}
				if _, err := b.Register(ctx, registration("beta")); err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
					t.Error(err)
				}
				_ = b.List()
				if err := b.Unregister(ctx, "beta"); err != nil && contracts.CodeOf(err) != contracts.CodeNotFound {
					t.Error(err)
				}
				stop(t, b.Registry)
			}
		})
	}
	wg.Wait()
}
