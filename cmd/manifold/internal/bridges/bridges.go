// Package bridges implements the bridge commands: serve a bridge, write a first overlay, show how its
// operations are classified, and confirm changes.
package bridges

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/host"
)

// Options are common to all bridge commands.
type Options struct {
	contracts.Bridge

	Domain, Listen, Keys string
	// TokenEnv names the environment variable with the bearer token.
	TokenEnv string
	// People configures logins with personal accounts, if its Dir is set.
	People         People
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

// overlay returns the part of the bridge that names the overlay.
func (o Options) overlay() *contracts.BridgeOverlay {
	if o.MCP != nil {
		return &o.MCP.BridgeOverlay
	}
	return &o.OpenAPI.BridgeOverlay
}

// open opens a bridge without serving it.
func (o Options) open(ctx context.Context, cfg bridge.Config) (*bridge.Domain, error) {
	_, overlay, err := host.Overlay(o.Bridge)
	if err != nil {
		return nil, err
	}
	cfg.Domain, cfg.Overlay = o.Domain, overlay
	cfg.Logger = slog.New(slog.NewTextHandler(o.Stderr, nil))
	keys, err := keysOf(o.People.TokenKey, o.Getenv)
	if err != nil {
		return nil, err
	}
	logins, err := o.People.config(ctx, o, keys)
	if err != nil {
		return nil, err
	}
	var domain *bridge.Domain
	source, err := host.Source(ctx, o.Bridge, overlay, host.Reach{
		Logins: logins, Keys: keys,
		Lookup:  func(name string) (string, bool) { value := o.Getenv(name); return value, value != "" },
		Changed: func() { domain.Changed() },
		Logger:  cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	domain, err = bridge.New(cfg, source)
	return domain, err
}

// Serve serves a bridge as a domain until ctx ends.
func Serve(ctx context.Context, o Options) error {
	cfg := bridge.Config{}
	if o.TokenEnv != "" {
		token := o.Getenv(o.TokenEnv)
		if token == "" {
			return fmt.Errorf("the variable %s is not set", o.TokenEnv)
		}
		cfg.Tokens = []string{token}
	}
	if o.Keys != "" {
		store, err := sqlitestore.Open(ctx, o.Keys)
		if err != nil {
			return err
		}
		defer store.Close() // everything relevant is committed
		cfg.Store, cfg.Baseline = store, bridge.BaselineFile(o.Keys+".baseline.json")
	}
	domain, err := o.open(ctx, cfg)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: o.Listen, Handler: domain, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	fmt.Fprintf(o.Stderr, "the domain %s is served at http://%s; register it with: manifold domain add %s http://%s\n", o.Domain, o.Listen, o.Domain, o.Listen)
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 25*time.Second)
	defer cancel()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, server.Shutdown(grace), domain.Close(grace))
}

// findings returns the classification of the service's operations.
func findings(ctx context.Context, o Options) ([]bridge.Finding, error) {
	domain, err := o.open(ctx, bridge.Config{MaxOperations: 10000})
	if err != nil {
		return nil, err
	}
	found, err := domain.Findings(ctx)
	return found, errors.Join(err, domain.Close(context.WithoutCancel(ctx)))
}

// Init writes a first overlay, or prints it if no file is named.
func Init(ctx context.Context, o Options) error {
	said := o.overlay()
	file := said.OverlayFile
	if _, err := os.Stat(file); file != "" && !errors.Is(err, fs.ErrNotExist) {
		return contracts.Errorf(contracts.CodeConflict, "%s is there already; \"confirm\" takes over what has changed", file)
	}
	said.OverlayFile = ""
	found, err := findings(ctx, o)
	if err != nil {
		return err
	}
	text, err := bridge.Draft(found)
	if err != nil {
		return err
	}
	if file == "" {
		_, err = o.Stdout.Write(text)
		Table(o.Stderr, found)
		return err
	}
	Table(o.Stdout, found)
	return os.WriteFile(file, text, 0o600)
}

// Check prints the classification of each operation.
func Check(ctx context.Context, o Options) error {
	found, err := findings(ctx, o)
	if err == nil {
		Table(o.Stdout, found)
	}
	return err
}

// Confirm writes the current definitions of the named operations, or of all, to the overlay.
func Confirm(ctx context.Context, o Options, names []string) error {
	file := o.overlay().OverlayFile
	if file == "" {
		return errors.New("--overlay names the file that is to be changed")
	}
	text, _, err := host.Overlay(o.Bridge)
	if err != nil {
		return err
	}
	found, err := findings(ctx, o)
	if err != nil {
		return err
	}
	next, changes, err := bridge.Repin(text, found, names)
	if err != nil {
		return err
	}
	for _, c := range changes {
		fmt.Fprintln(o.Stdout, c)
	}
	if len(changes) == 0 {
		fmt.Fprintln(o.Stdout, "nothing has changed")
		return nil
	}
	return os.WriteFile(file, next, 0o600)
}

// Table prints the classification of each operation.
func Table(w io.Writer, found []bridge.Finding) {
	served := 0
	for _, f := range found {
		class, name := string(f.Class), f.Capability
		if f.Served() {
			served++
		} else {
			class, name = "not served", "-"
		}
		fmt.Fprintf(w, "%-36s %-36s %-20s %s\n", contracts.CleanSummary(f.Operation), name, class, f.Why)
	}
	fmt.Fprintf(w, "%d of %d operations are served\n", served, len(found))
}
