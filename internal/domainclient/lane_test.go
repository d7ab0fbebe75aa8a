package domainclient_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// clock is set manually.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// flaky is a domain that fails on demand.
type flaky struct {
	broken atomic.Bool
	calls  atomic.Int32
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.calls.Add(1)
	if f.broken.Load() {
		w.WriteHeader(500)
		return
	}
	answer(200, plainJSON, `{"ok":true}`)(w, r)
}

func breakerBundle(t *testing.T) (*bundle, *flaky, *clock) {
	t.Helper()
	f, c := &flaky{}, &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b := setup(t, serve(t, f.ServeHTTP), func(cfg *domainclient.Config) {
		cfg.BreakerThreshold, cfg.BreakerPause, cfg.BreakerPauseMax, cfg.Now = 3, 10*time.Second, 30*time.Second, c.Now
	})
	return b, f, c
}

func TestOpenBreakerDelays(t *testing.T) {
	t.Parallel()
	b, f, _ := breakerBundle(t)
	f.broken.Store(true)
	for range 3 {
		wantKind(t, b.invoke(t, writeCall()), execution.ReplyBroken)
	}
	got := b.invoke(t, writeCall())
	wantKind(t, got, execution.ReplyBusy)
	if got.RetryAfter < 8*time.Second || got.RetryAfter > 16*time.Second {
		t.Errorf("told to come back after %v, want about 10 s", got.RetryAfter)
	}
	if f.calls.Load() != 3 {
		t.Errorf("the domain got %d calls, want 3", f.calls.Load())
	}
}

func TestBreakerLetsOneCallTry(t *testing.T) {
	t.Parallel()
	b, f, c := breakerBundle(t)
	f.broken.Store(true)
	for range 3 {
		b.invoke(t, readCall())
	}
	c.advance(13 * time.Second)
	wantKind(t, b.invoke(t, readCall()), execution.ReplyBroken) // the probe
	got := b.invoke(t, readCall())
	wantKind(t, got, execution.ReplyBusy)
	if got.RetryAfter < 18*time.Second {
		t.Errorf("the second pause is %v, want twice the first", got.RetryAfter)
	}
	f.broken.Store(false)
	c.advance(time.Minute)
	for range 3 {
		wantKind(t, b.invoke(t, readCall()), execution.ReplyResult)
	}
}

func TestBreakerCountsFailuresInARow(t *testing.T) {
	t.Parallel()
	b, f, _ := breakerBundle(t)
	for range 3 {
		f.broken.Store(true)
		b.invoke(t, readCall())
		b.invoke(t, readCall())
		f.broken.Store(false)
		wantKind(t, b.invoke(t, readCall()), execution.ReplyResult)
	}
}

func TestBreakerIsTheDomainsOwn(t *testing.T) {
	t.Parallel()
	b, f, _ := breakerBundle(t)
	b.dir.endpoints["beta"] = registry.Endpoint{Domain: "beta", URL: serve(t, answer(200, plainJSON, `{"ok":true}`))}
	f.broken.Store(true)
	for range 4 {
		b.invoke(t, readCall())
	}
	call := readCall()
	call.Entry.Domain = "beta"
	wantKind(t, b.invoke(t, call), execution.ReplyResult)
}

func TestNewAddressBeginsAnew(t *testing.T) {
	t.Parallel()
	b, f, _ := breakerBundle(t)
	f.broken.Store(true)
	for range 4 {
		b.invoke(t, readCall())
	}
	b.at.URL = serve(t, answer(200, plainJSON, `{"ok":true}`))
	b.dir.endpoints["alpha"] = b.at
	wantKind(t, b.invoke(t, readCall()), execution.ReplyResult)
}

func TestFullLaneDelays(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-release
		answer(200, plainJSON, `{"ok":true}`)(w, r)
	})
	b := setup(t, url, func(c *domainclient.Config) { c.MaxConcurrent, c.QueueWait = 1, time.Millisecond })
	first := make(chan execution.Reply, 1)
	go func() { first <- b.invoker.Invoke(t.Context(), writeCall()) }()
	<-arrived
	got := b.invoke(t, writeCall())
	wantKind(t, got, execution.ReplyBusy)
	if got.RetryAfter <= 0 {
		t.Error("it does not say when to come back")
	}
	close(release)
	wantKind(t, <-first, execution.ReplyResult)
	wantKind(t, b.invoke(t, writeCall()), execution.ReplyResult)
}

// bigBody returns a body that needs a slot for large responses.
func bigBody() string {
	return `{"ok":true,"artifacts":{"x":"` + strings.Repeat("x", 1<<20+1) + `"}}`
}

func TestBigAnswersTakeTurns(t *testing.T) {
	t.Parallel()
	b := setup(t, serve(t, answer(200, plainJSON, bigBody())), func(c *domainclient.Config) { c.MaxBigAnswers = 1 })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			call := readCall()
			call.Timeout = contracts.MaxExchange
			got := b.invoker.Invoke(t.Context(), call)
			if got.Kind != execution.ReplyResult || len(got.Result.Artifacts["x"]) < 1<<20 {
				t.Errorf("got %s (%s) with %d bytes", got.Kind, got.Message, len(got.Result.Artifacts["x"]))
			}
		})
	}
	wg.Wait()
}

func TestBigAnswerOfAWriteNeverWaits(t *testing.T) {
	t.Parallel()
	body, stuck, release := bigBody(), make(chan struct{}), make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var call contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", plainJSON)
		if call.Context.IdempotencyKey != "" {
			_, _ = io.WriteString(w, body)
			return
		}
		_, _ = io.WriteString(w, body[:len(body)-1]) // the rest follows when it is released
		_ = http.NewResponseController(w).Flush()
		close(stuck)
		<-release
		_, _ = io.WriteString(w, "}")
	})
	b := setup(t, url, func(c *domainclient.Config) { c.MaxBigAnswers = 1 })
	first := make(chan execution.Reply, 1)
	slow := readCall()
	slow.Timeout = contracts.MaxExchange
	go func() { first <- b.invoker.Invoke(t.Context(), slow) }()
	<-stuck
	quick := writeCall()
	quick.Timeout = contracts.MaxExchange
	wantKind(t, b.invoke(t, quick), execution.ReplyResult)
	close(release)
	wantKind(t, <-first, execution.ReplyResult)
}

func TestAnswerAtTheLimit(t *testing.T) {
	t.Parallel()
	pad := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	for name, tt := range map[string]struct {
		size int
		want execution.ReplyKind
	}{
		"exactly as large as allowed": {contracts.MaxAnswerBytes, execution.ReplyResult},
		"one byte more":               {contracts.MaxAnswerBytes + 1, execution.ReplyBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, serve(t, answer(200, plainJSON, pad(tt.size))), nil)
			call := readCall()
			call.Timeout = 30 * time.Second
			wantKind(t, b.invoke(t, call), tt.want)
		})
	}
}
