package domainkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

type order struct {
	Item string `json:"item"`
	N    int    `json:"n,omitempty"`
}

type placed struct {
	OrderID int64 `json:"order_id"`
}

// keyedOrder is a keyed write with a Resolver.
func keyedOrder(resolve domainkit.Resolver) domainkit.Capability {
	return domainkit.Capability{Name: "place_order", Resolve: resolve, Metadata: contracts.Metadata{
		SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed, TimeoutMS: 60_000,
	}}
}

// orders is a service with place_order, implemented by fn.
func orders(t *testing.T, resolve domainkit.Resolver, fn func(context.Context, domainkit.Call, order) (placed, error), change ...func(*domainkit.Config)) *caller {
	t.Helper()
	svc := newService(t, change...)
	if err := domainkit.Add(svc, keyedOrder(resolve), fn); err != nil {
		t.Fatal(err)
	}
	return newCaller(t, svc)
}

func (c *caller) order(item, key string, more ...string) answered {
	c.t.Helper()
	context := `"idempotency_key":"` + key + `"`
	for _, m := range more {
		context += "," + m
	}
	return c.execute("place_order", `{"item":"`+item+`"}`, context)
}

// counting places orders and counts them.
func counting(n *atomic.Int64) func(context.Context, domainkit.Call, order) (placed, error) {
	return func(context.Context, domainkit.Call, order) (placed, error) { return placed{n.Add(1)}, nil }
}

func TestKeyedWritesRunOnceForAKey(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c := orders(t, nil, counting(&n))
	first := c.order("tea", "k1").want(t, 200)
	repeat := c.order("tea", "k1", `"attempt":2`, `"node_id":"other"`).want(t, 200)
	if repeat.Body != first.Body || n.Load() != 1 {
		t.Errorf("repeat: %s after %d executions, want %s after one", repeat.Body, n.Load(), first.Body)
	}
	// The order of members and the notation of numbers do not matter.
	c.execute("place_order", `{"n":2.0,"item":"tea"}`, `"idempotency_key":"k2"`).want(t, 200)
	c.execute("place_order", `{"item":"tea","n":2}`, "", "Idempotency-Key", "k2").want(t, 200)
	if n.Load() != 2 {
		t.Errorf("%d executions, want 2", n.Load())
	}
}

func TestKeysAreBoundToTheirParameters(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c := orders(t, nil, counting(&n), func(config *domainkit.Config) {
		config.Instances = []contracts.Instance{{ID: "a", Default: true}, {ID: "b"}}
	})
	c.order("tea", "k").want(t, 200)
	if e := c.order("milk", "k").want(t, 409).wantError(t, contracts.ErrConflict); e.EffectOf() != contracts.EffectNone {
		t.Errorf("effect %q, want none", e.EffectOf())
	}
	c.order("tea", "k", `"instance":"b"`).want(t, 409)
	c.order("tea", "k", `"instance":"a"`).want(t, 200)
	c.order("tea", "").want(t, 400)
	if n.Load() != 1 {
		t.Errorf("%d executions, want 1", n.Load())
	}
}

func TestKeysAreScopedByCapability(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	svc := newService(t)
	other := keyedOrder(nil)
	other.Name = "place_return"
	if err := errors.Join(domainkit.Add(svc, keyedOrder(nil), counting(&n)), domainkit.Add(svc, other, counting(&n))); err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, svc)
	c.order("tea", "k").want(t, 200)
	c.execute("place_return", `{"item":"tea"}`, `"idempotency_key":"k"`).want(t, 200)
	if n.Load() != 2 {
		t.Errorf("%d executions, want 2", n.Load())
	}
}

