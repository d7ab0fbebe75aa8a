package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/flowise"
	flowisesandbox "github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/examples/communication"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/examples/logistics"
)

// world is everything around the server: the sandboxes and the domains, each on a local port of its
// own.
type world struct {
	cut     context.CancelFunc
	serving sync.WaitGroup
	closers []func() error
	urls    map[string]string
	// managerLogin is the manager's login at the tenant.
	managerLogin string

	mu   sync.Mutex // guards errs
	errs []error
}

// service is the common interface of the domains.
type service interface {
	Serve(ctx context.Context, listener net.Listener) error
}

func startWorld(ctx context.Context, o options, logger *slog.Logger) (*world, error) {
	// The domains outlive the signal: the server finishes its writes first.
	ctx, cut := context.WithCancel(context.WithoutCancel(ctx))
	w := &world{cut: cut, urls: map[string]string{}}
	err := w.start(ctx, o, logger)
	if err == nil && o.keep > 0 {
		err = w.strip(ctx, o.keep)
	}
	if err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

func (w *world) start(ctx context.Context, o options, logger *slog.Logger) error {
	people, err := w.startTenant(ctx, o, logger)
	if err != nil {
		return err
	}
	prices, err := finance.New(finance.Config{Logger: logger.With(slog.String("service", "finance"))})
	if err != nil {
		return err
	}
	messages, err := communication.New(ctx, communication.Config{
		Dir: filepath.Join(o.data, "communication"), Logger: logger.With(slog.String("service", "communication")),
	})
	if err != nil {
		return err
	}
	w.closers = append(w.closers, messages.Close)
	freight, err := logistics.New(logistics.Config{People: inLogistics(), Logger: logger.With(slog.String("service", "logistics"))})
	if err != nil {
		return err
	}
	flows, err := w.startFlowise(ctx, o, logger)
	if err != nil {
		return err
	}
	return errors.Join(
		w.serve(ctx, "workday", people), w.serve(ctx, "finance", prices), w.serve(ctx, "communication", messages),
		w.serve(ctx, "flowise", flows), w.serve(ctx, "logistics", freight),
	)
}

// startFlowise starts an in-memory Flowise and its domain. The chatflows are lost at the end of the
// process; the domain's own versions of them are not.
func (w *world) startFlowise(ctx context.Context, o options, logger *slog.Logger) (service, error) {
	server, err := flowisesandbox.New(flowisesandbox.Config{})
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.serving.Go(func() { w.note(serveHTTP(ctx, server, listener)) })
	folder := filepath.Join(o.data, "flowise")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	kept, err := flowise.OpenData(ctx, filepath.Join(folder, "data.db"))
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, kept.Close)
	keys, err := sqlitestore.Open(ctx, filepath.Join(folder, "keys.db"))
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, keys.Close)
	server.AddCredential("Demo key", "openAIApi")
	cfg := flowise.Config{
		Instances: []flowise.Instance{{ID: "demo", Endpoint: "http://" + listener.Addr().String(), APIKey: server.Key()}},
		Data:      kept, Keys: keys, Logger: logger.With(slog.String("service", "flowise")),
	}
	// Edits that bypass the domain are stored as versions, too.
	w.serving.Go(func() { w.note(flowise.Watch(ctx, cfg, o.watch)) })
	return flowise.New(cfg)
}

// startTenant starts the sandbox and returns its domain, with the pages for logins at the tenant.
func (w *world) startTenant(ctx context.Context, o options, logger *slog.Logger) (service, error) {
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.serving.Go(func() { w.note(serveHTTP(ctx, tenant, listener)) })
	pages, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := tenant.Credentials()
	cfg := workday.Config{
		Access: w.demoAccess(tenant),
		Reports: map[string]workday.Report{
			"Headcount": {Path: sandbox.Headcount, Prompts: []string{"Organization"}}, "Headcount by Location": {Path: sandbox.HeadcountByLocation},
		},
		Tenant: workday.Tenant{
			URL: "http://" + listener.Addr().String(), Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true,
			RequestsPerSecond: 200, Burst: 50, MaxConcurrency: 16,
		},
		Logger: logger.With(slog.String("service", "workday")),
	}
	cfg.Logins, err = workday.OpenLogins(cfg, workday.LoginConfig{Dir: filepath.Join(o.data, "workday", "logins"), URL: "http://" + pages.Addr().String()})
	if err != nil {
		return nil, errors.Join(err, pages.Close())
	}
	w.serving.Go(func() { w.note(serveHTTP(ctx, cfg.Logins, pages)) })
	return workday.New(cfg)
}

// demoAccess lets operators read the data of everybody, so that newcomers can try it. A tenant with
// real people grants that to an HR role.
func (w *world) demoAccess(tenant *sandbox.Tenant) workday.Access {
	access, known := workday.Access{All: []string{"operator"}, People: map[string]string{}}, inWorkday()
	for _, person := range tenant.People() {
		if who := known[person.Name]; who != "" {
			access.People[who] = person.ID
		}
		if known[person.Name] == manager {
			w.managerLogin = person.EmployeeID
		}
	}
	return access
}

func (w *world) serve(ctx context.Context, domain string, svc service) error {
	listener, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.urls[domain] = "http://" + listener.Addr().String()
	w.serving.Go(func() { w.note(svc.Serve(ctx, listener)) })
	return nil
}

func serveHTTP(ctx context.Context, handler http.Handler, listener net.Listener) error {
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	err := srv.Close()
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return listener, nil
}

// freeAddr returns the address if it is free, else one on the same host with a free port.
func freeAddr(ctx context.Context, addr string) (string, error) {
	listener, err := listen(ctx, addr)
	if err == nil {
		return addr, listener.Close()
	}
	host, _, splitErr := net.SplitHostPort(addr)
	if splitErr != nil {
		return "", err
	}
	return net.JoinHostPort(host, "0"), nil
}

func (w *world) note(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

// bootstrap returns the bootstrap file for these domains, as an operator would write it.
func (w *world) bootstrap() []byte {
	b := contracts.Bootstrap{SitePolicy: contracts.SitePolicy{Review: &contracts.SiteReview{
		OwnAuthority: []string{"workday.approve_step", "workday.deny_step", "workday.send_back_step"},
	}}}
	for _, domain := range []string{"workday", "finance", "communication", "flowise", "logistics"} {
		b.Domains = append(b.Domains, contracts.Registration{Domain: domain, URL: w.urls[domain]})
	}
	body, _ := json.Marshal(b) //nolint:errchkjson // plain texts
	return body
}

// stop stops all services and waits for them.
func (w *world) stop() error {
	w.cut()
	w.serving.Wait()
	errs := w.errs
	for _, closer := range w.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}
