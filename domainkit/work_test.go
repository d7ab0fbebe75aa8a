package domainkit_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// slow is a service with one read that takes a while; capability changes it.
func slow(t *testing.T, took time.Duration, change func(*domainkit.Capability), configure ...func(*domainkit.Config)) (*caller, *domainkit.Service) {
	t.Helper()
	svc := newService(t, configure...)
	c := read("look")
	c.Metadata.TimeoutMS = 60_000
	if change != nil {
		change(&c)
	}
	err := domainkit.Add(svc, c, func(ctx context.Context, _ domainkit.Call, _ plain) (plain, error) {
		select {
		case <-time.After(took):
			return plain{}, nil
		case <-ctx.Done():
			return plain{}, ctx.Err()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return newCaller(t, svc), svc
}

func poll(operation string) string { return `"operation":"` + operation + `"` }

func TestLongReadsAreAcceptedAndForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := slow(t, 30*time.Second, nil)
		operation := c.execute("look", `{}`, "").want(t, 202).Operation
		c.execute("look", `{}`, poll(operation)).want(t, 202) // held for 5 s
		time.Sleep(time.Second)
		c.execute("look", `{}`, poll(operation)).want(t, 200)
		c.execute("other", `{}`, poll(operation)).want(t, 404)
		time.Sleep(9 * time.Minute)
		c.execute("look", `{}`, poll(operation)).want(t, 200)
		time.Sleep(2 * time.Minute)
		c.execute("look", `{}`, poll(operation)).want(t, 410)
	})
}

func TestResultsThatAreKeptAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := slow(t, 21*time.Second, nil, func(config *domainkit.Config) { config.MaxConcurrent = 300 })
		operations := make([]string, 300)
		var all sync.WaitGroup
		for i := range operations {
			all.Go(func() { operations[i] = c.execute("look", `{}`, "").Operation })
		}
		all.Wait()
		time.Sleep(2 * time.Second)
		kept := 0
		for _, operation := range operations {
			if c.execute("look", `{}`, poll(operation)).Status == 200 {
				kept++
			}
		}
		if kept != 256 {
			t.Errorf("%d results are kept, want 256", kept)
		}
	})
}

func TestWorkEndsAtItsTime(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		declaredMS int
		context    string
		after      time.Duration
	}{
		"at the declared time":                      {3000, "", 3 * time.Second},
		"at the caller's time, if shorter":          {3000, `"timeout_ms":1000`, time.Second},
		"at the declared time, if that is shorter":  {3000, `"timeout_ms":9000`, 3 * time.Second},
		"at the default time, if none was declared": {0, "", 10 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := slow(t, time.Hour, func(c *domainkit.Capability) { c.Metadata.TimeoutMS = tt.declaredMS })
				begin := time.Now()
				c.execute("look", `{}`, tt.context).want(t, 200).wantError(t, contracts.ErrTimeout)
				if took := time.Since(begin); took != tt.after {
					t.Errorf("ended after %s, want %s", took, tt.after)
				}
			})
		})
	}
}

func TestAHandlerThatIgnoresItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc, ended := newService(t), make(chan struct{})
		c := writeCap("post")
		c.Metadata.Idempotency, c.Metadata.TimeoutMS = contracts.IdempotencyKeyed, 2000
		err := domainkit.Add(svc, c, func(context.Context, domainkit.Call, plain) (plain, error) {
			defer close(ended)
			time.Sleep(10 * time.Second)
			return plain{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		caller := newCaller(t, svc)
		begin := time.Now()
		e := caller.execute("post", `{}`, `"idempotency_key":"k"`).want(t, 200).wantError(t, contracts.ErrTimeout)
		if took := time.Since(begin); took > 3*time.Second || e.Effect != contracts.EffectUnknown {
			t.Errorf("answered after %s with effect %q, want soon after 2 s with unknown", took, e.Effect)
		}
		// During the execution a retry waits; after its end the retry gets its result.
		caller.execute("post", `{}`, `"idempotency_key":"k"`).want(t, 200).wantError(t, contracts.ErrTimeout)
		<-ended
		synctest.Wait()
		if got := caller.execute("post", `{}`, `"idempotency_key":"k"`).want(t, 200); !got.Result.OK {
			t.Errorf("after the end: %s, want the result", got.Body)
		}
	})
}

