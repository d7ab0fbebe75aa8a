package pgtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/internal/pgtest"
)

func TestSchemasDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for range 2 {
		conn, err := pgx.Connect(t.Context(), server.URL(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), "CREATE TABLE thing (id int)"); err != nil {
			t.Error(err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestKilledTest is run and killed by the next test.
func TestKilledTest(t *testing.T) {
	if os.Getenv("TEST_TO_KILL") == "" {
		t.Skip("only for TestAKilledTestLeavesNothingBehind")
	}
	u, err := url.Parse(pgtest.Start(t).URL(t))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintln(os.Stderr, u.Query().Get("host"))
	select {}
}

func TestAKilledTestLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if os.Getenv("TEST_POSTGRES_URL") != "" {
		t.Skip("a server that others started stays")
	}
	pgtest.Start(t) // or skip
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledTest$")
	cmd.Env = append(os.Environ(), "TEST_TO_KILL=1", "TEST_POSTGRES_URL=")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("it says nothing")
	}
	if _, err := os.Stat(line.Text()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		if _, err := os.Stat(line.Text()); errors.Is(err, fs.ErrNotExist) {
			return // otherwise the test times out
		}
	}
}
