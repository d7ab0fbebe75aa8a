package domainclient_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/domainclient"
)

const plainJSON = "application/json"

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status            int
		contentType, body string
		want              execution.ReplyKind
		says              string
	}{
		"200 with a result":            {200, plainJSON, `{"ok":true,"summary":"done"}`, execution.ReplyResult, ""},
		"200 with a refusal":           {200, plainJSON, `{"ok":false,"error":{"type":"not_found","message":"no"}}`, execution.ReplyResult, ""},
		"200 with bare JSON":           {200, plainJSON, `[1,2]`, execution.ReplyResult, ""},
		"200 with a page":              {200, "text/html", `<html>`, execution.ReplyBroken, "content type"},
		"200 with half an object":      {200, plainJSON, `{"ok":tr`, execution.ReplyBroken, "ToolResult"},
		"200 with nothing":             {200, plainJSON, ``, execution.ReplyBroken, "ToolResult"},
		"200 nested too deep":          {200, plainJSON, strings.Repeat("[", 200) + strings.Repeat("]", 200), execution.ReplyBroken, "deep"},
		"202 with an operation":        {202, plainJSON, `{"operation":"op-1"}`, execution.ReplyAccepted, ""},
		"202 without an operation":     {202, plainJSON, `{}`, execution.ReplyBroken, "operation"},
		"204":                          {204, "", ``, execution.ReplyBroken, "204"},
		"301":                          {301, "", ``, execution.ReplyBroken, "301"},
		"304":                          {304, "", ``, execution.ReplyRefused, "304"},
		"400 with a nested message":    {400, plainJSON, `{"error":{"message":"a is missing"}}`, execution.ReplyInvalid, "a is missing"},
		"400 with problem JSON":        {400, "application/problem+json", `{"title":"bad","detail":"a is missing"}`, execution.ReplyInvalid, "a is missing"},
		"401":                          {401, "", ``, execution.ReplyUnauthorized, "401"},
		"403":                          {403, "", ``, execution.ReplyUnauthorized, "403"},
		"404":                          {404, "", ``, execution.ReplyChanged, "404"},
		"409":                          {409, plainJSON, `{"message":"other parameters"}`, execution.ReplyConflict, "other parameters"},
		"410":                          {410, "", ``, execution.ReplyGone, "410"},
		"412":                          {412, "", ``, execution.ReplyChanged, "412"},
		"418":                          {418, "", ``, execution.ReplyRefused, "418"},
		"422 with a bare message":      {422, plainJSON, `{"error":"nonsense"}`, execution.ReplyRefused, "nonsense"},
		"429":                          {429, "", ``, execution.ReplyBusy, "429"},
		"500":                          {500, "", ``, execution.ReplyBroken, "500"},
		"502 with a page":              {502, "text/html", `<h1>Bad Gateway</h1>`, execution.ReplyBroken, "502"},
		"503":                          {503, plainJSON, `{"message":"overloaded\nat peak"}`, execution.ReplyBroken, "overloaded at peak"},
		"a status beyond the contract": {599, "", ``, execution.ReplyBroken, "599"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, serve(t, answer(tt.status, tt.contentType, tt.body)), nil)
			got := b.invoke(t, readCall())
			wantKind(t, got, tt.want)
			if !strings.Contains(got.Message, tt.says) {
				t.Errorf("message %q does not say %q", got.Message, tt.says)
			}
			if refused := b.dir.refused.Load() > 0; refused != (tt.status == 401) {
				t.Errorf("credential reported as refused: %v", refused)
			}
		})
	}
}

func TestResultIsKept(t *testing.T) {
	t.Parallel()
	body := `{"ok":true,"summary":"one\nline","facts":{"n":3},"data":[1],"artifacts":{"x":{"y":1}}}`
	got := setup(t, serve(t, answer(200, plainJSON, body)), nil).invoke(t, readCall())
	wantKind(t, got, execution.ReplyResult)
	if !got.Result.OK || got.Result.Summary != "one line" || got.Result.Facts["n"] != 3.0 || string(got.Result.Artifacts["x"]) != `{"y":1}` {
		t.Errorf("got %+v", got.Result)
	}
}

