// Package bridges runs bridges as commands: it serves one, writes a first overlay,
// shows what its operations count as, and takes over what has changed.
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
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/internal/bridge"
)

// Options are what all bridges take.
type Options struct {
	Domain, Overlay, Listen, Keys string
	// Authorization and TokenEnv name variables of the environment.
	Authorization, TokenEnv string
	Getenv                  func(string) string
	Stdout, Stderr          io.Writer
}

// Open makes the source of a bridge. Changed is to be told of changes, and is set
// before the source is asked.
type Open func(o Options, overlay bridge.Overlay, changed func()) (bridge.Source, error)

// Header gives the value of the header Authorization: that of the variable that
// "env:NAME" names, "" for none.
func (o Options) Header() (string, error) {
	if o.Authorization == "" {
		return "", nil
	}
	name, ok := strings.CutPrefix(o.Authorization, "env:")
	if !ok {
		return "", errors.New("--authorization must be env:NAME; the secret itself stays in the environment")
	}
	value := o.Getenv(name)
	if value == "" {
		return "", fmt.Errorf("the variable %s is not set", name)
	}
	return value, nil
}

// HTTP says how the service is reached.
func (o Options) HTTP() (bridge.HTTP, error) {
	value, err := o.Header()
	if err != nil || value == "" {
		return bridge.HTTP{}, err
	}
	return bridge.HTTP{Authorize: func(r *http.Request) error {
		r.Header.Set("Authorization", value)
		return nil
	}}, nil
}

// overlay reads the overlay; a file that is not there is none.
func (o Options) overlay() (text []byte, parsed bridge.Overlay, err error) {
	if o.Overlay == "" {
		return nil, parsed, nil
	}
	if text, err = os.ReadFile(o.Overlay); err != nil {
		return nil, parsed, err
	}
	parsed, err = bridge.ParseOverlay(text)
	return text, parsed, err
}

// open makes a bridge that is not served yet.
func (o Options) open(cfg bridge.Config, open Open) (*bridge.Domain, error) {
	_, overlay, err := o.overlay()
	if err != nil {
		return nil, err
	}
	var domain *bridge.Domain
	source, err := open(o, overlay, func() {
		if domain != nil {
			domain.Changed()
		}
	})
	if err != nil {
		return nil, err
	}
	cfg.Domain, cfg.Overlay = o.Domain, overlay
	cfg.Logger = slog.New(slog.NewTextHandler(o.Stderr, nil))
	domain, err = bridge.New(cfg, source)
	return domain, err
}

// Serve serves a bridge as a domain until ctx ends.
func Serve(ctx context.Context, o Options, open Open) error {
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
		defer store.Close() // all that matters was committed
		cfg.Store = store
	}
	domain, err := o.open(cfg, open)
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

// findings asks the service once.
func findings(ctx context.Context, o Options, open Open) ([]bridge.Finding, error) {
	domain, err := o.open(bridge.Config{MaxOperations: 10000}, open)
	if err != nil {
		return nil, err
	}
	found, err := domain.Findings(ctx)
	return found, errors.Join(err, domain.Close(context.WithoutCancel(ctx)))
}

// Init writes a first overlay, and shows what it would be.
func Init(ctx context.Context, o Options, open Open) error {
	file := o.Overlay
	if _, err := os.Stat(file); file != "" && !errors.Is(err, fs.ErrNotExist) {
		return contracts.Errorf(contracts.CodeConflict, "%s is there already; \"confirm\" takes over what has changed", file)
	}
	o.Overlay = ""
	found, err := findings(ctx, o, open)
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

// Check shows what each operation counts as.
func Check(ctx context.Context, o Options, open Open) error {
	found, err := findings(ctx, o, open)
	if err == nil {
		Table(o.Stdout, found)
	}
	return err
}

// Confirm takes over what has changed of the operations, all if none are named,
// into the overlay.
func Confirm(ctx context.Context, o Options, open Open, names []string) error {
	if o.Overlay == "" {
		return errors.New("--overlay names the file that is to be changed")
	}
	text, _, err := o.overlay()
	if err != nil {
		return err
	}
	found, err := findings(ctx, o, open)
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
	return os.WriteFile(o.Overlay, next, 0o600)
}

// Table shows what became of each operation.
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
