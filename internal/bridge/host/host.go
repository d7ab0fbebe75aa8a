package host

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
)

// Host runs bridges inside the server. It is safe for concurrent use.
type Host struct {
	// PublicURL returns the URL of the server for people's browsers.
	PublicURL func() string
	// Keys decrypt the tokens of people; the first one encrypts.
	Keys [][]byte
	// Beside returns the dial guard for other hosts that a server names, such as its login server.
	Beside func(ctx context.Context, server string) (Control, error)

	// Dir holds the idempotency keys and the baseline of each bridge.
	Dir     string
	Lookup  func(name string) (value string, found bool)
	Control Control
	Now     func() time.Time
	Logger  *slog.Logger

	mu     sync.Mutex // guards the field below
	served map[string]*hostedBridge
}

// Control is called before every dial.
type Control = func(network, address string, c syscall.RawConn) error

// PagesPath is the path prefix of the bridges' login pages.
const PagesPath = "/bridges/"

// endTime bounds the shutdown of a bridge.
const endTime = 5 * time.Second

// Serve returns the handler of a domain's bridge, and a function that shuts it down. The service is
// opened on the first request. A probe stores nothing.
func (h *Host) Serve(domain string, b contracts.Bridge, probe bool) (handler http.Handler, end func()) {
	w := &hostedBridge{host: h, name: domain, bridge: b, tried: probe}
	if !probe {
		h.mu.Lock()
		if h.served == nil {
			h.served = map[string]*hostedBridge{}
		}
		h.served[domain] = w
		h.mu.Unlock()
	}
	return w, func() {
		h.mu.Lock()
		if h.served[domain] == w {
			delete(h.served, domain)
		}
		h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if err := w.close(ctx); err != nil {
			h.Logger.WarnContext(ctx, "a bridge did not end as it should", slog.String("domain", domain), slog.Any("error", err))
		}
	}
}

// ServeHTTP serves the login pages of the bridges, and nothing else of them.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	domain, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, PagesPath), "/")
	h.mu.Lock()
	b := h.served[domain]
	h.mu.Unlock()
	if b == nil {
		http.NotFound(w, r)
		return
	}
	d, err := b.current(r.Context(), false)
	if err != nil {
		h.Logger.WarnContext(r.Context(), "a bridge cannot be opened", slog.String("domain", domain), slog.Any("error", err))
		http.Error(w, "This cannot be opened just now; try again in a moment.", http.StatusServiceUnavailable)
		return
	}
	pages := d.Pages()
	if pages == nil {
		http.NotFound(w, r)
		return
	}
	http.StripPrefix(PagesPath+domain, pages).ServeHTTP(w, r)
}

// hostedBridge is a bridge inside the server. It is opened on the first request, and again after a
// failure.
type hostedBridge struct {
	host   *Host
	name   string
	bridge contracts.Bridge
	tried  bool

	mu      sync.Mutex // guards the fields below
	domain  *bridge.Domain
	keys    *sqlitestore.Store
	overlay []byte
	closed  bool
}

// ServeHTTP serves the domain of the bridge.
func (w *hostedBridge) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	d, err := w.current(r.Context(), r.URL.Path == "/manifest")
	if err != nil {
		w.host.Logger.WarnContext(r.Context(), "a bridge cannot be opened", slog.String("domain", w.name), slog.Any("error", err))
		bridge.ServeUnavailable(out, r, err)
		return
	}
	d.ServeHTTP(out, r)
}

// current returns the bridge. With look, it applies a changed overlay file.
func (w *hostedBridge) current(ctx context.Context, look bool) (*bridge.Domain, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the bridge is closed")
	case w.domain == nil:
		err := w.open(ctx)
		return w.domain, err
	case !look || overlayOf(w.bridge).OverlayFile == "":
		return w.domain, nil
	}
	text, parsed, err := Overlay(w.bridge)
	if err != nil { // keep the previous overlay
		w.host.Logger.WarnContext(ctx, "the overlay of a bridge cannot be read", slog.String("domain", w.name), slog.Any("error", err))
	} else if !bytes.Equal(text, w.overlay) {
		w.overlay = text
		w.domain.SetOverlay(parsed)
	}
	return w.domain, nil
}

func (w *hostedBridge) open(ctx context.Context) (err error) {
	text, overlay, err := Overlay(w.bridge)
	if err != nil {
		return err
	}
	cfg := bridge.Config{Domain: w.name, Overlay: overlay, Now: w.host.Now, Logger: w.host.Logger}
	if !w.tried {
		if err := os.MkdirAll(w.host.Dir, 0o700); err != nil {
			return err
		}
		file := filepath.Join(w.host.Dir, w.name)
		if w.keys, err = sqlitestore.Open(context.WithoutCancel(ctx), file+".db"); err != nil {
			return err
		}
		cfg.Store, cfg.Baseline = w.keys, bridge.BaselineFile(file+"-"+service(w.bridge)+".baseline.json")
	}
	var domain *bridge.Domain
	reach := Reach{
		Lookup: w.host.Lookup, Control: w.host.Control, Keys: w.host.Keys, Logger: w.host.Logger,
		Changed: func() { domain.Changed() },
	}
	if reach.Logins, err = w.logins(ctx, reach); err != nil {
		return errors.Join(err, w.closeKeys())
	}
	source, err := Source(ctx, w.bridge, overlay, reach)
	if err == nil {
		domain, err = bridge.New(cfg, source)
	}
	if err != nil {
		return errors.Join(err, w.closeKeys())
	}
	w.domain, w.overlay = domain, text
	return nil
}

// logins returns the configuration of people's logins, nil if all share one account. A probe only
// lists tools and needs no logins.
func (w *hostedBridge) logins(ctx context.Context, r Reach) (*mcp.LoginsConfig, error) {
	if w.tried || w.bridge.MCP == nil || w.bridge.MCP.Logins == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	said := w.bridge.MCP.Logins
	secret, err := r.secret(said.ClientSecret)
	if err != nil {
		return nil, err
	}
	guard, err := w.host.Beside(ctx, w.bridge.MCP.URL)
	if err != nil {
		return nil, err
	}
	return &mcp.LoginsConfig{
		Dir: filepath.Join(w.host.Dir, w.name+"-"+service(w.bridge)+".people"), Keys: w.host.Keys,
		PublicURL: strings.TrimRight(w.host.PublicURL(), "/") + PagesPath + w.name,
		Login:     mcp.Login{ClientID: said.ClientID, ClientSecret: secret, Scopes: said.Scopes, HTTP: bridge.HTTP{Control: guard}, Now: w.host.Now},
	}, nil
}

// service returns a short hash that identifies a service.
func service(b contracts.Bridge) string {
	var at []string
	if b.MCP != nil {
		at = append([]string{b.MCP.URL}, b.MCP.Command...)
	} else {
		at = []string{b.OpenAPI.Document, b.OpenAPI.Base}
	}
	return contracts.HashBytes([]byte(strings.Join(at, "\x00")))[:12]
}

// closeKeys closes the key store, if it is open.
func (w *hostedBridge) closeKeys() error {
	keys := w.keys
	w.keys = nil
	if keys == nil {
		return nil
	}
	return keys.Close()
}

func (w *hostedBridge) close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	var err error
	if w.domain != nil {
		err = w.domain.Close(ctx)
	}
	return errors.Join(err, w.closeKeys())
}
