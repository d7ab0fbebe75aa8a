package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// spread is a proxy before some servers: it takes them in turn, and the next one
// where one takes no connection.
type spread struct {
	backends  []string
	transport http.Transport
	turn      atomic.Int64
}

// spreadOver returns the address of a proxy.
func spreadOver(t *testing.T, backends ...string) string {
	t.Helper()
	s := &spread{backends: backends}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, Transport: s})
	t.Cleanup(proxy.Close)
	t.Cleanup(s.transport.CloseIdleConnections)
	return proxy.URL
}

// RoundTrip sends a request to a server that takes it.
func (s *spread) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	for tries := 1; ; tries++ {
		u, err := url.Parse(s.backends[int(s.turn.Add(1))%len(s.backends)])
		if err != nil {
			return nil, err
		}
		r.URL.Scheme, r.URL.Host, r.Body = u.Scheme, u.Host, io.NopCloser(bytes.NewReader(body))
		res, err := s.transport.RoundTrip(r)
		op, ok := errors.AsType[*net.OpError](err)
		if err == nil || !ok || op.Op != "dial" || tries == len(s.backends) {
			return res, err
		}
	}
}

// caller asks for runs through a proxy and sees each to its end; any error that
// the client does not get over by itself is one too many.
type caller struct {
	depot      *depot
	rita, otto *client.Client
	ended      atomic.Int64
}

// ask asks for one run with one write, approves it, and waits for its end.
func (c *caller) ask(ctx context.Context, key string) error {
	intent := c.depot.put("keyed", key, "1")
	intent.ID, intent.Confidence, intent.Source = "i1", 1, "caller"
	preview, err := c.rita.Plan(ctx, contracts.PlanRequest{Intents: []contracts.Intent{intent}})
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	response, err := c.rita.RunPlan(ctx, contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{})
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	run := response.RunIDs[0]
	begun := time.Now()
	for approved := false; ; {
		view, err := c.rita.Run(ctx, run, client.Opt{Wait: time.Second})
		if err != nil {
			return fmt.Errorf("wait for %s: %w", run, err)
		}
		if view.State.Terminal() {
			if view.State != contracts.RunCompleted || c.depot.done(key) != 1 {
				return fmt.Errorf("%s, done %d times: %s", run, c.depot.done(key), states2text(view))
			}
			c.ended.Add(1)
			return nil
		}
		if time.Since(begun) > 2*patience {
			return fmt.Errorf("%s does not end (approved: %v): %s", run, approved, states2text(view)+asJSON(view))
		}
		open, err := c.otto.Gates(ctx, client.GatesFilter{RunID: run, Status: contracts.InterruptOpen})
		if err != nil {
			return fmt.Errorf("gates of %s: %w", run, err)
		}
		if len(open) == 0 || approved {
			continue
		}
		if _, err := c.otto.Approve(ctx, open[0], "", client.Opt{}); err != nil {
			return fmt.Errorf("approve %s: %w", open[0].Code, err)
		}
		approved = true
	}
}

// Three servers are stopped in good order and started again, one after the
// other, while people ask and approve.
func TestARollingRestartFailsNobody(t *testing.T) {
	t.Parallel()
	servers := startServers(t, 3)
	d := newDepot(t, "depot")
	servers[0].register(d.registration())
	var addresses []string
	for _, p := range servers {
		p.servesDepot()
		u, err := url.Parse(p.url)
		if err != nil {
			t.Fatal(err)
		}
		p.addr = u.Host // it comes back where the proxy looks for it
		addresses = append(addresses, p.url)
	}
	through := &site{t: t, url: spreadOver(t, addresses...)}
	c := &caller{depot: d, rita: through.with(servers[0].keys[1]), otto: through.with(servers[0].keys[2])}

	done := make(chan struct{})
	var people sync.WaitGroup
	for person := range 6 {
		people.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if err := c.ask(t.Context(), fmt.Sprintf("k%d-%d", person, n)); err != nil {
					t.Errorf("person %d: %v", person, err)
					return
				}
			}
		})
	}
	for round := range 2 {
		for i, p := range servers {
			before := c.ended.Load()
			eventually(t, "runs to end", func() (int64, bool) { return c.ended.Load(), t.Failed() || c.ended.Load() > before+5 })
			began := time.Now()
			if err := p.quit(); err != nil {
				t.Errorf("stop server %d: %v", i, err)
			}
			t.Logf("round %d: server %d stopped within %v, %d runs have ended", round, i, time.Since(began).Round(time.Millisecond), c.ended.Load())
			p.start()
		}
	}
	close(done)
	people.Wait()
	t.Logf("%d runs ended", c.ended.Load())
}

// startServers starts some servers on one database, with the same keys.
func startServers(t *testing.T, n int) []*process {
	t.Helper()
	one, two := startReplicas(t)
	servers := []*process{one, two}
	for len(servers) < n {
		p := newProcess(t, one.postgres)
		p.keys, p.auditKeys = one.keys, one.auditKeys
		p.start()
		servers = append(servers, p)
	}
	return servers[:n]
}
