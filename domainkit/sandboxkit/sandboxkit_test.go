package sandboxkit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// till is the smallest sandbox: it counts coins.
type till struct {
	*sandboxkit.Control
	coins int // written by one request at a time in these tests
}

type said struct {
	status int
	text   string
}

func words() sandboxkit.Answers[said] {
	return sandboxkit.Answers[said]{
		sandboxkit.TooManyRequests:  {http.StatusTooManyRequests, "later"},
		sandboxkit.ServerError:      {http.StatusInternalServerError, "jammed"},
		sandboxkit.UnavailableAfter: {http.StatusServiceUnavailable, "proxy"},
		sandboxkit.HTMLAnswer:       {http.StatusOK, "<html>"},
	}
}

func (s *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := s.Arm(r)
	s.Log(r, s.play(w, r, fault), fault)
}

func (s *till) play(w http.ResponseWriter, r *http.Request, fault sandboxkit.Fault) int {
	early, cut := words().Before(fault, w, r)
	if cut {
		return 0
	}
	if early != nil {
		return send(w, *early)
	}
	s.coins++
	out, cut := words().After(fault, w, r, said{http.StatusOK, "kept"})
	if cut {
		return 0
	}
	return send(w, out)
}

func send(w http.ResponseWriter, out said) int {
	w.WriteHeader(out.status)
	_, _ = io.WriteString(w, out.text)
	return out.status
}

func setup(t *testing.T) (*till, *httptest.Server) {
	t.Helper()
	s := &till{Control: sandboxkit.NewControl(7, slog.New(slog.DiscardHandler))}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}

// ask posts, because a read would be resent after a broken connection. It returns the status (0:
// broken), the text and Retry-After.
func ask(t *testing.T, url string) (int, string, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", ""
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw), res.Header.Get("Retry-After")
}

func TestAFaultComesBeforeOrAfterTheWork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault  sandboxkit.Fault
		status int
		text   string
		later  string
		coins  int
	}{
		"none":                             {sandboxkit.Fault{}, 200, "kept", "", 1},
		"an answer instead of the work":    {sandboxkit.Fault{Kind: sandboxkit.ServerError, RetryAfter: "7"}, 500, "jammed", "", 0},
		"an answer that says when":         {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, RetryAfter: "7"}, 429, "later", "7", 0},
		"a proxy that waited too short":    {sandboxkit.Fault{Kind: sandboxkit.UnavailableAfter, RetryAfter: "3"}, 503, "proxy", "3", 1},
		"a page after the work":            {sandboxkit.Fault{Kind: sandboxkit.HTMLAnswer}, 200, "<html>", "", 1},
		"cut before":                       {sandboxkit.Fault{Kind: sandboxkit.ResetBefore}, 0, "", "", 0},
		"cut after":                        {sandboxkit.Fault{Kind: sandboxkit.ResetAfter}, 0, "", "", 1},
		"a little slow":                    {sandboxkit.Fault{Kind: sandboxkit.Slow, DelayMS: 1}, 200, "kept", "", 1},
		"a little slow to answer":          {sandboxkit.Fault{Kind: sandboxkit.SlowAfter, DelayMS: 1}, 200, "kept", "", 1},
		"a kind that has no answer":        {sandboxkit.Fault{Kind: sandboxkit.InvalidGrant}, 200, "kept", "", 1},
		"a late kind that has no answer":   {sandboxkit.Fault{Kind: sandboxkit.ServerErrorAfter}, 200, "kept", "", 1},
		"a rule for another method":        {sandboxkit.Fault{Kind: sandboxkit.ServerError, Method: http.MethodGet}, 200, "kept", "", 1},
		"a rule for another path":          {sandboxkit.Fault{Kind: sandboxkit.ServerError, PathPrefix: "/out"}, 200, "kept", "", 1},
		"a rule for another end of a path": {sandboxkit.Fault{Kind: sandboxkit.ServerError, PathSuffix: "/out"}, 200, "kept", "", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, server := setup(t)
			s.Inject(tt.fault)
			status, text, later := ask(t, server.URL+"/in")
			server.Close() // waits for the request, even if its connection was cut
			if status != tt.status || text != tt.text || later != tt.later || s.coins != tt.coins {
				t.Errorf("%d %q, retry after %q, %d coins", status, text, later, s.coins)
			}
		})
	}
}

func TestRulesSayWhichRequestsFail(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule sandboxkit.Fault
		want string
	}{
		"once, unless told otherwise": {sandboxkit.Fault{}, "x...."},
		"from the third on, twice":    {sandboxkit.Fault{Nth: 3, Count: 2}, "..xx."},
		"always":                      {sandboxkit.Fault{Count: -1}, "xxxxx"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := setup(t)
			tt.rule.Kind = sandboxkit.ServerError
			s.Inject(tt.rule)
			if got := armed(s, 5); got != tt.want || !s.Fired() {
				t.Errorf("%s, want %s", got, tt.want)
			}
			s.ClearFaults()
			if got := armed(s, 3); got != "..." || s.Fired() {
				t.Errorf("after clearing: %s", got)
			}
		})
	}
}

// armed marks which of n requests fail.
func armed(s *till, n int) string {
	var out strings.Builder
	for range n {
		if s.Arm(httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/in", nil)).Kind == "" {
			out.WriteByte('.')
			continue
		}
		out.WriteByte('x')
	}
	return out.String()
}

func TestTheSeedDecidesTheDraws(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	half := sandboxkit.Fault{Kind: sandboxkit.ServerError, Count: -1, Probability: 0.5}
	s.Inject(half)
	first := armed(s, 40)
	if !strings.Contains(first, "x") || !strings.Contains(first, ".") {
		t.Errorf("no dice: %s", first)
	}
	s.Forget()
	s.Inject(half)
	if again := armed(s, 40); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if a, b := sandboxkit.NewRand(7, "a").Uint64(), sandboxkit.NewRand(7, "b").Uint64(); a == b {
		t.Error("two purposes draw the same")
	}
}

func TestRequestsAreKeptWithTheirFate(t *testing.T) {
	t.Parallel()
	s, server := setup(t)
	s.Inject(sandboxkit.Fault{Kind: sandboxkit.ResetBefore, PathSuffix: "/out"})
	ask(t, server.URL+"/in?n=1")
	ask(t, server.URL+"/out")
	server.Close()
	want := []sandboxkit.Request{
		{Method: http.MethodPost, Path: "/in", Query: "n=1", Status: 200},
		{Method: http.MethodPost, Path: "/out", Fault: sandboxkit.ResetBefore},
	}
	if diff := cmp.Diff(want, s.Requests()); diff != "" {
		t.Error(diff)
	}
	s.Forget()
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("%d requests after forgetting", len(got))
	}
}

func TestServePrintsTheAddressAndStops(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- sandboxkit.Serve(ctx, "127.0.0.1:0", s, write, func(url string) any { return map[string]string{"url": url} })
	}()
	var printed struct{ URL string }
	if err := json.NewDecoder(read).Decode(&printed); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := ask(t, printed.URL); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("after the stop: %v", err)
	}
}

// closedPipe is a writer without a reader.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestServeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	access := func(url string) any { return url }
	if err := sandboxkit.Serve(t.Context(), "nowhere:no", s, new(bytes.Buffer), access); err == nil || !strings.Contains(err.Error(), "listen on nowhere:no") {
		t.Errorf("an address of nowhere: %v", err)
	}
	if err := sandboxkit.Serve(t.Context(), "127.0.0.1:0", s, closedPipe{}, access); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("an address that nobody reads: %v", err)
	}
}
