package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// serve returns a client of a server that calls answer; call counts the requests from 1.
func serve(t *testing.T, cfg client.Config, answer func(w http.ResponseWriter, r *http.Request, call int)) (*client.Client, *atomic.Int64) {
	t.Helper()
	calls := &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, int(calls.Add(1)))
	}))
	t.Cleanup(server.Close)
	cfg.URL = server.URL + "/"
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, calls
}

func problem(w http.ResponseWriter, status int, p contracts.Problem) {
	w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p)
}

func TestOnlyWhatIsHarmlessToRepeatIsRepeated(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		call   func(context.Context, *client.Client) error
		status int
		calls  int64
	}{
		"a read": {func(ctx context.Context, c *client.Client) error {
			_, err := c.Run(ctx, "r", client.Opt{})
			return err
		}, 503, 3},
		"a start with a key of its own": {func(ctx context.Context, c *client.Client) error {
			_, err := c.StartSession(ctx, contracts.StartSession{Message: "x"}, client.Opt{})
			return err
		}, 502, 3},
		"a decision with a key of its own": {func(ctx context.Context, c *client.Client) error {
			_, err := c.Decide(ctx, "g", contracts.Resume{Decision: contracts.DecisionReject}, client.Opt{})
			return err
		}, 503, 3},
		"a key that is made": {func(ctx context.Context, c *client.Client) error {
			_, err := c.CreateKey(ctx, contracts.KeySpec{})
			return err
		}, 503, 1},
		"a deletion": {func(ctx context.Context, c *client.Client) error { return c.DeleteSession(ctx, "s") }, 503, 1},
		"a read that was too often": {func(ctx context.Context, c *client.Client) error {
			_, err := c.Run(ctx, "r", client.Opt{})
			return err
		}, 429, 1},
		"a read that is refused": {func(ctx context.Context, c *client.Client) error {
			_, err := c.Run(ctx, "r", client.Opt{})
			return err
		}, 403, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys := make(chan string, 10)
			c, calls := serve(t, client.Config{Retries: 2}, func(w http.ResponseWriter, r *http.Request, _ int) {
				keys <- r.Header.Get("Idempotency-Key")
				w.WriteHeader(tt.status)
			})
			if err := tt.call(t.Context(), c); err == nil {
				t.Error("no error")
			}
			if calls.Load() != tt.calls {
				t.Errorf("%d calls, want %d", calls.Load(), tt.calls)
			}
			close(keys)
			first := <-keys
			for key := range keys {
				if key != first {
					t.Errorf("the key changed from %q to %q", first, key)
				}
			}
		})
	}
}

func TestARepeatSendsTheWholeBodyAgain(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 2)
	c, _ := serve(t, client.Config{}, func(w http.ResponseWriter, r *http.Request, call int) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		if call == 1 {
			panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler cuts a connection
		}
		_, _ = w.Write([]byte(`{"session_id":"s"}`))
	})
	session, err := c.StartSession(t.Context(), contracts.StartSession{Message: "x"}, client.Opt{})
	if err != nil || session.SessionID != "s" {
		t.Fatalf("%+v %v", session, err)
	}
	if first, again := <-bodies, <-bodies; first != again || first != `{"message":"x"}` {
		t.Errorf("%q, then %q", first, again)
	}
}

