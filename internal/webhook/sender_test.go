package webhook_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/webhook"
	"github.com/manifold-run/manifold/orchestrator"
)

// outbox is an in-memory outbox.
type outbox struct {
	mu      sync.Mutex
	rows    map[string]row
	changed chan struct{}
	broken  bool
}

type row struct {
	orchestrator.WebhookDelivery
	at time.Time
}

func newOutbox(deliveries ...orchestrator.WebhookDelivery) *outbox {
	o := &outbox{rows: map[string]row{}, changed: make(chan struct{}, 1024)}
	for _, d := range deliveries {
		o.rows[d.ID] = row{WebhookDelivery: d, at: d.CreatedAt}
	}
	return o
}

func (o *outbox) Claim(_ context.Context, c orchestrator.DeliveryClaim) ([]orchestrator.WebhookDelivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var due []row
	for _, r := range o.rows {
		if !r.at.After(c.Now) && (c.ID == "" || c.ID == r.ID) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b row) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.ID, b.ID)) })
	var out []orchestrator.WebhookDelivery
	for _, r := range due[:min(c.Limit, len(due))] {
		out = append(out, r.WebhookDelivery)
		r.at = c.Until
		o.rows[r.ID] = r
	}
	return out, nil
}

func (o *outbox) Done(_ context.Context, id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.rows, id)
	o.changed <- struct{}{}
	return nil
}

func (o *outbox) Retry(_ context.Context, id string, at time.Time, attempts int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken {
		return context.DeadlineExceeded
	}
	r := o.rows[id]
	r.at, r.Attempts = at, attempts
	o.rows[id] = r
	o.changed <- struct{}{}
	return nil
}

func (o *outbox) get(id string) (row, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, ok := o.rows[id]
	return r, ok
}

// await waits until the outbox fulfils a condition.
func (o *outbox) await(t *testing.T, what string, ok func(rows map[string]row) bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		o.mu.Lock()
		done := ok(o.rows)
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-o.changed:
		case <-deadline:
			t.Fatalf("in vain: %s", what)
		}
	}
}

var key = bytes.Repeat([]byte("k"), 32)

func started(t *testing.T, o *outbox, change func(*webhook.Config)) *webhook.Sender {
	t.Helper()
	cfg := webhook.Config{
		Key: key, Guard: guard(t, webhook.GuardConfig{AllowLoopback: true}), Poll: 5 * time.Millisecond,
	}
	if change != nil {
		change(&cfg)
	}
	s, err := webhook.New(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *webhook.Sender) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func delivery(id, url string) orchestrator.WebhookDelivery {
	return orchestrator.WebhookDelivery{
		ID: id, URL: url, Body: json.RawMessage(`{"type":"interrupt","text":"é"}`), CreatedAt: time.Now(),
	}
}

// received is a request as recorded by a receiver.
type received struct {
	header http.Header
	body   []byte
}

// receiver responds with the statuses in turn, then always with the last one.
func receiver(t *testing.T, statuses ...int) (url string, got func() []received) {
	t.Helper()
	var mu sync.Mutex
	var all []received
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		status := statuses[min(len(all), len(statuses)-1)]
		all = append(all, received{r.Header, body})
		if status >= 300 && status < 400 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []received {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func TestReceiverCanCheckTheSignature(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, http.StatusNoContent)
	d := delivery("d1", url+"/hook?token=1")
	o := newOutbox(d)
	s := started(t, o, nil)
	o.await(t, "delivery", func(rows map[string]row) bool { return len(rows) == 0 })
	r := got()[0]
	stamp := r.header.Get("Manifold-Timestamp")
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(stamp))
	mac.Write([]byte("."))
	mac.Write(r.body)
	if want := "v1=" + hex.EncodeToString(mac.Sum(nil)); r.header.Get("Manifold-Signature") != want {
		t.Errorf("signature %q, want %q", r.header.Get("Manifold-Signature"), want)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		t.Errorf("timestamp %q, %v", stamp, err)
	}
	if r.header.Get("Manifold-Key-Id") != s.KeyID() || s.KeyID() == "" {
		t.Errorf("key id %q, want %q", r.header.Get("Manifold-Key-Id"), s.KeyID())
	}
	if r.header.Get("Manifold-Delivery") != "d1" || !bytes.Equal(r.body, d.Body) {
		t.Errorf("got delivery %q with body %s", r.header.Get("Manifold-Delivery"), r.body)
	}
}

func TestAnswersOfReceivers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		statuses []int
		removed  bool
		requests int
	}{
		"any 2xx is received":                      {[]int{202}, true, 1},
		"a 503 that passes is tried again at once": {[]int{503, 200}, true, 2},
		"a 429 that passes is tried again at once": {[]int{429, 200}, true, 2},
		"a 500 that stays is put off":              {[]int{500}, false, 3},
		"a 404 is put off without a quick retry":   {[]int{404}, false, 1},
		"a redirect is not followed":               {[]int{307}, false, 1},
		"410 means that nothing more is wanted":    {[]int{410}, true, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, got := receiver(t, tt.statuses...)
			o := newOutbox(delivery("d1", url))
			started(t, o, func(c *webhook.Config) { c.Pause = time.Hour })
			o.await(t, name, func(rows map[string]row) bool {
				return len(rows) == 0 || rows["d1"].Attempts > 0
			})
			if r, ok := o.get("d1"); ok == tt.removed {
				t.Errorf("still in the outbox: %v (%d attempts), want %v", ok, r.Attempts, !tt.removed)
			}
			if len(got()) != tt.requests {
				t.Errorf("%d requests, want %d", len(got()), tt.requests)
			}
		})
	}
}