func TestAnswerIsHeldToItsSchema(t *testing.T) {
	t.Parallel()
	url := serve(t, answer(200, plainJSON, `{"ok":true,"facts":{"n":"three"}}`))
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
	for name, tt := range map[string]struct {
		call execution.Call
		ok   bool
	}{
		"a read that breaks it fails":                     {readCall(), false},
		"a write that breaks it is applied, with a fault": {writeCall(), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.call.Entry.Capability.OutputSchema = schema
			got := setup(t, url, nil).invoke(t, tt.call)
			wantKind(t, got, execution.ReplyResult)
			if got.Result.OK != tt.ok || len(got.Faults) == 0 {
				t.Errorf("ok %v with faults %v", got.Result.OK, got.Faults)
			}
		})
	}
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(202)
		_, _ = io.WriteString(w, `{"operation":"op-1","eta":9}`)
	})
	got := setup(t, url, nil).invoke(t, writeCall())
	want := execution.Reply{Kind: execution.ReplyAccepted, Operation: "op-1", RetryAfter: 7 * time.Second}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(contracts.Opaque{})); diff != "" {
		t.Error(diff)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := map[string]struct {
		header string
		want   time.Duration
	}{
		"seconds":                           {"120", 2 * time.Minute},
		"a date, by the domain's own clock": {date.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		"a date that has passed":            {date.Add(-time.Hour).Format(http.TimeFormat), 0},
		"less than nothing":                 {"-5", 0},
		"a year is cut to an hour":          {"31536000", time.Hour},
		"nonsense":                          {"soon", 0},
		"absent":                            {"", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", date.Format(http.TimeFormat))
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.WriteHeader(429)
			})
			if got := setup(t, url, nil).invoke(t, readCall()); got.RetryAfter != tt.want {
				t.Errorf("got %v, want %v", got.RetryAfter, tt.want)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var got contracts.ExecuteRequest
	var header http.Header
	var path string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header, path = r.Header, r.Method+" "+r.URL.Path
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		answer(200, plainJSON, `{"ok":true}`)(w, r)
	})
	b := setup(t, url+"/base/", nil)
	call := writeCall()
	b.dir.endpoints["alpha"] = b.at
	wantKind(t, b.invoke(t, call), execution.ReplyResult)
	if path != "POST /base/execute" {
		t.Errorf("asked %s", path)
	}
	want := contracts.ExecuteRequest{Capability: "do", Parameters: map[string]any{"a": 1.0}, Context: call.Context}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := header.Get("Authorization"); got != "Bearer secret of ALPHA_AUTH" {
		t.Errorf("authorization %q", got)
	}
	if form := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`); !form.MatchString(header.Get("traceparent")) {
		t.Errorf("traceparent %q", header.Get("traceparent"))
	}
	if _, sent := header["Idempotency-Key"]; sent {
		t.Error("the key is in the header of a call that did not ask for it")
	}
	call.SendKey = true
	b.invoke(t, call)
	if header.Get("Idempotency-Key") != "r1/n1/1" {
		t.Errorf("key in the header: %q", header.Get("Idempotency-Key"))
	}
}

func TestParametersAreAlwaysAnObject(t *testing.T) {
	t.Parallel()
	var body string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		answer(200, plainJSON, `{"ok":true}`)(w, r)
	})
	call := readCall()
	call.Parameters = nil
	setup(t, url, nil).invoke(t, call)
	if !strings.Contains(body, `"parameters":{}`) {
		t.Errorf("sent %s", body)
	}
}

func TestOneTraceForARun(t *testing.T) {
	t.Parallel()
	var traces []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		traces = append(traces, strings.Split(r.Header.Get("traceparent"), "-")[1])
		answer(200, plainJSON, `{"ok":true}`)(w, r)
	})
	b := setup(t, url, nil)
	other := readCall()
	other.Context.RunID = "r2"
	for _, call := range []execution.Call{readCall(), readCall(), other} {
		b.invoke(t, call)
	}
	if traces[0] != traces[1] || traces[0] == traces[2] {
		t.Errorf("trace ids %v: want the same for one run and another for another", traces)
	}
}

func TestNothingIsSent(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	count := func(http.ResponseWriter, *http.Request) { calls.Add(1) }
	url := serve(t, count)
	tls := httptest.NewUnstartedServer(http.HandlerFunc(count))
	tls.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	refuse := func(c *domainclient.Config) {
		c.Control = func(string, string, syscall.RawConn) error {
			return contracts.Errorf(contracts.CodeForbidden, "guarded")
		}
	}
	big := writeCall()
	big.Parameters = map[string]any{"x": strings.Repeat("x", contracts.MaxCallBytes)}
	stranger := writeCall()
	stranger.Entry.Domain = "omega"
	tests := map[string]struct {
		url    string
		auth   string
		change func(*domainclient.Config)
		call   execution.Call
		want   execution.ReplyKind
	}{
		"to a port where nobody listens":          {"http://127.0.0.1:1", "", nil, writeCall(), execution.ReplyNotSent},
		"to a name that does not resolve":         {"http://nobody.invalid", "", nil, writeCall(), execution.ReplyNotSent},
		"to a certificate that is not trusted":    {tls.URL, "", nil, writeCall(), execution.ReplyNotSent},
		"to an address that the guard refuses":    {url, "", refuse, writeCall(), execution.ReplyNotSent},
		"without the credential that is demanded": {url, "env:UNSET", nil, writeCall(), execution.ReplyUnauthorized},
		"with a credential written out":           {url, "Bearer x", nil, writeCall(), execution.ReplyUnauthorized},
		"to a domain that is not registered":      {url, "", nil, stranger, execution.ReplyChanged},
		"when the call is too large":              {url, "", nil, big, execution.ReplyInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.url, tt.change)
			b.at.Authorization = tt.auth
			b.dir.endpoints["alpha"] = b.at
			got := b.invoke(t, tt.call)
			wantKind(t, got, tt.want)
			if got.Message == "" {
				t.Error("it does not say why")
			}
		})
	}
	t.Cleanup(func() {
		if calls.Load() != 0 {
			t.Errorf("the domain was called %d times", calls.Load())
		}
	})
}

// Regression test: net/http replayed a POST with an Idempotency-Key header when a kept-alive
// connection broke, so one write was sent twice.
func TestLostWriteIsNotRepeated(t *testing.T) {
	t.Parallel()
	breaks := map[string]func(conn net.Conn) bool{
		"reset":         func(conn net.Conn) bool { reset(conn); return false },
		"closed":        func(net.Conn) bool { return false },
		"half a head":   func(conn net.Conn) bool { write(conn, "HTTP/1.1 200 OK\r\nContent-"); return false },
		"half a body":   func(conn net.Conn) bool { write(conn, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"); return false },
		"not even HTTP": func(conn net.Conn) bool { return write(conn, "SSH-2.0-OpenSSH\r\n\r\n") },
	}
	for name, breakIt := range breaks {
		for _, keyed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := serveWire(t, func(conn net.Conn, _ *http.Request, nth int) bool {
					if nth == 1 {
						return write(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}")
					}
					return breakIt(conn)
				})
				b := setup(t, w.url(), nil)
				call := writeCall()
				call.SendKey = keyed
				wantKind(t, b.invoke(t, call), execution.ReplyResult) // the connection is kept alive
				got := b.invoke(t, call)
				wantKind(t, got, execution.ReplyBroken)
				if n := w.requests.Load(); n != 2 {
					t.Errorf("the domain got %d requests for two calls", n)
				}
			})
		}
	}
}

func TestTimeOuts(t *testing.T) {
	t.Parallel()
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
	drip := func(conn net.Conn, text string) bool {
		for write(conn, text) {
			<-time.After(time.Millisecond)
		}
		return false
	}
	tests := map[string]func(conn net.Conn, r *http.Request, nth int) bool{
		"a domain that never answers": func(conn net.Conn, _ *http.Request, _ int) bool {
			_, _ = io.Copy(io.Discard, conn)
			return false
		},
		"a domain that drips its body": func(conn net.Conn, _ *http.Request, _ int) bool {
			return write(conn, head) && drip(conn, " ")
		},
		"a domain that drips its head": func(conn net.Conn, _ *http.Request, _ int) bool {
			return write(conn, "HTTP/1.1 200 OK\r\nX: ") && drip(conn, "x")
		},
	}
	for name, handle := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := writeCall()
			call.Timeout = 50 * time.Millisecond
			got := setup(t, serveWire(t, handle).url(), nil).invoke(t, call)
			wantKind(t, got, execution.ReplyBroken)
			if !got.Timeout {
				t.Errorf("not told as a time-out: %q", got.Message)
			}
		})
	}
}

func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	chunk := strings.Repeat("x", 1<<16)
	flood := func(conn net.Conn, head string) bool {
		for ok := write(conn, head); ok; ok = write(conn, chunk) {
		}
		return false
	}
	tests := map[string]struct {
		handle func(conn net.Conn, r *http.Request, nth int) bool
		says   string
	}{
		"an endless body": {func(conn net.Conn, _ *http.Request, _ int) bool {
			return flood(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\"")
		}, "larger"},
		"an endless head": {func(conn net.Conn, _ *http.Request, _ int) bool {
			return flood(conn, "HTTP/1.1 200 OK\r\nX-Long: ")
		}, "header"},
		"a packed body that nobody asked for": {func(conn net.Conn, _ *http.Request, _ int) bool {
			return write(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08")
		}, "encoded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := setup(t, serveWire(t, tt.handle).url(), nil).invoke(t, readCall())
			wantKind(t, got, execution.ReplyBroken)
			if !strings.Contains(got.Message, tt.says) {
				t.Errorf("%q does not say %q", got.Message, tt.says)
			}
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]execution.ReplyKind{
		http.StatusFound:             execution.ReplyBroken, // the usual response to an accepted form
		http.StatusSeeOther:          execution.ReplyBroken,
		http.StatusTemporaryRedirect: execution.ReplyRefused, // it redirects, so nothing was done here
		http.StatusPermanentRedirect: execution.ReplyRefused,
	} {
		var calls atomic.Int32
		target := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
		url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) })
		wantKind(t, setup(t, url, nil).invoke(t, readCall()), want)
		if calls.Load() != 0 {
			t.Errorf("%d: the credential went to another server", status)
		}
	}
}

func TestCancelledCallSaysNothingAboutTheDomain(t *testing.T) {
	t.Parallel()
	arrived, hang := make(chan struct{}, 8), make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case arrived <- struct{}{}:
			<-hang
		default:
		}
		answer(200, plainJSON, `{"ok":true}`)(w, r)
	})
	b := setup(t, url, func(c *domainclient.Config) { c.BreakerThreshold = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	replies := make(chan execution.Reply)
	go func() { replies <- b.invoker.Invoke(ctx, readCall()) }()
	<-arrived
	cancel()
	got := <-replies
	wantKind(t, got, execution.ReplyBroken)
	if got.Timeout {
		t.Error("a cancelled call was told as a time-out")
	}
	close(hang)
	wantKind(t, b.invoke(t, readCall()), execution.ReplyResult) // the breaker is still closed
}

func TestADomainThatIsGoneIsToldWithoutItsAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	got := setup(t, server.URL, nil).invoke(t, readCall())
	if got.Kind != execution.ReplyNotSent || got.Message != contracts.Unreachable {
		t.Errorf("got %s %q, want %q", got.Kind, got.Message, contracts.Unreachable)
	}
}
