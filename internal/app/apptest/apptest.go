// Package apptest is for tests of the whole: it runs a server in the test's own
// process and gives the clients and the log of it.
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

// models are shared by all servers of a test program: a catalog is trained once,
// which takes most of a start.
var models = &memory{kept: map[string][]byte{}}

// memory keeps trained models in this process.
type memory struct {
	mu   sync.Mutex // guards kept
	kept map[string][]byte
}

// Load returns what was kept under an id.
func (m *memory) Load(_ context.Context, id string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[id]
}

// Store keeps it.
func (m *memory) Store(_ context.Context, id string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[id] = data
}

// Start starts a server, which is stopped when the test ends. It shares trained models
// with other servers of the test program.
func Start(tb testing.TB, cfg app.Config) *app.App {
	tb.Helper()
	if cfg.Models == nil {
		cfg.Models = models
	}
	return StartAlone(tb, cfg)
}

// StartAlone starts a server that keeps its trained models in its store.
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

// Stop stops a server; it may have been stopped before.
func Stop(tb testing.TB, server *app.App) {
	tb.Helper()
	if err := server.Stop(context.Background()); err != nil {
		tb.Errorf("stop the server: %v", err)
	}
}

// Key reads a file that holds a key, such as App.AdminKeyFile.
func Key(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // the test names the file
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Client makes a client.
func Client(tb testing.TB, cfg client.Config) *client.Client {
	tb.Helper()
	c, err := client.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Log keeps what a server logged, and may be read while it is written.
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

// String returns all that was logged so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
