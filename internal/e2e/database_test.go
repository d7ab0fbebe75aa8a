package e2e_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/pgtest"
)

// line is the way from servers to a database, which can be cut and mended.
type line struct {
	socket string

	mu    sync.Mutex // guards the fields below
	down  bool
	conns map[net.Conn]bool
	// tries counts the connections that were asked for, most is how many were open
	// at once.
	tries, most int
}

// lineTo gives the address of a database by way of a line.
func lineTo(t *testing.T, address string) (*line, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	l := &line{socket: filepath.Join(query.Get("host"), ".s.PGSQL.5432"), conns: map[net.Conn]bool{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.pass(conn)
		}
	}()
	query.Del("host")
	query.Set("sslmode", "disable")
	u.Host, u.RawQuery = listener.Addr().String(), query.Encode()
	return l, u.String()
}

func (l *line) pass(conn net.Conn) {
	defer conn.Close()
	server, err := net.Dial("unix", l.socket)
	if err != nil {
		return
	}
	defer server.Close()
	l.mu.Lock()
	down := l.down
	l.tries++
	l.conns[conn] = true
	l.most = max(l.most, len(l.conns))
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, conn)
	}()
	if down {
		return
	}
	go func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	}()
	_, _ = io.Copy(conn, server)
}

// cut lets nothing through, and ends what was open.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for conn := range l.conns {
		_ = conn.Close()
	}
	clear(l.conns)
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

// counted returns the connections that were asked for and the most that were open at
// once, since it was asked last.
func (l *line) counted() (tries, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tries, most = l.tries, l.most
	l.tries, l.most = 0, len(l.conns)
	return tries, most
}

func TestADatabaseThatIsGoneForAWhile(t *testing.T) {
	t.Parallel()
	l, address := lineTo(t, pgtest.Start(t).URL(t))
	p := newProcess(t, address)
	p.start()
	p.keys[0] = adminKey(t, p.dir)
	p.admin = p.with(p.keys[0])
	p.rita, p.keys[1] = p.person("rita", "operator")
	p.otto, p.keys[2] = p.person("otto", "approver")
	d := newDepot(t, "depot")
	p.register(d.registration())
	response := p.run(call("depot.slow", map[string]any{"id": "s"}), d.put("keyed", "a", "1"), d.put("keyed", "b", "2"))
	run := response.RunIDs[0]
	gates := p.gates(run, 2)
	d.awaitSlow(t)
	listener := follow(t.Context(), p.rita, response.SessionID, run)

	l.cut()
	close(d.release) // the read ends while nothing can be stored
	for range 2 {
		status, body, again := p.get("/v1/runs/" + run)
		if status != http.StatusServiceUnavailable || again < 1 || !strings.Contains(body, `"unavailable"`) {
			t.Errorf("GET without a database: %d, Retry-After %d, %s", status, again, body)
		}
		_, err := p.otto.Approve(t.Context(), gates[0], "", client.Opt{})
		if contracts.CodeOf(err) != contracts.CodeUnavailable {
			t.Errorf("a decision without a database: %v", err)
		}
	}
	if status, body, _ := p.get("/ready"); status != http.StatusServiceUnavailable {
		t.Errorf("it says it is ready: %d %s", status, body)
	}

	l.mend()
	eventually(t, "the server to be ready", func() (int, bool) {
		status, _, _ := p.get("/ready")
		return status, status == http.StatusOK
	})
	for _, gate := range p.gates(run, 2) {
		p.approve(gate)
	}
	view := p.ended(run)
	if view.State != contracts.RunCompleted || d.done("a") != 1 || d.done("b") != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
	listener.ends(t, p.onRecord(response.SessionID))
	p.sound(view)
}

// get asks as rita and returns the answer as it came, with its Retry-After.
func (p *process) get(path string) (status int, body string, retryAfter int) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if path != "/ready" {
		req.Header.Set("Authorization", "Bearer "+p.keys[1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	retryAfter, _ = strconv.Atoi(res.Header.Get("Retry-After"))
	return res.StatusCode, string(raw), retryAfter
}