// gone executes with a caller that disconnects after a while.
func gone(t *testing.T, c *caller, capability, context string, after time.Duration) {
	t.Helper()
	ctx, cancel := contextAfter(t, after)
	defer cancel()
	body := `{"capability":"` + capability + `","parameters":{},"context":{` + context + `}}`
	r := httptest.NewRequestWithContext(ctx, "POST", "/execute", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	c.handler.ServeHTTP(httptest.NewRecorder(), r)
}

func contextAfter(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

func TestCallersThatLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc := newService(t)
		ends := map[string]error{}
		var mu sync.Mutex
		work := func(ctx context.Context, call domainkit.Call, _ plain) (plain, error) {
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
			}
			mu.Lock()
			defer mu.Unlock()
			ends[call.Capability] = ctx.Err()
			return plain{}, ctx.Err()
		}
		if err := errors.Join(domainkit.Add(svc, read("look"), work), domainkit.Add(svc, writeCap("post"), work)); err != nil {
			t.Fatal(err)
		}
		c := newCaller(t, svc)
		gone(t, c, "look", "", time.Second)
		gone(t, c, "post", "", time.Second)
		time.Sleep(10 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if !errors.Is(ends["look"], context.Canceled) || ends["post"] != nil {
			t.Errorf("the read ended with %v, the write with %v; want the read cancelled and the write done", ends["look"], ends["post"])
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		capability func(*domainkit.Capability)
		config     func(*domainkit.Config)
		served     int // of three calls at once
		retryAfter string
	}{
		"of one capability": {func(c *domainkit.Capability) { c.Metadata.MaxConcurrency = 2 }, func(*domainkit.Config) {}, 2, "1"},
		"of the service":    {func(*domainkit.Capability) {}, func(c *domainkit.Config) { c.MaxConcurrent = 1 }, 1, "1"},
		"per minute":        {func(c *domainkit.Capability) { c.Metadata.RateLimitPerMin = 2 }, func(*domainkit.Config) {}, 2, "30"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := slow(t, time.Second, tt.capability, tt.config)
				served := 0
				var mu sync.Mutex
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() {
						got := c.execute("look", `{}`, "")
						mu.Lock()
						defer mu.Unlock()
						if got.Status == 200 {
							served++
							return
						}
						e := got.want(t, 429).wantError(t, contracts.ErrBudget)
						if after := got.Header.Get("Retry-After"); !e.Retryable || after != tt.retryAfter {
							t.Errorf("retryable %v after %q, want true after %q", e.Retryable, after, tt.retryAfter)
						}
					})
				}
				all.Wait()
				if served != tt.served {
					t.Errorf("%d served, want %d", served, tt.served)
				}
				time.Sleep(30 * time.Second) // slots are free, and the bucket has one more
				c.execute("look", `{}`, "").want(t, 200)
			})
		})
	}
}

func TestABusyWriteKeepsNoKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := orders(t, nil, func(context.Context, domainkit.Call, order) (placed, error) {
			time.Sleep(time.Second)
			return placed{1}, nil
		}, func(config *domainkit.Config) { config.MaxConcurrent = 1 })
		go c.order("tea", "k1")
		synctest.Wait()
		c.order("tea", "k2").want(t, 429)
		time.Sleep(2 * time.Second)
		if got := c.order("milk", "k2").want(t, 200); !got.Result.OK {
			t.Errorf("the key of a refused call is taken: %s", got.Body)
		}
	})
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		takes   time.Duration
		wantErr bool
		after   time.Duration
	}{
		"running work may end":              {5 * time.Second, false, 5 * time.Second},
		"work that takes long is cancelled": {time.Minute, true, 10 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, svc := slow(t, tt.takes, nil)
				go c.execute("look", `{}`, "")
				synctest.Wait()
				grace, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				begin := time.Now()
				err := svc.Shutdown(grace)
				if took := time.Since(begin); (err != nil) != tt.wantErr || took != tt.after {
					t.Errorf("stopped after %s with %v, want %s and error %v", took, err, tt.after, tt.wantErr)
				}
				c.execute("look", `{}`, "").want(t, 429)
				if err := svc.Shutdown(t.Context()); err != nil {
					t.Errorf("second stop: %v", err)
				}
			})
		})
	}
}

func TestRefusedCallsTakeNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := slow(t, time.Second, func(c *domainkit.Capability) { c.Metadata.RateLimitPerMin = 1 },
			func(config *domainkit.Config) { config.MaxConcurrent = 2 })
		c.execute("look", `{}`, "").want(t, 200)
		for range 3 {
			c.execute("look", `{}`, "").want(t, 429)
		}
		time.Sleep(time.Minute)
		c.execute("look", `{}`, "").want(t, 200)
	})
}

func TestProgressIsToldWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		svc := newService(t)
		capability := read("copy")
		capability.Metadata.TimeoutMS = 60_000
		err := domainkit.Add(svc, capability, func(ctx context.Context, _ domainkit.Call, _ plain) (plain, error) {
			for n := range 9 {
				domainkit.Report(ctx, contracts.Progress{Done: float64(n), Total: 9, Message: "copying"})
				time.Sleep(time.Second)
			}
			return plain{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c := newCaller(t, svc)
		begin := time.Now()
		first := c.execute("copy", `{}`, "").want(t, 202)
		if took := time.Since(begin); took != 2*time.Second || !strings.Contains(first.Body, `"progress":{"done":`) {
			t.Errorf("after %v: %s", took, first.Body)
		}
		again := c.execute("copy", `{}`, poll(first.Operation)).want(t, 202)
		if again.Body == first.Body || !strings.Contains(again.Body, `"total":9,"message":"copying"`) {
			t.Errorf("%s, then %s", first.Body, again.Body)
		}
		time.Sleep(9 * time.Second)
		c.execute("copy", `{}`, poll(first.Operation)).want(t, 200)
	})
}

func TestACallThatAsksIsRefusedWithoutEffect(t *testing.T) {
	t.Parallel()
	svc := newService(t)
	err := domainkit.Add(svc, read("look"), func(_ context.Context, call domainkit.Call, _ plain) (plain, error) {
		if call.Input == nil || call.Input.Answers["size"] != 3.0 || call.Input.State != "kept" {
			return plain{}, domainkit.Ask(contracts.InputRequest{State: "kept", Questions: []contracts.InputQuestion{{ID: "size", Prompt: "Which size?"}}}, "it needs a size")
		}
		return plain{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c := newCaller(t, svc)
	e := c.execute("look", `{}`, "").want(t, 200).Result.Error
	if e == nil || e.Type != contracts.ErrNeedsInput || e.EffectOf() != contracts.EffectNone || e.Needs == nil || e.Needs.Fault() != "" {
		t.Fatalf("%+v", e)
	}
	if r := c.execute("look", `{}`, `"input":{"state":"kept","answers":{"size":3}}`).want(t, 200).Result; !r.OK {
		t.Errorf("%+v", r.Error)
	}
}
