package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// downtime is how long a killed server stays away.
func downtime() time.Duration {
	if longTests() {
		return 30 * time.Second
	}
	return 2 * time.Second
}

// ear is somebody who listens to a run.
type ear struct {
	name string
	mu   sync.Mutex // guards seqs
	seqs []int64
	done chan error
}

func newEar(name string) *ear { return &ear{name: name, done: make(chan error, 1)} }

func (e *ear) hear(seq int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seqs = append(e.seqs, seq)
}

func (e *ear) heard() []int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]int64{}, e.seqs...)
}

// ends waits until the stream has ended, and compares what came with what is
// on record.
func (e *ear) ends(t *testing.T, want []int64) {
	t.Helper()
	select {
	case err := <-e.done:
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
	case <-time.After(patience):
		t.Fatalf("%s: the stream does not end after %v", e.name, e.heard())
	}
	if diff := cmp.Diff(want, e.heard()); diff != "" {
		t.Errorf("%s (-on record +received):\n%s", e.name, diff)
	}
}

// follow listens by the client package, to the end of a run.
func follow(ctx context.Context, c *client.Client, session, run string) *ear {
	e := newEar("client.Stream")
	go func() {
		for event, err := range c.Stream(ctx, session, 0) {
			if err != nil {
				e.done <- err
				return
			}
			e.hear(event.Seq)
			if event.Type == contracts.EventDone && event.RunID == run {
				break
			}
		}
		e.done <- nil
	}()
	return e
}

// watch listens by "manifold watch", a process of its own.
func (p *process) watch(run string) *ear {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.t.Context()))
	p.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, manifold(p.t), "watch", "--json", run)
	cmd.Dir, cmd.Env = p.t.TempDir(), append(os.Environ(), "MANIFOLD_URL="+p.url, "MANIFOLD_KEY="+p.keys[1])
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	e := newEar("manifold watch")
	go func() {
		for events := json.NewDecoder(out); ; {
			var event contracts.Event
			if err := events.Decode(&event); err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				e.done <- errors.Join(err, cmd.Wait())
				return
			}
			e.hear(event.Seq)
		}
	}()
	return e
}

// onRecord returns the numbers of a session's events, which have no gap.
func (p *process) onRecord(session string) []int64 {
	p.t.Helper()
	events, err := p.rita.Events(p.t.Context(), session, 0, 1000)
	if err != nil {
		p.t.Fatal(err)
	}
	var seqs []int64
	for n, e := range events {
		if e.Seq != int64(n)+1 {
			p.t.Fatalf("event %d has the number %d", n+1, e.Seq)
		}
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// TestListenersMissNothingWhileTheServerIsDown kills the server under its
// listeners, keeps it down, and starts it at the same address and data.
func TestListenersMissNothingWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	p.addr = strings.TrimPrefix(p.url, "http://")
	d := newDepot(t, "depot")
	p.register(d.registration())
	r := p.run(call("depot.slow", map[string]any{"id": "a"}), d.put("keyed", "a", "1"), d.put("plain", "b", "2"), d.put("keyed", "c", "3"))
	run := r.RunIDs[0]
	ears := []*ear{follow(t.Context(), p.rita, r.SessionID, run), p.watch(run)}
	for _, e := range ears {
		eventually(t, e.name, func() (int, bool) { n := len(e.heard()); return n, n > 0 })
	}
	d.awaitSlow(t)
	away := func(end func() error) {
		if err := end(); err != nil {
			t.Error(err)
		}
		time.Sleep(downtime()) // it is really away for so long
		p.start()
	}
	away(func() error { p.kill(); return nil })
	p.approve(p.gates(run, 3)[0])
	away(func() error { p.kill(); return nil })
	p.approve(p.gates(run, 2)[0])
	away(p.quit) // and in good order
	close(d.release)
	p.approve(p.gates(run, 1)[0])
	p.sound(p.ended(run))
	want := p.onRecord(r.SessionID)
	for _, e := range ears {
		e.ends(t, want)
	}
}

// badLine stands between a listener and its server, and treats each connection
// in another way until it has no more ideas.
type badLine struct {
	proxy http.Handler
	n     atomic.Int64
	at    [2]atomic.Int64 // when the 429 was given, and when the next one came
}

const (
	lineRefuses = 2 // connections get 503
	lineBusy    = 3 // then one gets 429
	lineResets  = 5 // then two are reset
	lineCuts    = 17
)

func (b *badLine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := b.n.Add(1)
	switch {
	case n <= lineRefuses:
		http.Error(w, "the proxy has lost its server", http.StatusServiceUnavailable)
	case n <= lineBusy:
		b.at[0].Store(time.Now().UnixNano())
		w.Header().Set("Retry-After", "2")
		http.Error(w, "slow down", http.StatusTooManyRequests)
	case n <= lineResets:
		b.at[1].CompareAndSwap(0, time.Now().UnixNano())
		reset(w)
	case n <= lineCuts: // each time after another number of bytes: within a line, a number, a character
		b.proxy.ServeHTTP(&shortWriter{ResponseWriter: w, left: 500 + 37*int(n)}, r)
	default:
		b.proxy.ServeHTTP(w, r)
	}
}

// shortWriter cuts the connection after some bytes.
type shortWriter struct {
	http.ResponseWriter

	left int
}

func (s *shortWriter) Write(b []byte) (int, error) {
	if len(b) < s.left {
		s.left -= len(b)
		return s.ResponseWriter.Write(b)
	}
	_, _ = s.ResponseWriter.Write(b[:s.left])
	_ = http.NewResponseController(s.ResponseWriter).Flush()
	panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is told to cut a connection
}

func (s *shortWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func TestAListenerStandsABadLine(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	d := newDepot(t, "depot")
	p.register(d.registration())
	var reads []contracts.Intent
	for n := range 12 {
		reads = append(reads, call("depot.peek", map[string]any{"id": fmt.Sprint("ä€😀 ", n)}))
	}
	r := p.run(reads...)
	p.ended(r.RunIDs[0])
	target, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	line := &badLine{proxy: proxy}
	server := httptest.NewServer(line)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL, Key: p.keys[1]})
	if err != nil {
		t.Fatal(err)
	}
	follow(t.Context(), c, r.SessionID, r.RunIDs[0]).ends(t, p.onRecord(r.SessionID))
	if n := line.n.Load(); n <= lineResets+2 {
		t.Errorf("only %d connections were needed: nothing was cut", n)
	}
	if waited := time.Duration(line.at[1].Load() - line.at[0].Load()); waited < 2*time.Second {
		t.Errorf("the listener came back after %s, and was told to wait for 2 s", waited)
	}
}

// TestAServerThatIsAskedToGoSaysGoodbye reads a stream as it is on the wire.
func TestAServerThatIsAskedToGoSaysGoodbye(t *testing.T) {
	t.Parallel()
	p := startProcess(t)
	d := newDepot(t, "depot")
	p.register(d.registration())
	r := p.run(d.put("keyed", "a", "1"))
	p.gates(r.RunIDs[0], 1)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/v1/sessions/"+r.SessionID+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.keys[1])
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for line := ""; line != "id: 1\n"; {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.quit(); err != nil {
		t.Error(err)
	}
	body, err := io.ReadAll(lines)
	if err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
	if !strings.HasSuffix(string(body), "event: bye\ndata: {\"reason\":\"the server is going away; come back\"}\n\n") {
		t.Errorf("%s", body)
	}
}