func TestProblemsBecomeErrorsWithCodes(t *testing.T) {
	t.Parallel()
	want := &contracts.Error{
		Code: contracts.CodeStaleApproval, Message: "the action has changed",
		Faults: []contracts.Fault{{Pointer: "/x", Message: "y"}}, Detail: map[string]any{"first": "approve"},
	}
	tests := map[string]struct {
		answer func(http.ResponseWriter)
		want   contracts.Code
	}{
		"a problem": {func(w http.ResponseWriter) {
			problem(w, 409, contracts.Problem{Code: want.Code, Detail: want.Message, Faults: want.Faults, Data: want.Detail})
		}, contracts.CodeStaleApproval},
		"a page of a proxy":        {func(w http.ResponseWriter) { http.Error(w, "<html>", http.StatusGatewayTimeout) }, contracts.CodeUnavailable},
		"a redirect":               {func(w http.ResponseWriter) { w.Header().Set("Location", "/login"); w.WriteHeader(302) }, contracts.CodeInternal},
		"a login page":             {func(w http.ResponseWriter) { http.Error(w, "log in", http.StatusUnauthorized) }, contracts.CodeUnauthorized},
		"a page that is not there": {func(w http.ResponseWriter) { http.NotFound(w, nil) }, contracts.CodeNotFound},
		"another refusal":          {func(w http.ResponseWriter) { w.WriteHeader(418) }, contracts.CodeInvalid},
		"a broken problem": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(403)
			_, _ = w.Write([]byte("{"))
		}, contracts.CodeForbidden},
		"an answer that is no JSON": {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }, contracts.CodeUnavailable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := serve(t, client.Config{Retries: -1}, func(w http.ResponseWriter, _ *http.Request, _ int) { tt.answer(w) })
			_, err := c.Gate(t.Context(), "A2")
			if contracts.CodeOf(err) != tt.want {
				t.Fatalf("%v, want %s", err, tt.want)
			}
			if e, ok := errors.AsType[*contracts.Error](err); name == "a problem" && (!ok || cmp.Diff(want, e) != "") {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestRequestsSayWhoAsksAndHowLongTheyWait(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 1)
	c, _ := serve(t, client.Config{Key: "mfk_x", OnBehalfOf: "ana", UserAgent: "test"}, func(w http.ResponseWriter, r *http.Request, _ int) {
		seen <- r
		_, _ = w.Write([]byte(`{"status":"completed"}`))
	})
	if _, err := c.Say(t.Context(), "a/b?c", "hello", client.Opt{Wait: 7 * time.Second, IdempotencyKey: "k"}); err != nil {
		t.Fatal(err)
	}
	r := <-seen
	for name, want := range map[string]string{
		"Authorization": "Bearer mfk_x", "Manifold-User": "ana", "User-Agent": "test", "Prefer": "wait=7",
		"Idempotency-Key": "k", "Content-Type": "application/json",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if r.URL.EscapedPath() != "/v1/sessions/a%2Fb%3Fc/messages" {
		t.Errorf("path %q", r.URL.EscapedPath())
	}
}

func TestWaitingGoesOnUntilThereIsSomethingToTell(t *testing.T) {
	t.Parallel()
	c, calls := serve(t, client.Config{}, func(w http.ResponseWriter, r *http.Request, call int) {
		states := []string{"running", "running", "completed"}
		if strings.HasPrefix(r.URL.Path, "/v1/runs/") {
			states = []string{"running", "cancelling", "waiting"}
		}
		field := map[bool]string{true: "state", false: "status"}[strings.HasPrefix(r.URL.Path, "/v1/runs/")]
		_, _ = w.Write([]byte(`{"` + field + `":"` + states[(call-1)%3] + `"}`))
	})
	session, err := c.AwaitSession(t.Context(), "s")
	if err != nil || session.Status != contracts.SessionCompleted || calls.Load() != 3 {
		t.Errorf("%+v %v after %d calls", session, err, calls.Load())
	}
	view, err := client.AwaitRun(t.Context(), c, "r")
	if err != nil || view.State != contracts.RunWaiting || calls.Load() != 6 {
		t.Errorf("%s %v after %d calls", view.State, err, calls.Load())
	}
}

func TestAServerThatCannotBeReachedIsUnavailable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	url := server.URL
	server.Close()
	c, err := client.New(client.Config{URL: url, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Whoami(t.Context())
	if contracts.CodeOf(err) != contracts.CodeUnavailable || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Whoami(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after the cancel: %v", err)
	}
}

func TestAddressesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:8080", "ftp://x", "http://", "://"} {
		if _, err := client.New(client.Config{URL: url}); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestListsAreReadPageByPage serves five gates, at most two per page.
func TestListsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]string{0: {"g1", "g2", "g3", "g4", "g5"}, 1: {"g1"}, 3: {"g1", "g2", "g3"}, 4: {"g1", "g2", "g3", "g4"}, 9: {"g1", "g2", "g3", "g4", "g5"}} {
		asked := make(chan int, 9)
		c, _ := serve(t, client.Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			size, _ := strconv.Atoi(r.URL.Query().Get("limit"))
			from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
			asked <- size
			var page contracts.List[contracts.Interrupt]
			for n := from; n < min(5, from+min(size, 2)); n++ {
				page.Items = append(page.Items, contracts.Interrupt{InterruptID: "g" + strconv.Itoa(n+1)})
			}
			if last := from + len(page.Items); last < 5 {
				page.Next = strconv.Itoa(last)
			}
			_ = json.NewEncoder(w).Encode(page)
		})
		got, err := c.Gates(t.Context(), client.GatesFilter{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, g := range got {
			ids = append(ids, g.InterruptID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("limit %d: got %v, want %v", limit, ids, want)
		}
		if first := <-asked; limit > 0 && first != limit || limit == 0 && first != contracts.MaxPageLimit {
			t.Errorf("limit %d: asked for %d", limit, first)
		}
	}
}

func TestFiltersGoIntoTheQuery(t *testing.T) {
	t.Parallel()
	queries := make(chan string, 3)
	c, _ := serve(t, client.Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		queries <- r.URL.Query().Encode()
		_, _ = w.Write([]byte(`{"items":[]}`))
	})
	at := time.Date(2026, 11, 21, 10, 0, 0, 5000, time.FixedZone("x", 3600))
	_, errRuns := c.Runs(t.Context(), client.RunsFilter{SessionID: "s", State: contracts.RunFailed, Before: at, Limit: 5, Everybody: true})
	_, errGates := c.Gates(t.Context(), client.GatesFilter{RunID: "r", Status: contracts.InterruptOpen, Type: contracts.InterruptClarification})
	_, errEvents := c.Events(t.Context(), "s", 7, 0)
	if err := errors.Join(errRuns, errGates, errEvents); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"all=true&before=2026-11-21T09%3A00%3A00.000005Z&limit=5&session_id=s&state=failed",
		"limit=200&run_id=r&status=open&type=clarification", "after=7&limit=200",
	}
	if got := []string{<-queries, <-queries, <-queries}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
