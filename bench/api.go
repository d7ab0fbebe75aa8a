package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/internal/app"
)

// whole is the released server, a domain behind real HTTP, and an HTTP client.
type whole struct {
	app     *app.App
	client  *client.Client
	http    *http.Client
	key     string // of the client
	domain  string // the URL of the domain
	stop    context.CancelFunc
	serving errgroup.Group
	// postgres is the address of the store, "" for a file. keys is the key file that all servers on
	// one database share, "" for a separate one.
	postgres, keys string
	telemetry      app.Telemetry
}

// names returns the parameters of n reads in one run.
func names(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = fmt.Sprintf("g-%02d", i+1)
	}
	return out
}

// newWhole returns one that is not started yet. It must be closed in any case.
func newWhole() *whole {
	return &whole{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}, stop: func() {}}
}

func startWhole(ctx context.Context, dir string) (*whole, error) {
	w := newWhole()
	if err := w.start(ctx, dir); err != nil {
		return nil, errors.Join(err, w.close(ctx))
	}
	return w, nil
}

// start starts the server, and the domain unless there is one. The client uses the first admin's
// key unless it has one.
func (w *whole) start(ctx context.Context, dir string) error {
	// The domain runs until close, also after the context of this call has ended.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	if w.domain == "" {
		if err := w.serveDomain(serving); err != nil {
			return err
		}
	}
	bootstrap, err := json.Marshal(contracts.Bootstrap{
		Domains:    []contracts.Registration{{Domain: domainName, URL: w.domain}},
		SitePolicy: contracts.SitePolicy{Review: &contracts.SiteReview{SinglePerson: true}}, // one key requests and approves
	})
	if err != nil {
		return err
	}
	w.app, err = app.New(ctx, app.Config{
		Addr: "127.0.0.1:0", DataDir: dir, PostgresURL: w.postgres, Proof: app.Proof{Keys: w.keys}, Bootstrap: bootstrap, Telemetry: w.telemetry,
		// Otherwise the limits per caller would be measured.
		SessionsPerMinute: math.MaxInt32, SessionBurst: math.MaxInt32, RequestsPerMinute: math.MaxInt32, RequestBurst: math.MaxInt32,
	})
	if err != nil {
		return err
	}
	if err := w.app.Start(ctx); err != nil {
		return err
	}
	if w.key == "" {
		key, err := os.ReadFile(w.app.AdminKeyFile())
		if err != nil {
			return err
		}
		w.key = strings.TrimSpace(string(key))
	}
	if w.client, err = client.New(client.Config{URL: w.app.URL(), Key: w.key, HTTP: w.http}); err != nil {
		return err
	}
	return w.app.Settled(ctx)
}

func (w *whole) close(ctx context.Context) error {
	var err error
	if w.app != nil {
		err = w.app.Stop(ctx)
	}
	w.http.CloseIdleConnections()
	w.stop()
	return errors.Join(err, w.serving.Wait())
}

type reading struct {
	Name  string   `json:"name,omitempty" pattern:"^g-[0-9]{2,3}$"`
	Names []string `json:"names,omitempty" max:"200"`
}

type read struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
}

// serveDomain serves a domain whose reads take no time, or a nap.
func (w *whole) serveDomain(serving context.Context) error {
	svc, err := domainkit.New(domainkit.Config{Domain: domainName, Version: "1.0.0", MaxConcurrent: 2048})
	if err != nil {
		return err
	}
	for name, takes := range map[string]time.Duration{noop: 0, napping: nap, nappingOne: nap, setting: 0} {
		if err := domainkit.Add(svc, domainkit.Capability{
			Name: name, Description: "Reads a gauge.", Metadata: metadata(name),
		}, func(ctx context.Context, _ domainkit.Call, in reading) (read, error) {
			return read{Name: in.Name, Value: 42}, sleep(ctx, takes)
		}); err != nil {
			return err
		}
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(serving, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.domain = "http://" + listener.Addr().String()
	w.serving.Go(func() error { return svc.Serve(serving, listener) })
	return nil
}

func metadata(name string) contracts.Metadata {
	m := contracts.Metadata{
		SideEffectClass: contracts.ClassRead,
		Decomposition:   &contracts.Decomposition{ArrayParams: []contracts.ArrayRule{{ParamName: "names", SingleParamName: "name"}}},
	}
	switch name {
	case setting:
		return contracts.Metadata{SideEffectClass: contracts.ClassWriteReversible, Idempotency: contracts.IdempotencyKeyed, RiskLevel: contracts.RiskLow}
	case nappingOne:
		m.ExecutionMode = contracts.ModeSequential
	case noop:
		m.IntentHints = &contracts.IntentHints{Examples: []string{"check the gauge g-01", "please check gauge g-07"}}
	case napping:
		m.IntentHints = &contracts.IntentHints{Examples: []string{"observe the gauge g-01", "please observe gauge g-07"}}
	}
	return m
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prepare previews a plan with n reads and returns a function that executes it in one request:
// start, wait for the end, read the answer.
func (w *whole) prepare(ctx context.Context, capability string, n int) (func(context.Context) error, error) {
	preview, err := w.client.Plan(ctx, contracts.PlanRequest{Goal: "read the gauges", Intents: []contracts.Intent{{
		ID: "i1", Domain: domainName, Capability: capability, Parameters: map[string]any{"names": names(n)}, Confidence: 1,
	}}})
	switch {
	case err != nil:
		return nil, err
	case preview.PlanHash == "":
		return nil, fmt.Errorf("%s was not planned: %s %v", capability, preview.Message, preview.Questions)
	}
	return func(ctx context.Context) error {
		response, err := w.client.RunPlan(ctx, contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{Wait: 30 * time.Second})
		if err != nil {
			return err
		}
		if response.Status != contracts.SessionCompleted || response.Answer == nil {
			return fmt.Errorf("session %s is %s", response.SessionID, response.Status)
		}
		return nil
	}, nil
}

// direct makes n concurrent calls to the domain, without the server.
func (w *whole) direct(capability string, n int) func(context.Context) error {
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		for _, name := range names(n) {
			group.Go(func() error { return w.execute(ctx, capability, name) })
		}
		return group.Wait()
	}
}

func (w *whole) execute(ctx context.Context, capability string, name any) error {
	body, err := json.Marshal(map[string]any{"capability": capability, "parameters": map[string]any{"name": name}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.domain+"/execute", strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := w.http.Do(req)
	if err != nil {
		return err
	}
	var result contracts.ToolResult
	err = errors.Join(json.NewDecoder(res.Body).Decode(&result), res.Body.Close())
	if err == nil && !result.OK {
		err = fmt.Errorf("the domain refused: %s", result.Summary)
	}
	return err
}
