package postgres_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
)

// detached returns a context that outlives the test.
func detached(t *testing.T) context.Context {
	t.Helper()
	return context.WithoutCancel(t.Context())
}

func TestOpen(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	address := server.URL(t)
	open(t, address)
	t.Run("several processes may begin at once", func(t *testing.T) {
		t.Parallel()
		fresh := server.URL(t)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				s, err := postgres.Open(detached(t), postgres.Config{URL: fresh, Conns: 2})
				if err != nil {
					t.Error(err)
					return
				}
				_ = s.Close()
			})
		}
		all.Wait()
	})
	t.Run("the tables of a newer release are refused", func(t *testing.T) {
		t.Parallel()
		newer := server.URL(t)
		open(t, newer)
		if _, err := connect(t, newer).Exec(t.Context(), `UPDATE manifold_migration SET version = 99`); err != nil {
			t.Fatal(err)
		}
		_, err := postgres.Open(t.Context(), postgres.Config{URL: newer})
		wantCode(t, err, contracts.CodeUnsupported)
		if !strings.Contains(err.Error(), "newer release") {
			t.Errorf("it does not say why: %v", err)
		}
	})
	for name, c := range map[string]struct {
		url  string
		code contracts.Code
	}{
		"no address":                                {"", contracts.CodeInvalid},
		"an address that is none":                   {"postgres://%zz", contracts.CodeInvalid},
		"a server that does not answer":             {"postgres://127.0.0.1:1/x", contracts.CodeUnavailable},
		"a server that may forget what it was told": {address + "&synchronous_commit=off", contracts.CodeUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), postgres.Config{URL: c.url})
			wantCode(t, err, c.code)
		})
	}
}

// wire is a proxy between a store and its server that can cut the connection instead of returning
// the response to a COMMIT.
type wire struct {
	listener net.Listener
	socket   string
	// cut is the number of next commits that are executed but whose responses are lost. lose is
	// the number of transactions cut off before the commit. refuse rejects connections.
	cut, lose atomic.Int64
	refuse    atomic.Bool
	// trips counts the round trips.
	trips atomic.Int64
}

// between returns the URL of a schema through a wire.
func between(t *testing.T, address string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, socket: filepath.Join(query.Get("host"), ".s.PGSQL.5432")}
	query.Del("host")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = listener.Addr().String(), query.Encode()
	go w.serve()
	t.Cleanup(func() { _ = listener.Close() })
	return w, u.String()
}

func (w *wire) serve() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", w.socket)
		if err != nil || w.refuse.Load() {
			_ = client.Close()
			continue
		}
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		}()
		go w.answer(client, server)
	}
}

func (w *wire) answer(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		w.trips.Add(int64(bytes.Count(buffer[:n], []byte("Z\x00\x00\x00\x05"))))
		if err != nil || bytes.Contains(buffer[:n], []byte("COMMIT\x00")) && w.cut.Add(-1) >= 0 {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil || bytes.Contains(buffer[:n], []byte("BEGIN\x00")) && w.lose.Add(-1) >= 0 {
			return
		}
	}
}

func TestTheAnswerToACommitIsLost(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	direct := server.URL(t)
	w, address := between(t, direct)
	s, witness := open(t, address), open(t, direct)
	lease := create(t, s, "r1")
	w.cut.Store(1)
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1")}); err != nil {
		t.Errorf("it was committed, and the caller was told: %v", err)
	}
	if w.cut.Load() > 0 {
		t.Fatal("no answer was lost")
	}
	if got := nodes(t, witness, "r1"); got != "n1" {
		t.Errorf("stored: %q", got)
	}
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n2")}); err != nil {
		t.Errorf("the store did not recover: %v", err)
	}
}

func TestACommitThatNeverArrivesIsNone(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	direct := server.URL(t)
	w, address := between(t, direct)
	s, witness := open(t, address), open(t, direct)
	lease := create(t, s, "r1")
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1")}); err != nil {
		t.Fatal(err)
	}
	w.lose.Store(1)
	_, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n2")})
	wantCode(t, err, contracts.CodeUnavailable)
	if w.lose.Load() > 0 {
		t.Fatal("nothing was cut off")
	}
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n3")}); err != nil {
		t.Errorf("the store did not recover: %v", err)
	}
	if got := nodes(t, witness, "r1"); got != "n1 n3" {
		t.Errorf("stored: %q; want n1 and n3", got)
	}
}

