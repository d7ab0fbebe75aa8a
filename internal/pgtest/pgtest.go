// Package pgtest gives tests a real PostgreSQL: a server of their own in a
// temporary folder, or the one that an address names. It is not for programs.
//
// A machine without the server's programs skips such tests, unless
// REQUIRE_POSTGRES is set; then they fail.
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

// Variables of the environment.
const (
	// envURL names a server to use instead of starting one.
	envURL = "TEST_POSTGRES_URL"
	// envRequire makes a missing server a failure.
	envRequire = "REQUIRE_POSTGRES"
)

// Server is a PostgreSQL server that lasts as long as the test that asked for
// it.
type Server struct{ url *url.URL }

// Start returns a server, which t and its subtests can share. It takes a second
// or two, so a package starts few.
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

// URL is the address of a schema that nobody else uses; it is dropped when the
// test has ended. Every connection to the address sees only this schema.
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

// exec runs a statement on a connection of its own, also when the test has
// ended.
func (s *Server) exec(t *testing.T, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url.String())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }() // there is nothing left to lose
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// answers waits until the server takes connections.
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