func TestPausesGrow(t *testing.T) {
	t.Parallel()
	url, _ := receiver(t, http.StatusForbidden)
	d := delivery("d1", url)
	d.Attempts = 3
	o := newOutbox(d)
	before := time.Now()
	started(t, o, func(c *webhook.Config) { c.Pause, c.PauseMax = time.Hour, 100*time.Hour })
	o.await(t, "retry", func(rows map[string]row) bool { return rows["d1"].Attempts == 4 })
	r, _ := o.get("d1")
	if wait := r.at.Sub(before); wait < 8*time.Hour || wait > 11*time.Hour {
		t.Errorf("after the fourth failure it waits %v, want 8 h and up to a quarter more", wait)
	}
}

func TestOldDeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, http.StatusNotFound)
	d := delivery("d1", url)
	d.CreatedAt = time.Now().Add(-25 * time.Hour)
	o := newOutbox(d)
	started(t, o, nil)
	o.await(t, "give up", func(rows map[string]row) bool { return len(rows) == 0 })
	if len(got()) != 1 {
		t.Errorf("%d requests, want a last one", len(got()))
	}
}

func TestGuardedAddressIsNeverCalled(t *testing.T) {
	t.Parallel()
	url, got := receiver(t, http.StatusOK)
	o := newOutbox(delivery("d1", url), delivery("d2", strings.Replace(url, "127.0.0.1", "localhost", 1)))
	started(t, o, func(c *webhook.Config) { c.Guard = guard(t, webhook.GuardConfig{}) })
	o.await(t, "both given up", func(rows map[string]row) bool { return len(rows) == 0 })
	if len(got()) != 0 {
		t.Errorf("a loopback receiver was called %d times", len(got()))
	}
}

func TestDeadHostDoesNotKeepTheWorkers(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer dead.Close()
	defer close(hang)
	url, got := receiver(t, http.StatusOK)
	var all []orchestrator.WebhookDelivery
	for i := range 200 {
		all = append(all, delivery(fmt.Sprintf("a%03d", i), dead.URL))
	}
	alive := delivery("z", url)
	alive.CreatedAt = alive.CreatedAt.Add(time.Millisecond) // the last one
	o := newOutbox(append(all, alive)...)
	started(t, o, func(c *webhook.Config) {
		c.Workers, c.Timeout, c.Pause = 2, 50*time.Millisecond, time.Hour
	})
	o.await(t, "the delivery behind 200 dead ones", func(rows map[string]row) bool { _, waits := rows["z"]; return !waits })
	if len(got()) != 1 {
		t.Errorf("%d requests", len(got()))
	}
}

func TestStopLeavesWhatWasCutOff(t *testing.T) {
	t.Parallel()
	arrived, hang := make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-hang
	}))
	defer server.Close()
	defer close(hang)
	o := newOutbox(delivery("d1", server.URL))
	s := started(t, o, nil)
	<-arrived
	stop(t, s)
	if r, ok := o.get("d1"); !ok || r.Attempts != 0 {
		t.Errorf("still there %v, %d attempts; want it due as before", ok, r.Attempts)
	}
}

func TestLogsHoldNoTokenOfTheURL(t *testing.T) {
	t.Parallel()
	var buf syncBuffer
	o := newOutbox(delivery("d1", "http://127.0.0.1:1/hook?token=hush"))
	started(t, o, func(c *webhook.Config) {
		c.Logger, c.Pause, c.Timeout = slog.New(slog.NewTextHandler(&buf, nil)), time.Hour, 100*time.Millisecond
	})
	o.await(t, "failure", func(rows map[string]row) bool { return rows["d1"].Attempts > 0 })
	if text := buf.String(); strings.Contains(text, "hush") || !strings.Contains(text, "d1") {
		t.Errorf("log: %s", text)
	}
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestStartAndStopInAnyOrder(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	s := started(t, o, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := s.Start(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
				stop(t, s)
			}
		})
	}
	wg.Wait()
	stop(t, s)
	stop(t, s)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]webhook.Config{
		"a short key": {Key: key[:31], Guard: guard(t, webhook.GuardConfig{})},
		"no guard":    {Key: key},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := webhook.New(cfg, newOutbox()); err == nil {
				t.Error("accepted")
			}
		})
	}
}
