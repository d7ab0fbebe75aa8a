package sqlite_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

// The environment variables that make this test binary a child process. One makes it write to the
// database until it is killed, the other only open it.
const (
	childPath  = "MANIFOLD_TEST_SQLITE_CHILD"
	childOpens = "MANIFOLD_TEST_SQLITE_OPENS"
)

// writers is the number of writing goroutines in the child.
const writers = 8

// TestChild is not a test of its own. TestKill runs it in a child process.
func TestChild(t *testing.T) {
	path := os.Getenv(childPath)
	if path == "" {
		t.Skip("only as a child of TestKill")
	}
	s := open(t, path)
	acknowledged := make(chan string)
	for w := range writers {
		lease := create(t, s, fmt.Sprintf("r%d", w), execution.Transition{})
		go func() {
			for n := 1; ; n++ {
				tr := execution.Transition{Lease: lease, Nodes: node(fmt.Sprintf("n%d", n)), Events: []contracts.Event{{Type: contracts.EventNodeEnd}}}
				if _, err := s.Commit(t.Context(), tr); err != nil {
					t.Errorf("commit: %v", err)
					return
				}
				acknowledged <- fmt.Sprintf("%s %d\n", lease.RunID, n)
			}
		}()
	}
	for line := range acknowledged {
		if _, err := os.Stdout.WriteString(line); err != nil {
			return
		}
	}
}

// TestChildOpens is not a test of its own. openElsewhere runs it.
func TestChildOpens(t *testing.T) {
	path := os.Getenv(childOpens)
	if path == "" {
		t.Skip("only as a child of another test")
	}
	s, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err == nil {
		err = s.Close()
	}
	if _, err := fmt.Fprintf(os.Stdout, "code=%s\n", contracts.CodeOf(err)); err != nil {
		t.Fatal(err)
	}
}

// openElsewhere opens a database in another process and returns the code of the error, or "".
func openElsewhere(t *testing.T, path string) string {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildOpens$")
	child.Env = append(os.Environ(), childOpens+"="+path)
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(out), "code=")
	if !found {
		t.Fatalf("the child said %q", out)
	}
	code, _, _ := strings.Cut(rest, "\n")
	return code
}

// TestKill kills a writing process without warning, and checks that all acknowledged writes are
// stored.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	child := exec.Command(os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), childPath+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]int{}
	lines := bufio.NewScanner(out)
	for count := 0; lines.Scan(); count++ {
		run, n := parse(t, lines.Text())
		acknowledged[run] = n
		switch count {
		case 20:
			_, err := openAll(t.Context(), sqlite.Config{Path: path})
			wantCode(t, err, contracts.CodeConflict) // the live process holds the lock
		case 300:
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
	if len(acknowledged) != writers {
		t.Fatalf("only %d runs were written to", len(acknowledged))
	}
	wantAll(t, open(t, path), acknowledged)
}

func parse(t *testing.T, line string) (run string, n int) {
	t.Helper()
	run, number, ok := strings.Cut(line, " ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		t.Fatalf("the child says %q", line)
	}
	return run, n
}

// wantAll checks that no acknowledged write is lost, that every run is consistent, and that the
// events have no gaps.
func wantAll(t *testing.T, s *store, acknowledged map[string]int) {
	t.Helper()
	stored := 0
	for run, n := range acknowledged {
		got, err := s.LoadRun(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Nodes) < n {
			t.Errorf("run %s has %d nodes, %d were acknowledged", run, len(got.Nodes), n)
		}
		stored += len(got.Nodes)
	}
	events, err := s.Events(t.Context(), "s1", 0, 0)
	if err != nil || len(events) != stored {
		t.Errorf("%d events for %d nodes, %v", len(events), stored, err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}
