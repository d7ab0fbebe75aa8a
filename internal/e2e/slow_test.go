package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// TestASlowListenerIsDroppedAndComesBack has somebody stop reading while far
// more happens than fits between the two ends. Nobody waits for them, they are
// given up, and find the rest when they come back.
func TestASlowListenerIsDroppedAndComesBack(t *testing.T) {
	t.Parallel()
	if !longTests() {
		t.Skip("it fills four megabytes of a socket; MANIFOLD_NIGHTLY=1 runs it")
	}
	p := startProcess(t)
	d := newDepot(t, "depot")
	p.register(d.registration())
	first := p.run(call("depot.peek", map[string]any{"id": "a"}))
	p.ended(first.RunIDs[0])
	slow := p.sluggish(first.SessionID)
	for range 40 { // fills the connection
		p.reads(first.SessionID, 100)
	}
	for range 120 { // and what the server keeps for it
		p.reads(first.SessionID, 1)
	}
	want := p.newest(first.SessionID)
	if n := p.count(p.rita, first.SessionID, 0, want); n != want {
		t.Fatalf("somebody who reads got %d of %d events", n, want)
	}
	seen := slow.drain(t)
	if seen == 0 || seen >= want {
		t.Fatalf("the slow reader was not dropped: it saw %d of %d events", seen, want)
	}
	if n := p.count(p.rita, first.SessionID, seen, want); n != want-seen {
		t.Errorf("after %d, %d events came, want %d", seen, n, want-seen)
	}
	t.Logf("dropped after %d of %d events", seen, want)
}

// reads runs a plan of so many reads in a session.
func (p *process) reads(session string, many int) {
	p.t.Helper()
	var reads []contracts.Intent
	for n := range many {
		reads = append(reads, call("depot.peek", map[string]any{"id": fmt.Sprint(strings.Repeat("a long name ", 14), n)}))
	}
	r, err := p.runWith(contracts.PlanRequest{Intents: reads}, contracts.RunPlan{SessionID: session})
	if err != nil {
		p.t.Fatal(err)
	}
	p.ended(r.RunIDs[len(r.RunIDs)-1])
}

// newest returns the number of a session's last event.
func (p *process) newest(session string) int64 {
	p.t.Helper()
	last := int64(0)
	for {
		events, err := p.rita.Events(p.t.Context(), session, last, 1000)
		if err != nil {
			p.t.Fatal(err)
		}
		if len(events) == 0 {
			return last
		}
		last = events[len(events)-1].Seq
	}
}

// count listens until the last event, and counts what comes.
func (p *process) count(c *client.Client, session string, after, last int64) int64 {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	n := int64(0)
	for e, err := range c.Stream(ctx, session, after) {
		if err != nil {
			p.t.Fatal(err)
		}
		if n++; e.Seq >= last {
			break
		}
	}
	return n
}

// sluggard has a connection with little room and does not read from it.
type sluggard struct {
	conn  net.Conn
	lines *bufio.Reader
	seen  int64
}

func (p *process) sluggish(session string) *sluggard {
	p.t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		if err := raw.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }); err != nil {
			return err
		}
		return failed
	}}
	conn, err := dialer.DialContext(p.t.Context(), "tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET /v1/sessions/%s/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", session, p.keys[1])
	if err != nil {
		p.t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		p.t.Fatal(err)
	}
	s := &sluggard{conn: conn, lines: bufio.NewReaderSize(conn, 512)}
	for s.seen == 0 {
		if err := s.line(); err != nil {
			p.t.Fatal(err)
		}
	}
	return s
}

// line reads one line, and checks that no event is missing.
func (s *sluggard) line() error {
	text, err := s.lines.ReadString('\n')
	if err != nil {
		return err
	}
	if id, ok := strings.CutPrefix(text, "id: "); ok {
		n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 64)
		if err != nil || n != s.seen+1 {
			return fmt.Errorf("event %q follows %d", id, s.seen)
		}
		s.seen = n
	}
	return nil
}

// drain reads what is left until the server ends the connection, and gives the
// last event of it.
func (s *sluggard) drain(t *testing.T) int64 {
	t.Helper()
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for {
		err := s.line()
		if err, timeout := err.(net.Error); timeout && err.Timeout() { //nolint:errorlint // it comes as it is from the connection
			t.Fatalf("the server keeps the connection; after event %d nothing came", s.seen)
		}
		if err != nil && strings.Contains(err.Error(), "follows") {
			t.Fatal(err)
		}
		if err != nil {
			return s.seen
		}
	}
}
