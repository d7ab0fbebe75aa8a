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
)

// Host runs bridges inside the server.
type Host struct {
	// Dir is where each keeps its idempotency keys, and its baseline.
	Dir     string
	Lookup  func(name string) (value string, found bool)
	Control func(network, address string, c syscall.RawConn) error
	Now     func() time.Time
	Logger  *slog.Logger
}

// endTime bounds the end of a bridge.
const endTime = 5 * time.Second

// Serve gives the bridge of a domain, and what ends it. The service is reached when the
// bridge is first asked. One that is only tried keeps nothing.
func (h *Host) Serve(domain string, b contracts.Bridge, tried bool) (handler http.Handler, end func()) {
	w := &hostedBridge{host: h, name: domain, bridge: b, tried: tried}
	return w, func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if err := w.close(ctx); err != nil {
			h.Logger.WarnContext(ctx, "a bridge did not end as it should", slog.String("domain", domain), slog.Any("error", err))
		}
	}
}

// hostedBridge is a bridge that runs inside the server. It is opened when it is first asked, and
// again as long as that fails.
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

// ServeHTTP answers as the bridge does.
func (w *hostedBridge) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	d, err := w.current(r.Context(), r.URL.Path == "/manifest")
	if err != nil {
		w.host.Logger.WarnContext(r.Context(), "a bridge cannot be opened", slog.String("domain", w.name), slog.Any("error", err))
		bridge.Absent(out, r, err)
		return
	}
	d.ServeHTTP(out, r)
}

// current gives the bridge. With look, an overlay file that has changed is taken over.
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
	if err != nil { // what was said before stands
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
	source, err := Source(ctx, w.bridge, overlay, Reach{
		Lookup: w.host.Lookup, Control: w.host.Control, Logger: w.host.Logger,
		Changed: func() { domain.Changed() },
	})
	if err == nil {
		domain, err = bridge.New(cfg, source)
	}
	if err != nil {
		return errors.Join(err, w.keep())
	}
	w.domain, w.overlay = domain, text
	return nil
}

// service names a service, whatever is said of it.
func service(b contracts.Bridge) string {
	var at []string
	if b.MCP != nil {
		at = append([]string{b.MCP.URL}, b.MCP.Command...)
	} else {
		at = []string{b.OpenAPI.Document, b.OpenAPI.Base}
	}
	return contracts.HashBytes([]byte(strings.Join(at, "\x00")))[:12]
}

// keep gives up the keys.
func (w *hostedBridge) keep() error {
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
	return errors.Join(err, w.keep())
}
