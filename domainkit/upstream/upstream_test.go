package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/domainkit/upstream"
)

func noon() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) }

func retries() upstream.Retries {
	return upstream.Retries{Attempts: 3, BackoffMin: time.Millisecond, BackoffMax: 4 * time.Millisecond, MaxAnswer: 100, Now: noon}
}

// answers sends one answer after the other and repeats the last one.
type answers struct {
	list  []func(http.ResponseWriter)
	calls atomic.Int64
}

func (a *answers) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	n := int(a.calls.Add(1))
	a.list[min(n, len(a.list))-1](w)
}

func status(code int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, http.StatusText(code))
	}
}

// half sends less than its Content-Length.
func half(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "50")
	_, _ = io.WriteString(w, "half")
}

func read(t *testing.T, client *retryablehttp.Client, url string) (int, string, error) {
	t.Helper()
	req, err := retryablehttp.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, string(raw), err
}

func TestReadsAreTriedAgainWhereItHelps(t *testing.T) {
	t.Parallel()
	ok := status(http.StatusOK)
	tests := map[string]struct {
		answers []func(http.ResponseWriter)
		status  int
		calls   int64
	}{
		"a success":                         {[]func(http.ResponseWriter){ok}, 200, 1},
		"busy, then fine":                   {[]func(http.ResponseWriter){status(429), ok}, 200, 2},
		"broken, then half, then fine":      {[]func(http.ResponseWriter){status(502), half, ok}, 200, 3},
		"a refusal":                         {[]func(http.ResponseWriter){status(404), ok}, 404, 1},
		"broken for good":                   {[]func(http.ResponseWriter){status(500)}, 500, 3},
		"a wish that is longer than we may": {[]func(http.ResponseWriter){status(429, "Retry-After", "60"), ok}, 429, 1},
		"a wish of no time":                 {[]func(http.ResponseWriter){status(503, "Retry-After", "0"), ok}, 200, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			system := &answers{list: tt.answers}
			server := httptest.NewServer(system)
			t.Cleanup(server.Close)
			got, _, err := read(t, retries().Reads(server.Client(), upstream.Hooks{}), server.URL)
			if err != nil || got != tt.status || system.calls.Load() != tt.calls {
				t.Errorf("status %d after %d calls, %v", got, system.calls.Load(), err)
			}
		})
	}
}

func TestAnAnswerIsReadOneByteBeyondTheLimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	}))
	t.Cleanup(server.Close)
	_, body, err := read(t, retries().Reads(server.Client(), upstream.Hooks{}), server.URL)
	if err != nil || len(body) != 101 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestHooksTakePartInEachAttempt(t *testing.T) {
	t.Parallel()
	system := &answers{list: []func(http.ResponseWriter){status(500), status(502), status(200)}}
	server := httptest.NewServer(system)
	t.Cleanup(server.Close)
	turns := 0
	hooks := upstream.Hooks{
		Turn: func(context.Context) error { turns++; return nil },
		Mend: func(res *http.Response, body []byte) {
			if string(body) == http.StatusText(http.StatusBadGateway) {
				res.StatusCode = http.StatusNotFound
			}
		},
	}
	if got, _, err := read(t, retries().Reads(server.Client(), hooks), server.URL); err != nil || got != http.StatusNotFound || turns != 2 {
		t.Errorf("status %d after %d turns, %v", got, turns, err)
	}
	no := errors.New("no turn")
	refusing := upstream.Hooks{Turn: func(context.Context) error { return no }}
	before := system.calls.Load()
	if _, _, err := read(t, retries().Reads(server.Client(), refusing), server.URL); !errors.Is(err, no) || system.calls.Load() != before {
		t.Errorf("without a turn: %v, %d calls more", err, system.calls.Load()-before)
	}
}

func TestTheSystemsWishDecidesTheWait(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header string
		want   time.Duration
	}{
		"seconds":            {"7", 7 * time.Second},
		"a date":             {noon().Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		"a date in the past": {noon().Add(-time.Hour).Format(http.TimeFormat), 0},
		"less than nothing":  {"-3", 0},
		"something else":     {"soon", 0},
		"nothing":            {"", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := http.Header{"Retry-After": {tt.header}}
			if got := upstream.RetryAfter(header, noon()); got != tt.want {
				t.Errorf("a wish of %v, want %v", got, tt.want)
			}
			if got := retries().Wait(1, header); tt.want > 0 && got != tt.want {
				t.Errorf("a wait of %v, want %v", got, tt.want)
			}
		})
	}
	for attempt, most := range map[int]time.Duration{1: time.Millisecond, 2: 2 * time.Millisecond, 3: 4 * time.Millisecond, 40: 4 * time.Millisecond} {
		if got := retries().Wait(attempt, nil); got < most/2 || got > most {
			t.Errorf("the wait after attempt %d is %v, want %v to %v", attempt, got, most/2, most)
		}
	}
}
