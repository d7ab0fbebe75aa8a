// Package pgtest provides a PostgreSQL server for tests: a temporary one in a directory of its
// own, or the one that an environment variable names. It is not for programs.
//
// Without installed server programs such tests are skipped, or fail if REQUIRE_POSTGRES is set.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// The environment variables.
const (
	// envURL is the URL of a server to use instead of starting one.
	envURL = "TEST_POSTGRES_URL"
	// envRequire makes a missing server a test failure.
	envRequire = "REQUIRE_POSTGRES"
)

// Server is a PostgreSQL server that runs until the end of the test that started it.
type Server struct{ url *url.URL }

// Start returns a server, which t and its subtests can share. Starting takes one or two seconds,
// so a package should start few.
func Start(t *testing.T) *Server {
	t.Helper()
	if address := os.Getenv(envURL); address != "" {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatalf("%s: %v", envURL, err)
		}
		return &Server{u}
	}
	bin, err := programs()
	if err != nil && os.Getenv(envRequire) != "" {
		t.Fatalf("%v (%s is set)", err, envRequire)
	}
	if err != nil {
		t.Skip(err)
	}
	return start(t, bin)
}

// URL returns the URL of a new schema, which is dropped at the end of the test. Connections to
// this URL see only this schema.
func (s *Server) URL(t *testing.T) string {
	t.Helper()
	schema := "test_" + strings.ToLower(rand.Text())
	s.exec(t, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { s.exec(t, "DROP SCHEMA "+schema+" CASCADE") })
	u, query := *s.url, s.url.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

// exec executes a statement on a connection of its own. It works after the end of the test.
func (s *Server) exec(t *testing.T, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }() // nothing is lost with it
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// answers waits until the server accepts connections.
func (s *Server) answers(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.url.String())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("no connection: %w", err)
		}
	}
}