func TestWhichResultsAreFinal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err        error
		executions int64 // after a call and a retry
		status     int   // of the retry
	}{
		"a refusal that would be refused again is kept":  {domainkit.Refusef(contracts.ErrPrecondition, "sold out"), 1, 200},
		"a failure that took effect is kept":             {domainkit.Failf(contracts.ErrUpstream, contracts.EffectApplied, "no receipt"), 1, 200},
		"a retryable refusal frees the key":              {domainkit.Retryf(contracts.ErrUpstream, "closed"), 2, 200},
		"a forbidden call frees the key":                 {domainkit.Forbiddenf("not you"), 2, 403},
		"an unknown effect is never tried a second time": {errors.New("connection reset"), 1, 200},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			c := orders(t, nil, func(context.Context, domainkit.Call, order) (placed, error) {
				n.Add(1)
				return placed{}, tt.err
			})
			c.order("tea", "k")
			if got := c.order("tea", "k").want(t, tt.status); got.Result.OK || n.Load() != tt.executions {
				t.Errorf("repeat: %s after %d executions, want a failure after %d", got.Body, n.Load(), tt.executions)
			}
		})
	}
}

// lookUp returns a fixed result for the parameters that were sent.
func lookUp(applied *bool, err error) domainkit.Resolver {
	return domainkit.LookUp(func(_ context.Context, call domainkit.Call, in order) (*bool, any, error) {
		if in.Item != "tea" || call.IdempotencyKey != "k" {
			return nil, nil, fmt.Errorf("got %+v", in)
		}
		return applied, placed{77}, err
	})
}

func TestResolveDecidesAfterADoubtfulExecution(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		resolve    domainkit.Resolver
		executions int64
		ok         bool
		facts      any
	}{
		"applied: answered without executing": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: placed{77}}, nil
			}, 1, true, 77.0,
		},
		"applied and nothing more known": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				return domainkit.Resolution{Effect: contracts.EffectApplied}, nil
			}, 1, true, nil,
		},
		"none: executed once more": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				return domainkit.Resolution{Effect: contracts.EffectNone}, nil
			}, 2, true, 2.0,
		},
		"unknown: not executed": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				return domainkit.Resolution{Effect: contracts.EffectUnknown}, nil
			}, 1, false, nil,
		},
		"nothing said: not executed": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				return domainkit.Resolution{}, nil
			}, 1, false, nil,
		},
		"an error: not executed": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				return domainkit.Resolution{}, errors.New("unreachable")
			}, 1, false, nil,
		},
		"a panic: not executed": {
			func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
				crash()
				return domainkit.Resolution{}, nil
			}, 1, false, nil,
		},
		"no way to resolve: not executed":  {nil, 1, false, nil},
		"looked up, applied: not executed": {lookUp(new(true), nil), 1, true, 77.0},
		"looked up, none: once more":       {lookUp(new(false), nil), 2, true, 2.0},
		"looked up, it cannot be told":     {lookUp(nil, nil), 1, false, nil},
		"looked up in vain":                {lookUp(new(false), errors.New("unreachable")), 1, false, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			c := orders(t, tt.resolve, func(context.Context, domainkit.Call, order) (placed, error) {
				if n.Add(1) == 1 {
					return placed{}, errors.New("connection reset")
				}
				return placed{n.Load()}, nil
			})
			c.order("tea", "k").want(t, 200)
			for range 2 { // the second retry gets the same answer
				got := c.order("tea", "k").want(t, 200)
				if got.Result.OK != tt.ok || n.Load() != tt.executions || got.Result.Facts["order_id"] != tt.facts {
					t.Fatalf("repeat: %s after %d executions", got.Body, n.Load())
				}
				if !tt.ok && got.Result.Error.Effect != contracts.EffectUnknown {
					t.Errorf("effect %q, want unknown", got.Result.Error.Effect)
				}
			}
		})
	}
}

func TestResolveSeesTheCall(t *testing.T) {
	t.Parallel()
	c := orders(t, func(_ context.Context, call domainkit.Call, parameters json.RawMessage) (domainkit.Resolution, error) {
		if call.IdempotencyKey != "k" || string(parameters) != `{"item":"tea"}` {
			return domainkit.Resolution{}, fmt.Errorf("got key %q and %s", call.IdempotencyKey, parameters)
		}
		return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: placed{1}, Summary: "found it"}, nil
	}, func(context.Context, domainkit.Call, order) (placed, error) {
		crash()
		return placed{}, nil
	})
	c.order("tea", "k")
	if got := c.order("tea", "k"); got.Result.Summary != "found it" {
		t.Errorf("got %s", got.Body)
	}
}

func TestConcurrentRepeatsWaitForTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		c := orders(t, nil, func(context.Context, domainkit.Call, order) (placed, error) {
			time.Sleep(10 * time.Second)
			return placed{n.Add(1)}, nil
		})
		bodies := make([]string, 8)
		var all sync.WaitGroup
		for i := range bodies {
			all.Go(func() { bodies[i] = c.order("tea", "k").Body })
		}
		all.Wait()
		for _, body := range bodies {
			if body != bodies[0] || !strings.Contains(body, `"order_id":1`) {
				t.Errorf("got %s, want one and the same result", body)
			}
		}
	})
}

func TestLongWritesAreAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		c := orders(t, nil, func(context.Context, domainkit.Call, order) (placed, error) {
			time.Sleep(45 * time.Second)
			return placed{n.Add(1)}, nil
		})
		begin := time.Now()
		first := c.order("tea", "k").want(t, 202)
		if took := time.Since(begin); took != 20*time.Second || first.Operation == "" || first.Header.Get("Retry-After") != "1" {
			t.Errorf("accepted after %s: %s, Retry-After %q", took, first.Body, first.Header.Get("Retry-After"))
		}
		repeat := c.order("tea", "k").want(t, 202)
		if repeat.Operation != first.Operation {
			t.Errorf("a repeat got operation %q, want %q", repeat.Operation, first.Operation)
		}
		poll := func() answered { return c.order("tea", "k", `"operation":"`+first.Operation+`"`) }
		poll().want(t, 202) // after 45 s
		got := poll().want(t, 200)
		if got.Result.Facts["order_id"] != 1.0 || n.Load() != 1 {
			t.Errorf("got %s after %d executions", got.Body, n.Load())
		}
		if again := poll(); again.Body != got.Body {
			t.Errorf("a repeated poll got %s", again.Body)
		}
	})
}

// twoProcesses are two services with one store, as before and after a restart.
func twoProcesses(t *testing.T, resolve domainkit.Resolver, fn func(context.Context, domainkit.Call, order) (placed, error)) (a, b *caller) {
	t.Helper()
	store := domainkit.NewMemoryStore(0)
	shared := func(config *domainkit.Config) { config.Store = store }
	return orders(t, resolve, fn, shared), orders(t, resolve, fn, shared)
}

func TestAnotherProcessWaitsForTheRecord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		a, b := twoProcesses(t, nil, func(context.Context, domainkit.Call, order) (placed, error) {
			time.Sleep(30 * time.Second)
			return placed{n.Add(1)}, nil
		})
		first := a.order("tea", "k").want(t, 202)
		second := b.order("tea", "k").want(t, 200) // 10 s later the record is final
		if second.Result.Facts["order_id"] != 1.0 || n.Load() != 1 {
			t.Errorf("got %s after %d executions", second.Body, n.Load())
		}
		polled := b.order("tea", "k", `"operation":"`+first.Operation+`"`).want(t, 200)
		if polled.Body != second.Body {
			t.Errorf("a poll at the other process got %s", polled.Body)
		}
		b.order("tea", "k", `"operation":"other"`).want(t, 410)
	})
}

func TestAPollAtAnotherProcessIsHeldWhileTheWorkRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := twoProcesses(t, nil, func(context.Context, domainkit.Call, order) (placed, error) {
			time.Sleep(40 * time.Second)
			return placed{1}, nil
		})
		first := a.order("tea", "k").want(t, 202)
		poll := b.order("tea", "k", `"operation":"`+first.Operation+`"`).want(t, 202)
		if poll.Operation != first.Operation {
			t.Errorf("the poll was told operation %q, want %q", poll.Operation, first.Operation)
		}
		time.Sleep(time.Minute) // let the work end
	})
}

func TestACrashedLeaseIsResolvedOnceItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var resolved atomic.Int64
		resolve := func(context.Context, domainkit.Call, json.RawMessage) (domainkit.Resolution, error) {
			resolved.Add(1)
			time.Sleep(time.Second)
			return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: placed{5}}, nil
		}
		never := func(context.Context, domainkit.Call, order) (placed, error) {
			return placed{}, errors.New("executed again")
		}
		store := &crashed{MemoryStore: domainkit.NewMemoryStore(0)}
		before := orders(t, nil, func(context.Context, domainkit.Call, order) (placed, error) { return placed{5}, nil },
			func(config *domainkit.Config) { config.Store = store })
		before.order("tea", "k").want(t, 200) // its end is never recorded
		after := orders(t, resolve, never, func(config *domainkit.Config) { config.Store = store.MemoryStore })
		after.order("tea", "k").want(t, 202) // 20 s: the lease of 65 s still holds
		// A poll never starts an execution, whatever the state of the lease.
		time.Sleep(time.Minute)
		r, _, err := store.Find(t.Context(), domainkit.KeyID{Scope: "shop.place_order", Key: "k"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		after.order("tea", "k", `"operation":"`+r.Operation+`"`).want(t, 410)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if got := after.order("tea", "k"); got.Result.Facts["order_id"] != 5.0 {
					t.Errorf("got %s, want what Resolve found", got.Body)
				}
			})
		}
		all.Wait()
		if resolved.Load() != 1 {
			t.Errorf("resolved %d times, want once", resolved.Load())
		}
	})
}

// crashed loses every settlement, like a process that dies.
type crashed struct{ *domainkit.MemoryStore }

func (*crashed) Settle(context.Context, domainkit.KeyID, string, domainkit.Settlement) error {
	return errors.New("the process is dead")
}

func TestAStoreThatIsDownMeansNothingWasExecuted(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c := orders(t, nil, counting(&n), func(config *domainkit.Config) { config.Store = domainkit.NewMemoryStore(1) })
	c.order("tea", "k1").want(t, 200)
	e := c.order("tea", "k2").want(t, 200).wantError(t, contracts.ErrUpstream)
	if !e.Retryable || e.Effect != contracts.EffectNone || n.Load() != 1 {
		t.Errorf("got %+v after %d executions, want retryable, effect none, one", e, n.Load())
	}
}

func TestKeysExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		c := orders(t, nil, counting(&n), func(config *domainkit.Config) { config.Store = domainkit.NewMemoryStore(1) })
		c.order("tea", "k").want(t, 200)
		time.Sleep(24*time.Hour - time.Second)
		c.order("tea", "k").want(t, 200)
		if n.Load() != 1 {
			t.Errorf("executed again within the window")
		}
		time.Sleep(2 * time.Second)
		if got := c.order("coffee", "k2").want(t, 200); !got.Result.OK {
			t.Errorf("the expired key still fills the store: %s", got.Body)
		}
	})
}

func TestABusyRepeatLeavesTheDoubt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		c := orders(t, nil, func(_ context.Context, _ domainkit.Call, in order) (placed, error) {
			if n.Add(1); in.Item == "slow" {
				time.Sleep(time.Second)
			}
			return placed{}, errors.New("connection reset")
		}, func(config *domainkit.Config) { config.MaxConcurrent = 1 })
		c.order("tea", "k")
		go c.order("slow", "other")
		synctest.Wait()
		c.order("tea", "k").want(t, 429)
		time.Sleep(2 * time.Second)
		e := c.order("tea", "k").want(t, 200).wantError(t, contracts.ErrInternal)
		if e.Effect != contracts.EffectUnknown || n.Load() != 2 {
			t.Errorf("effect %q after %d executions, want unknown after one of each key", e.Effect, n.Load())
		}
	})
}

func TestAKeyDoesNotExpireUnderItsExecution(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		svc, c := newService(t), keyedOrder(nil)
		c.Metadata.IdempotencyWindowS = 1
		err := domainkit.Add(svc, c, func(context.Context, domainkit.Call, order) (placed, error) {
			time.Sleep(10 * time.Second)
			return placed{n.Add(1)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		caller := newCaller(t, svc)
		go caller.order("tea", "k")
		time.Sleep(5 * time.Second)
		if got := caller.order("tea", "k").want(t, 200); got.Result.Facts["order_id"] != 1.0 || n.Load() != 1 {
			t.Errorf("got %s after %d executions, want the first result", got.Body, n.Load())
		}
	})
}
