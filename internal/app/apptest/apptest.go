// Package apptest runs a server in the process of a test and provides its clients and its log.
package apptest

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/internal/app"
)

// models is shared by all servers of a test program, so that a catalog is trained only once.
// Training takes most of a start.
var models = &memory{kept: map[string][]byte{}}

// memory is a local.ModelCache in memory.
type memory struct {
	mu   sync.Mutex // guards kept
	kept map[string][]byte
}

// Load returns the model with an id, or nil.
func (m *memory) Load(_ context.Context, id string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[id]
}

// Store stores a model.
func (m *memory) Store(_ context.Context, id string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[id] = data
}

// Start starts a server, which is stopped at the end of the test. It shares trained models with
// other servers of the test program.
func Start(tb testing.TB, cfg app.Config) *app.App {
	tb.Helper()
	if cfg.Models == nil {
		cfg.Models = models
	}
	return StartAlone(tb, cfg)
}

// StartAlone is Start for a server that caches trained models in its store.
func StartAlone(tb testing.TB, cfg app.Config) *app.App {
	tb.Helper()
	server, err := app.New(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { Stop(tb, server) })
	if err := server.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return server
}

// Stop stops a server. It may be called twice.
func Stop(tb testing.TB, server *app.App) {
	tb.Helper()
	if err := server.Stop(context.Background()); err != nil {
		tb.Errorf("stop the server: %v", err)
	}
}

// Key reads a key file, such as App.AdminKeyFile.
func Key(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // the test names the file
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Client returns a new client.
func Client(tb testing.TB, cfg client.Config) *client.Client {
	tb.Helper()
	c, err := client.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Log collects the log output of a server. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the log so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
