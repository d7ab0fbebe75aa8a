package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

const empty = `{"nodes":[],"edges":[]}`

type bundle struct {
	server *sandbox.Server
	client *api.Client
}

func setup(t *testing.T, adapt func(*api.Config)) bundle {
	t.Helper()
	server, err := sandbox.New(sandbox.Config{ViewerKey: "viewer"})
	if err != nil {
		t.Fatal(err)
	}
	return bundle{server, dial(t, server, server.Key(), adapt)}
}

func dial(t *testing.T, h http.Handler, key string, adapt func(*api.Config)) *api.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	cfg := api.Config{BaseURL: srv.URL, Key: key, BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond}
	if adapt != nil {
		adapt(&cfg)
	}
	client, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func fresh(t *testing.T) api.NewFlow {
	t.Helper()
	return api.NewFlow{ID: api.FlowID("test", t.Name()), Name: "n", Type: api.Chatflow, FlowData: empty}
}

func kinds(server *sandbox.Server) []string {
	var out []string
	for _, e := range server.Effects() {
		out = append(out, e.Kind)
	}
	return out
}

func TestCreateSurvivesWhatHappensToItsAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault  sandboxkit.Kind
		kind   api.Kind // empty: it succeeds
		effect contracts.Effect
		writes int
	}{
		"the answer is lost after the row was saved": {sandboxkit.ResetAfter, "", "", 1},
		"a proxy gives up after the row was saved":   {sandboxkit.UnavailableAfter, "", "", 1},
		"half the answer comes":                      {sandboxkit.HalfAnswer, "", "", 1},
		"a page comes instead of the row":            {sandboxkit.HTMLAnswer, "", "", 1},
		"the server saves the row and says 500":      {sandboxkit.ServerErrorAfter, api.KindFailed, contracts.EffectApplied, 1},
		"the server says 500 and saves nothing":      {sandboxkit.ServerError, api.KindFailed, contracts.EffectNone, 0},
		"the connection breaks before it is read":    {sandboxkit.ResetBefore, api.KindUnavailable, contracts.EffectUnknown, 0},
		"a proxy answers before the server is asked": {sandboxkit.Unavailable, api.KindUnavailable, contracts.EffectUnknown, 0},
		"the server is busy":                         {sandboxkit.TooManyRequests, api.KindBusy, contracts.EffectNone, 0},
		"the key is refused":                         {sandboxkit.Unauthorized, api.KindUnauthorized, contracts.EffectNone, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			b.server.Inject(sandboxkit.Fault{Kind: tc.fault, Method: http.MethodPost, Count: -1})
			got, err := b.client.CreateFlow(t.Context(), fresh(t))
			e, failed := api.AsError(err)
			switch {
			case tc.kind == "" && (err != nil || got.ID != fresh(t).ID):
				t.Errorf("CreateFlow = %+v, %v", got, err)
			case tc.kind != "" && (!failed || e.Kind != tc.kind || e.Effect != tc.effect):
				t.Errorf("CreateFlow = %v, want kind %s, effect %s", err, tc.kind, tc.effect)
			}
			if writes := len(b.server.Effects()); writes != tc.writes {
				t.Errorf("%d writes, want %d", writes, tc.writes)
			}
			b.server.ClearFaults()
			if again, err := b.client.CreateFlow(t.Context(), fresh(t)); err != nil || again.ID != fresh(t).ID {
				t.Errorf("repeat = %+v, %v", again, err)
			}
			if diff := cmp.Diff([]string{"flow.create"}, kinds(b.server)); diff != "" {
				t.Errorf("effects after the repeat (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpdateAndDeleteLookWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	f, err := b.client.CreateFlow(t.Context(), fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.ResetAfter, Method: http.MethodPut})
	if got, err := b.client.UpdateFlow(t.Context(), f.ID, api.FlowChange{Name: new("second")}); err != nil || got.Name != "second" {
		t.Errorf("UpdateFlow with a lost answer = %+v, %v", got, err)
	}
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.ResetBefore, Method: http.MethodPut})
	_, err = b.client.UpdateFlow(t.Context(), f.ID, api.FlowChange{Name: new("third")})
	if e, is := api.AsError(err); !is || e.Effect != contracts.EffectUnknown {
		t.Errorf("UpdateFlow that got lost = %v, want effect unknown", err)
	}
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.ResetAfter, Method: http.MethodDelete})
	if err := b.client.DeleteFlow(t.Context(), f.ID); err != nil {
		t.Errorf("DeleteFlow with a lost answer = %v", err)
	}
	if err := b.client.DeleteFlow(t.Context(), f.ID); !api.IsKind(err, api.KindNotFound) {
		t.Errorf("DeleteFlow again = %v, want not found", err)
	}
}

func TestReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, fault := range []sandboxkit.Kind{
		sandboxkit.ResetBefore, sandboxkit.HalfAnswer, sandboxkit.Unavailable, sandboxkit.BadGateway, sandboxkit.ServerError, sandboxkit.TooManyRequests,
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			b.server.Inject(sandboxkit.Fault{Kind: fault, Method: http.MethodGet, Count: 3})
			if _, err := b.client.ListFlows(t.Context(), api.FlowQuery{}); err != nil {
				t.Errorf("ListFlows = %v", err)
			}
			if got := len(b.server.Requests()); got != 4 {
				t.Errorf("%d requests, want 4", got)
			}
		})
	}
}

func TestReadsAreNotTriedAgainInVain(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	if _, err := b.client.Node(t.Context(), "nope"); !api.IsKind(err, api.KindNotFound) || contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("Node = %v, want not found", err)
	}
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, RetryAfter: "3600"})
	_, err := b.client.GetFlow(t.Context(), fresh(t).ID)
	if e, is := api.AsError(err); !is || e.Kind != api.KindBusy || e.RetryAfter != time.Hour || e.Message != "slow down" {
		t.Errorf("GetFlow = %v, want busy for an hour", err)
	}
	if _, err := b.client.GetFlow(t.Context(), "../credentials"); !api.IsKind(err, api.KindInvalid) {
		t.Errorf("GetFlow of a path = %v, want invalid", err)
	}
	if got := len(b.server.Requests()); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
}

func TestUnknownPathsAreNoAnswers(t *testing.T) {
	t.Parallel()
	client := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = w.Write([]byte("<!DOCTYPE html>"))
	}), "k", nil)
	if _, err := client.ListFlows(t.Context(), api.FlowQuery{}); !api.IsKind(err, api.KindBadAnswer) {
		t.Errorf("ListFlows = %v, want a bad answer", err)
	}
}

func TestKeysThatMayOnlyView(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	viewer := dial(t, b.server, "viewer", nil)
	if _, err := viewer.CreateFlow(t.Context(), fresh(t)); !api.IsKind(err, api.KindForbidden) {
		t.Errorf("CreateFlow = %v, want forbidden", err)
	}
}

func TestNoMoreRequestsThanAllowed(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	arrived, open := make(chan struct{}, 100), make(chan struct{})
	client := dial(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		most.Store(max(most.Load(), n))
		arrived <- struct{}{}
		<-open
		now.Add(-1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}), "k", func(c *api.Config) { c.MaxConcurrency = 2 })
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if _, err := client.ListFlows(t.Context(), api.FlowQuery{}); err != nil {
				t.Errorf("ListFlows: %v", err)
			}
		})
	}
	<-arrived
	<-arrived
	waiting, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.ListFlows(waiting, api.FlowQuery{}); !api.IsKind(err, api.KindTimeout) || !errors.Is(err, context.Canceled) {
		t.Errorf("a call without a turn = %v, want a time-out", err)
	}
	close(open)
	wg.Wait()
	if got := most.Load(); got != 2 {
		t.Errorf("%d requests at a time, want 2", got)
	}
}

func TestDefinitionsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := setup(t, func(c *api.Config) { c.Now = func() time.Time { return now }; c.CacheTTL = time.Minute })
	asked := func(want int) {
		t.Helper()
		if _, err := b.client.Node(t.Context(), "calculator"); err != nil {
			t.Fatal(err)
		}
		if got := len(b.server.Requests()); got != want {
			t.Errorf("%d requests, want %d", got, want)
		}
	}
	asked(1)
	asked(1)
	now = now.Add(time.Minute)
	asked(2)
	b.client.Forget()
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.Unauthorized})
	if _, err := b.client.Node(t.Context(), "calculator"); !api.IsKind(err, api.KindUnauthorized) {
		t.Errorf("Node = %v, want unauthorized", err)
	}
	asked(4)
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.MaxAnswer = 1000 })
	if _, err := b.client.Nodes(t.Context()); !api.IsKind(err, api.KindTooLarge) {
		t.Errorf("Nodes = %v, want too large", err)
	}
}

func TestFlowIDsAreOfTheirKey(t *testing.T) {
	t.Parallel()
	a, b, c := api.FlowID("n", "k"), api.FlowID("n", "k"), api.FlowID("n", "k2")
	if a != b || a == c || a == api.FlowID("nk", "") {
		t.Errorf("ids = %s, %s, %s", a, b, c)
	}
}

func ExampleFlowID() {
	fmt.Println(strings.Count(api.FlowID("create", "run-1/n1/1"), "-"))
	// Output: 4
}
