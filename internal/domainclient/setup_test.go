package domainclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// directory maps names to domains.
type directory struct {
	endpoints map[string]registry.Endpoint
	refused   atomic.Int32
}

func (d *directory) Endpoint(name string) (registry.Endpoint, bool) {
	e, ok := d.endpoints[name]
	return e, ok
}

func (d *directory) Unauthorized(string) { d.refused.Add(1) }

// bundle is a client with one domain, "alpha", behind a handler.
type bundle struct {
	client  *domainclient.Client
	invoker *domainclient.Invoker
	dir     *directory
	at      registry.Endpoint
}

func setup(t *testing.T, url string, change func(*domainclient.Config)) *bundle {
	t.Helper()
	cfg := domainclient.Config{Lookup: func(name string) (string, bool) {
		return "Bearer secret of " + name, name != "UNSET"
	}}
	if change != nil {
		change(&cfg)
	}
	client, err := domainclient.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	at := registry.Endpoint{Domain: "alpha", URL: url, Authorization: "env:ALPHA_AUTH"}
	dir := &directory{endpoints: map[string]registry.Endpoint{"alpha": at}}
	return &bundle{client: client, invoker: client.Invoker(dir), dir: dir, at: at}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// answer returns a handler with a fixed response.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func entry(class contracts.SideEffectClass) *contracts.CapabilityEntry {
	return &contracts.CapabilityEntry{
		Domain:     "alpha",
		Capability: &contracts.Capability{Name: "do", Schema: json.RawMessage(`{"type":"object"}`)},
		Policy:     contracts.Policy{SideEffectClass: class},
		Digest:     "d1",
	}
}

func readCall() execution.Call {
	return execution.Call{
		Entry: entry(contracts.ClassRead), Parameters: map[string]any{"a": 1}, Timeout: 10 * time.Second,
		Context: contracts.ExecuteContext{RunID: "r1", NodeID: "n1", Attempt: 1},
	}
}

func writeCall() execution.Call {
	c := readCall()
	c.Entry = entry(contracts.ClassWriteIrreversible)
	c.Context.IdempotencyKey = "r1/n1/1"
	return c
}

func (b *bundle) invoke(t *testing.T, c execution.Call) execution.Reply {
	t.Helper()
	return b.invoker.Invoke(t.Context(), c)
}

func wantKind(t *testing.T, got execution.Reply, want execution.ReplyKind) {
	t.Helper()
	if got.Kind != want {
		t.Errorf("got %s (%s), want %s", got.Kind, got.Message, want)
	}
}

// wire is a server on the byte level, for behaviour that net/http does not support.
type wire struct {
	listener net.Listener
	requests atomic.Int32
	group    sync.WaitGroup
}

// serveWire passes each request to handle, with its number on the connection. handle returns
// false to close the connection.
func serveWire(t *testing.T, handle func(conn net.Conn, r *http.Request, nth int) bool) *wire {
	t.Helper()
	var listening net.ListenConfig
	listener, err := listening.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener}
	w.group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.group.Go(func() { w.serve(conn, handle) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.group.Wait()
	})
	return w
}

func (w *wire) url() string { return "http://" + w.listener.Addr().String() }

func (w *wire) serve(conn net.Conn, handle func(net.Conn, *http.Request, int) bool) {
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	for nth := 1; ; nth++ {
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.requests.Add(1)
		if !handle(conn, r, nth) {
			return
		}
	}
}

// reset closes a connection so that the peer receives a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func write(conn net.Conn, text string) bool {
	_, err := io.WriteString(conn, text)
	return err == nil
}
