package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/pgtest"
)

// refusals looks at every answer that people get.
type refusals struct {
	http.RoundTripper

	mu            sync.Mutex // guards the fields below
	answers, busy int
	wrong         []string
	slowest       time.Duration
	waits         map[string]int
}

// RoundTrip notes how a request was answered.
func (r *refusals) RoundTrip(req *http.Request) (*http.Response, error) {
	begun := time.Now()
	res, err := r.RoundTripper.RoundTrip(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers++
	r.slowest = max(r.slowest, time.Since(begun))
	switch {
	case err != nil:
		r.wrong = append(r.wrong, fmt.Sprintf("%s %s: %v", req.Method, req.URL.Path, err))
	case res.StatusCode == http.StatusServiceUnavailable:
		again := res.Header.Get("Retry-After")
		if s, err := strconv.Atoi(again); err != nil || s < 1 {
			r.wrong = append(r.wrong, fmt.Sprintf("%s %s: 503 with Retry-After %q", req.Method, req.URL.Path, again))
		}
		r.busy++
		r.waits[again]++
	case res.StatusCode >= http.StatusInternalServerError:
		r.wrong = append(r.wrong, fmt.Sprintf("%s %s: %s", req.Method, req.URL.Path, res.Status))
	}
	return res, err
}

// outage is for how long the database is gone: the time that is promised with
// MANIFOLD_OUTAGE=20s, a shorter one else.
func outage(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("MANIFOLD_OUTAGE")
	if text == "" {
		return time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// persist does something until the servers can, and stops at any other error.
func persist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if code := contracts.CodeOf(err); code != contracts.CodeUnavailable && code != contracts.CodeLeaseLost {
			return err
		}
		select {
		case <-time.After(300 * time.Millisecond): // sooner than they were told
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// person asks for runs with one write each, approves them and sees them to their
// end, until done is closed.
func person(ctx context.Context, d *depot, rita, otto *client.Client, name string, done <-chan struct{}) (runs int, err error) {
	for ; ; runs++ {
		select {
		case <-done:
			return runs, nil
		default:
		}
		key := fmt.Sprintf("%s-%d", name, runs)
		intent := d.put("keyed", key, "1")
		intent.ID, intent.Confidence, intent.Source = "i1", 1, "caller"
		var preview contracts.PlanPreview
		var asked contracts.SessionResponse
		if err := persist(ctx, func() (err error) {
			preview, err = rita.Plan(ctx, contracts.PlanRequest{Intents: []contracts.Intent{intent}})
			return err
		}); err != nil {
			return runs, fmt.Errorf("plan: %w", err)
		}
		if err := persist(ctx, func() (err error) {
			asked, err = rita.RunPlan(ctx, contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{IdempotencyKey: key})
			return err
		}); err != nil {
			return runs, fmt.Errorf("run: %w", err)
		}
		if err := persist(ctx, func() error { return seeThrough(ctx, d, rita, otto, asked.RunIDs[0], key) }); err != nil {
			return runs, err
		}
	}
}

// seeThrough approves a run's write and waits for the end.
func seeThrough(ctx context.Context, d *depot, rita, otto *client.Client, run, key string) error {
	for {
		view, err := rita.Run(ctx, run, client.Opt{Wait: time.Second})
		if err != nil {
			return err
		}
		if view.State.Terminal() {
			if view.State != contracts.RunCompleted || d.done(key) != 1 {
				return fmt.Errorf("%s: done %d times: %s", run, d.done(key), states2text(view))
			}
			return nil
		}
		open, err := otto.Gates(ctx, client.GatesFilter{RunID: run, Status: contracts.InterruptOpen})
		if err != nil {
			return err
		}
		for _, gate := range open {
			if _, err := otto.Approve(ctx, gate, "", client.Opt{}); err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
				return err
			}
		}
	}
}

// TestADatabaseThatIsGoneUnderLoad: two servers lose it while people ask, approve and
// wait. The requester meanwhile is told to come back; the servers ask for few
// connections, then and at the return; nothing is lost or done twice, and no server
// is started again.
func TestADatabaseThatIsGoneUnderLoad(t *testing.T) {
	t.Parallel()
	gone, people, conns := outage(t), 8, 6
	l, address := lineTo(t, pgtest.Start(t).URL(t))
	one, two := startReplicasAt(t, address+fmt.Sprintf("&pool_max_conns=%d", conns))
	d := newDepot(t, "depot")
	one.register(d.registration())
	two.servesDepot()

	seen := &refusals{RoundTripper: &http.Transport{MaxIdleConnsPerHost: 2 * people}, waits: map[string]int{}}
	done := make(chan struct{})
	ran := make([]int, people)
	var work sync.WaitGroup
	for n := range people {
		p := []*process{one, two}[n%2]
		cfg := client.Config{URL: p.url, HTTP: &http.Client{Transport: seen}, Retries: -1}
		cfg.Key = p.keys[1]
		rita := apptest.Client(t, cfg)
		cfg.Key = p.keys[2]
		otto := apptest.Client(t, cfg)
		work.Go(func() {
			var err error
			if ran[n], err = person(t.Context(), d, rita, otto, fmt.Sprintf("p%d", n), done); err != nil {
				t.Errorf("person %d after %d runs: %v", n, ran[n], err)
			}
		})
	}
	writes := func() int { return len(d.record()) }
	eventually(t, "runs to be under way", func() (int, bool) { return writes(), t.Failed() || writes() >= people })

	l.cut()
	l.counted()
	cut := time.Now()
	<-time.After(gone) // what is looked at is how it is without
	tries, _ := l.counted()
	before := writes()
	l.mend()
	back := time.Now()
	for _, p := range []*process{one, two} {
		eventually(t, "a server to be ready", func() (int, bool) {
			status, _, _ := p.get("/ready")
			return status, status == http.StatusOK
		})
	}
	ready := time.Since(back)
	eventually(t, "runs to go on", func() (int, bool) { return writes(), t.Failed() || writes() >= before+people })
	again, most := l.counted()
	close(done)
	work.Wait()

	total := 0
	for _, n := range ran {
		total += n
	}
	t.Logf("gone for %v under %d people: %d answers, %d of them 503 (Retry-After %v), the slowest after %v; %d connections tried meanwhile, %d at the return, %d open at most; ready %v after it; %d runs ended",
		time.Since(cut).Round(time.Millisecond)-time.Since(back).Round(time.Millisecond), people, seen.answers, seen.busy, seen.waits, seen.slowest.Round(time.Millisecond), tries, again, most, ready.Round(time.Millisecond), total)
	for _, w := range seen.wrong {
		t.Errorf("an answer that is no 503 with Retry-After: %s", w)
	}
	if seen.busy == 0 {
		t.Error("nobody noticed that the database was gone: the test shows nothing")
	}
	// Of each server: its pool, and two that listen.
	if limit := 2 * (conns + 2); most > limit {
		t.Errorf("%d connections were open at once, %d are allowed", most, limit)
	}
	// What asks for connections is what people ask for, some times a second each, and
	// each server's own looks at the store.
	if limit := int((gone.Seconds() + 1) * float64(people*8+2*20)); tries > limit {
		t.Errorf("%d connections were tried in %v, %d are allowed", tries, gone, limit)
	}
	for _, p := range []*process{one, two} {
		if report, err := p.admin.AuditVerify(t.Context(), ""); err != nil || !report.OK {
			t.Errorf("an audit: %+v, %v", report, err)
		}
	}
}
