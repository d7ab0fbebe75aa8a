package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
)

// frame is one server-sent event.
type frame struct{ id, name, data string }

// listen opens a stream and returns its frames until it ends.
func (s *site) listen(ctx context.Context, who, path string, headers ...string) (<-chan frame, int) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.text[who])
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // the reader closes it
	if err != nil {
		s.t.Fatal(err)
	}
	out := make(chan frame, 1000)
	go func() {
		defer close(out)
		defer res.Body.Close()
		readFrames(res.Body, out)
	}()
	return out, res.StatusCode
}

func readFrames(body io.Reader, out chan<- frame) {
	var f frame
	for lines := bufio.NewScanner(body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case lines.Text() == "":
			if f != (frame{}) {
				out <- f
			}
			f = frame{}
		case name == "id":
			f.id = value
		case name == "event":
			f.name = value
		case name == "data":
			f.data = value
		case name == "" && value == "keep-alive":
			out <- frame{name: "keep-alive"}
		}
	}
}

// take returns the next frame that is not a keep-alive.
func take(t *testing.T, frames <-chan frame) frame {
	t.Helper()
	for {
		select {
		case f, ok := <-frames:
			if !ok {
				t.Fatal("the stream has ended")
			}
			if f.name != "keep-alive" {
				return f
			}
		case <-time.After(10 * time.Second):
			t.Fatal("nothing comes")
		}
	}
}

func TestAStreamReplaysThenTells(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session, gate := s.waiting(s.rita)
	before, err := s.rita.Events(t.Context(), session.SessionID, 0, 0)
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	path := "/v1/sessions/" + session.SessionID + "/stream"
	all, _ := s.listen(t.Context(), "rita", path)
	last, _ := s.listen(t.Context(), "rita", path, "Last-Event-ID", fmt.Sprint(before[len(before)-1].Seq))
	later, _ := s.listen(t.Context(), "rita", path+fmt.Sprintf("?after=%d", before[len(before)-1].Seq-1))
	lost, _ := s.listen(t.Context(), "rita", path+"?after=1000000")
	run, _ := s.listen(t.Context(), "rita", "/v1/runs/"+gate.RunID+"/stream")
	for _, e := range before {
		if f := take(t, all); f.id != fmt.Sprint(e.Seq) || !strings.Contains(f.data, string(e.Type)) {
			t.Fatalf("%+v, want %+v", f, e)
		}
	}
	if f := take(t, later); f.id != fmt.Sprint(before[len(before)-1].Seq) {
		t.Errorf("%+v", f)
	}
	if f := take(t, lost); f.name != "reset" {
		t.Errorf("%+v", f)
	}
	if f := take(t, lost); f.id != "1" {
		t.Errorf("%+v", f)
	}
	if _, err := s.otto.Approve(t.Context(), gate, "", client.Opt{Wait: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	want := before[len(before)-1].Seq + 1
	for _, frames := range []<-chan frame{all, last, later} {
		if f := take(t, frames); f.id != fmt.Sprint(want) {
			t.Errorf("%+v, want %d", f, want)
		}
	}
	var names []string
	for f := range run { // it ends by itself
		names = append(names, f.name)
	}
	if names[len(names)-1] != "bye" {
		t.Errorf("the end of the run: %v", names)
	}
	after, err := s.rita.Events(t.Context(), session.SessionID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, status := s.listen(t.Context(), "rita", "/v1/runs/"+gate.RunID+"/stream", "Last-Event-ID", fmt.Sprint(after[len(after)-1].Seq)); status != http.StatusNoContent {
		t.Errorf("after the end: %d", status)
	}
	for _, bad := range []string{"x", "-1"} {
		if _, status := s.listen(t.Context(), "rita", path, "Last-Event-ID", bad); status != http.StatusBadRequest {
			t.Errorf("place %q: %d", bad, status)
		}
	}
}

func TestAQuietStreamIsKeptAndEndsWithItsKeyAndWithTheServer(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *app.Config) {
		c.Heartbeat, c.WriteTimeout, c.ReadTimeout = 20*time.Millisecond, time.Second, time.Second
	})
	session, _ := s.waiting(s.rita)
	key, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: "rita", Roles: []string{"operator"}})
	if err != nil {
		t.Fatal(err)
	}
	s.text["second"] = key.Text
	path := "/v1/sessions/" + session.SessionID + "/stream"
	mine, _ := s.listen(t.Context(), "rita", path)
	other, _ := s.listen(t.Context(), "second", path)
	beats := 0
	for begun := time.Now(); time.Since(begun) < 1500*time.Millisecond; { // longer than the server's write timeout
		if f, ok := <-mine; !ok {
			t.Fatal("the stream was cut")
		} else if f.name == "keep-alive" {
			beats++
		}
	}
	if beats < 3 {
		t.Errorf("%d signs of life", beats)
	}
	if err := s.admin.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	last := frame{}
	for f := range other {
		last = f
	}
	if last.name != "bye" || !strings.Contains(last.data, "key") {
		t.Errorf("after the key was revoked: %+v", last)
	}
	if err := s.server.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	for f := range mine {
		last = f
	}
	if last.name != "bye" || !strings.Contains(last.data, "come back") {
		t.Errorf("at the end: %+v", last)
	}
}