func TestAServerThatIsGone(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	direct := server.URL(t)
	w, address := between(t, direct)
	s := open(t, address)
	lease := create(t, s, "r1")
	w.refuse.Store(true)
	if _, err := connect(t, direct).Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'manifold'`); err != nil {
		t.Fatal(err)
	}
	// The first attempt may fail because the pooled connections are dead, which is also valid.
	for range 3 {
		_, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1")})
		wantCode(t, err, contracts.CodeUnavailable)
		_, err = s.LoadRun(t.Context(), "r1")
		wantCode(t, err, contracts.CodeUnavailable)
		_, err = s.RenewLeases(t.Context(), "one", []execution.Lease{lease}, time.Hour)
		wantCode(t, err, contracts.CodeUnavailable)
	}
	w.refuse.Store(false)
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n2")}); err != nil {
		t.Errorf("the server is back: %v", err)
	}
	if got := nodes(t, s, "r1"); got != "n2" {
		t.Errorf("stored: %q; want n2, and nothing that was refused", got)
	}
}

// childAddress is the environment variable that makes this test binary a child process that
// writes until it is killed.
const childAddress = "MANIFOLD_TEST_POSTGRES_CHILD"

// writers is the number of writing goroutines in the child.
const writers = 8

// TestChild is not a test of its own. TestKill runs it in a child process.
func TestChild(t *testing.T) {
	address := os.Getenv(childAddress)
	if address == "" {
		t.Skip("only as a child of TestKill")
	}
	s := open(t, address)
	acknowledged := make(chan string)
	for w := range writers {
		lease := create(t, s, fmt.Sprintf("r%d", w))
		go func() {
			for n := 1; ; n++ {
				tr := execution.Transition{Lease: lease, Nodes: node(fmt.Sprintf("n%d", n)), Events: []contracts.Event{{SessionID: "s1", Type: contracts.EventNodeEnd}}}
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

// TestKill kills a writing process without warning, and checks from another process that all
// acknowledged writes are stored.
func TestKill(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).URL(t)
	witness := open(t, address)
	child := exec.Command(os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), childAddress+"="+address)
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
		run, number, _ := strings.Cut(lines.Text(), " ")
		if acknowledged[run], err = strconv.Atoi(number); err != nil {
			t.Fatalf("the child says %q", lines.Text())
		}
		if count == 300 {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || len(acknowledged) != writers {
		t.Fatalf("the child ended by itself, or wrote to %d runs only", len(acknowledged))
	}
	wantAll(t, witness, acknowledged)
}

// wantAll checks that no acknowledged write is lost, that every run is consistent, and that the
// events have no gaps.
func wantAll(t *testing.T, s *store, acknowledged map[string]int) {
	t.Helper()
	var all int
	for run, n := range acknowledged {
		got := len(strings.Fields(nodes(t, s, run)))
		if got < n {
			t.Errorf("run %s has %d nodes, %d were acknowledged", run, got, n)
		}
		all += got
	}
	events, err := s.Events(t.Context(), "s1", 0, 0)
	if err != nil || len(events) != all {
		t.Errorf("%d events for %d nodes, %v", len(events), all, err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
}

func TestASilentProcessHoldsNothingForLong(t *testing.T) {
	t.Parallel()
	address := pgtest.Start(t).URL(t)
	s := open(t, address+"&idle_in_transaction_session_timeout=300ms")
	lease := create(t, s, "r1")
	entered := make(chan struct{})
	silent := make(chan error, 1)
	// This simulates an operating system that suspends a process inside a transaction.
	go func() { silent <- s.FallSilent(detached(t), "r1", entered) }()
	<-entered
	other := open(t, address)
	if _, err := other.Commit(t.Context(), execution.Transition{Lease: lease, Nodes: node("n1")}); err != nil {
		t.Errorf("the row is still held: %v", err)
	}
	wantCode(t, <-silent, contracts.CodeUnavailable)
}