// TestAClientComesBackWhereItWas cuts every connection after a few bytes.
func TestAClientComesBackWhereItWas(t *testing.T) {
	t.Parallel()
	s := setup(t)
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	cutting := newCutting(t, proxy)
	rita, err := client.New(client.Config{URL: cutting, Key: s.text["rita"]})
	if err != nil {
		t.Fatal(err)
	}
	session, gate := s.waiting(s.rita)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	var got []int64
	approved := false
	for e, err := range rita.Stream(ctx, session.SessionID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Seq)
		if e.Type == contracts.EventInterrupt && !approved {
			approved = true
			if _, err := s.otto.Approve(t.Context(), gate, "", client.Opt{}); err != nil {
				t.Fatal(err)
			}
		}
		if e.Type == contracts.EventDone {
			break
		}
	}
	all, err := s.rita.Events(t.Context(), session.SessionID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for _, e := range all {
		want = append(want, e.Seq)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all, received:\n%s", diff)
	}
	for _, err := range rita.Stream(ctx, "ses_none", 0) {
		if contracts.CodeOf(err) != contracts.CodeNotFound {
			t.Errorf("%v", err)
		}
	}
}

// TestAThousandListeners measures the cost of a thousand readers of one session, and the delay until an
// event has reached all of them.
func TestAThousandListeners(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it opens a thousand connections")
	}
	const many = 1000
	s := setup(t)
	session, gate := s.waiting(s.rita)
	events, err := s.rita.Events(t.Context(), session.SessionID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := events[len(events)-1].Seq
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ready, arrived := make(chan bool, many), make(chan time.Time, many)
	var work sync.WaitGroup
	for range many {
		work.Go(func() { s.await(ctx, session.SessionID, last, ready, arrived) })
	}
	for range many {
		if !<-ready {
			t.Fatal("a reader could not connect")
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	begun := time.Now()
	if _, err := s.otto.Approve(t.Context(), gate, "", client.Opt{}); err != nil {
		t.Fatal(err)
	}
	var delays []time.Duration
	for range many {
		select {
		case at := <-arrived:
			delays = append(delays, at.Sub(begun))
		case <-time.After(30 * time.Second):
			t.Fatalf("only %d have heard of it", len(delays))
		}
	}
	slices.Sort(delays)
	t.Logf("%d readers: %.1f KiB of heap and stack for each (both ends), an event reaches half after %s, all after %s",
		many, float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/many/1024, delays[many/2], delays[many-1])
	stop()
	work.Wait()
}

// await listens until the first event arrives.
func (s *site) await(ctx context.Context, session string, after int64, ready chan<- bool, arrived chan<- time.Time) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/v1/sessions/%s/stream?after=%d", s.url, session, after), nil)
	if err != nil {
		ready <- false
		return
	}
	req.Header.Set("Authorization", "Bearer "+s.text["rita"])
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		ready <- false
		return
	}
	defer res.Body.Close()
	ready <- true
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data: ") {
			arrived <- time.Now()
			return
		}
	}
}

// newCutting serves a handler and cuts each stream after its third event.
func newCutting(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/stream") {
			handler.ServeHTTP(w, r)
			return
		}
		ctx, cut := context.WithCancel(r.Context())
		defer cut()
		handler.ServeHTTP(&cutter{ResponseWriter: w, cut: cut}, r.WithContext(ctx))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

type cutter struct {
	http.ResponseWriter

	cut  func()
	seen int
}

func (c *cutter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	if c.seen += strings.Count(string(p), "data: "); c.seen >= 3 {
		c.cut()
	}
	return n, err
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func TestAStreamThatNeverRestsEndsWithItsKey(t *testing.T) {
	t.Parallel()
	s := setup(t, func(c *app.Config) { c.Heartbeat = time.Second })
	session, _ := s.waiting(s.rita)
	key, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: "rita", Roles: []string{"operator"}})
	if err != nil {
		t.Fatal(err)
	}
	s.text["second"] = key.Text
	frames, _ := s.listen(t.Context(), "second", "/v1/sessions/"+session.SessionID+"/stream")
	if err := s.admin.RevokeKey(t.Context(), key.ID); err != nil {
		t.Fatal(err)
	}
	ended := make(chan frame, 1)
	go func() {
		last := frame{}
		for f := range frames {
			last = f
		}
		ended <- last
	}()
	for deadline := time.Now().Add(6 * time.Second); time.Now().Before(deadline); {
		if _, err := s.rita.Say(t.Context(), session.SessionID, "what is the stock price of Apple", client.Opt{}); err != nil {
			t.Fatal(err)
		}
		select {
		case last := <-ended:
			if last.name != "bye" || !strings.Contains(last.data, "key") {
				t.Errorf("%+v", last)
			}
			return
		default:
		}
	}
	t.Error("it goes on as long as something happens")
}
