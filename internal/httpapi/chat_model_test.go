package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/domainclient"
	"github.com/manifold-run/manifold/internal/httpapi"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

// Stores for a server of which only the models are requested: a method that is not counted here panics,
// and fails the request.
type (
	countedKeys struct {
		access.KeyStore

		reads, others atomic.Int64
	}
	noSessions struct{ orchestrator.Sessions }
	noGates    struct{ orchestrator.GateList }
	noTurns    struct{ orchestrator.Turns }
	noPreviews struct{ orchestrator.Previews }
	noRuns     struct{ execution.Store }
	noInvoker  struct{ execution.Invoker }
	countedSet struct {
		registry.Store

		calls atomic.Int64
	}
)

func (c *countedKeys) Key(ctx context.Context, id string) (access.Key, error) {
	c.reads.Add(1)
	return c.KeyStore.Key(ctx, id)
}

func (c *countedKeys) InsertKey(ctx context.Context, key access.Key) error {
	c.others.Add(1)
	return c.KeyStore.InsertKey(ctx, key)
}

func (c *countedSet) Domain(ctx context.Context, name string) (registry.DomainRow, error) {
	c.calls.Add(1)
	return c.Store.Domain(ctx, name)
}

func (c *countedSet) SaveDomain(ctx context.Context, row registry.DomainRow, bodies ...registry.ManifestBody) (int64, error) {
	c.calls.Add(1)
	return c.Store.SaveDomain(ctx, row, bodies...)
}

func (c *countedSet) Manifest(ctx context.Context, digest string) ([]byte, error) {
	c.calls.Add(1)
	return c.Store.Manifest(ctx, digest)
}

// modelServer serves the models of one domain from stores that count their calls.
func modelServer(t *testing.T, cfg httpapi.Config) (api *httpapi.Server, key string, keys *countedKeys, domains *countedSet) {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	fetcher, err := domainclient.New(domainclient.Config{})
	if err != nil {
		t.Fatal(err)
	}
	domains = &countedSet{Store: registrytest.NewStore()}
	set, err := registry.New(registry.Config{}, domains, fetcher, registry.NewSentenceTester(adapter, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Register(t.Context(), contracts.Registration{Domain: "finance", URL: domaintest.Serve(t, svc)}); err != nil {
		t.Fatal(err)
	}
	runner, err := execution.New(execution.Config{}, execution.Deps{Store: noRuns{}, Invoker: noInvoker{}, Catalogs: set})
	if err != nil {
		t.Fatal(err)
	}
	rooms := orchestratortest.Wire(t, orchestratortest.Ports{
		Sessions: noSessions{}, Gates: noGates{}, Turns: noTurns{}, Previews: noPreviews{}, Runs: noRuns{}, Runner: runner, Catalogs: set, Notifier: orchestrator.NewLocalNotifier(),
	})
	keys = &countedKeys{KeyStore: accesstest.NewStore()}
	people := access.NewKeys(keys, nil)
	if _, err := people.First(t.Context(), func(text string) error { key = text; return nil }); err != nil {
		t.Fatal(err)
	}
	api, err = httpapi.New(cfg, httpapi.Deps{
		Conversation: rooms.Conversation, Sessions: rooms.Sessions, Gates: rooms.Gates, Runs: rooms.Runs, Audit: rooms.Audit, Registry: set, Keys: people, SignIns: access.NewSignIns(people, accesstest.NewStore(), []byte(strings.Repeat("s", 32))), MarkerKey: []byte(strings.Repeat("k", 32)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return api, key, keys, domains
}

func TestAskingForModelsCostsOneReadOfTheKeyAndNothingElse(t *testing.T) {
	t.Parallel()
	// One request per minute, if models were limited like chats.
	api, key, keys, domains := modelServer(t, httpapi.Config{RequestsPerMinute: 1, Burst: 1})
	web := httptest.NewServer(api)
	t.Cleanup(web.Close)
	url := web.URL
	reads, others, calls := keys.reads.Load(), keys.others.Load(), domains.calls.Load()
	const polls = 500
	get := func(path string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, http.NoBody)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return errors.New(path + ": " + res.Status)
		}
		return nil
	}
	for n := range polls {
		path := "/v1/models"
		if n%2 == 1 {
			path = "/v1/models/manifold-finance"
		}
		if err := get(path); err != nil {
			t.Fatalf("poll %d: %v", n+1, err)
		}
	}
	if got := keys.reads.Load() - reads; got != polls {
		t.Errorf("%d polls read keys %d times", polls, got)
	}
	if keys.others.Load() != others || domains.calls.Load() != calls {
		t.Errorf("%d polls wrote keys %d times and asked the registry's store %d times", polls, keys.others.Load()-others, domains.calls.Load()-calls)
	}
}

func TestAGateIsWholeWhateverLengthIsAskedFor(t *testing.T) {
	t.Parallel()
	s := setup(t)
	body := map[string]any{
		"model": "manifold", "messages": []message{{Role: "user", Content: "set an alert for AAPL above 250"}}, "stream": false,
		"max_tokens": 1, "max_completion_tokens": 1, "stop": []string{"approve"}, "n": 3,
	}
	got := s.post("rita", body, nil)
	if got.finish != "stop" || !strings.Contains(got.content, "Reply `") && !strings.Contains(got.content, "Somebody else has to approve it") || !strings.Contains(got.content, "[//]: # (manifold ") {
		t.Errorf("finish %q:\n%s", got.finish, got.content)
	}
}

// deadlined is a response recorder that keeps the last write deadline.
type deadlined struct {
	*httptest.ResponseRecorder

	writes time.Time
}

func (d *deadlined) SetWriteDeadline(at time.Time) error { d.writes = at; return nil }
func (*deadlined) SetReadDeadline(time.Time) error       { return nil }

func TestAnAnswerThatWasWaitedForIsNotWrittenForEver(t *testing.T) {
	t.Parallel()
	api, key, _, _ := modelServer(t, httpapi.Config{})
	got := &deadlined{ResponseRecorder: httptest.NewRecorder()}
	body := strings.NewReader(`{"model":"manifold","messages":[{"role":"user","content":"help"}]}`)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", body)
	req.Header.Set("Authorization", "Bearer "+key)
	api.ServeHTTP(got, req)
	if got.Code != http.StatusOK || got.writes.IsZero() {
		t.Errorf("%d, written until %s: %s", got.Code, got.writes, got.Body)
	}
}

func TestBackgroundCallsAreBoundedAndTakeNothingFromPeople(t *testing.T) {
	t.Parallel()
	api, key, _, _ := modelServer(t, httpapi.Config{RequestsPerMinute: 1, Burst: 3})
	send := func(task string) int {
		got := httptest.NewRecorder()
		body := strings.NewReader(`{"model":"manifold","messages":[{"role":"user","content":"help"}]}`)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", body)
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("X-OpenWebUI-Task", task)
		api.ServeHTTP(got, req)
		return got.Code
	}
	for n, want := range []int{200, 200, 200, 429} {
		if got := send("title_generation"); got != want {
			t.Errorf("background call %d: %d, want %d", n+1, got, want)
		}
	}
	if got := send(""); got != http.StatusOK {
		t.Errorf("a person is answered with %d", got)
	}
}

func TestAnErrorDoesNotSayBackWhatIsHuge(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.send("rita", "POST", "/v1/chat/completions", `{"model":"`+strings.Repeat("x", 1<<20)+`","messages":[{"role":"user","content":"hi"}]}`)
	if a.status != http.StatusNotFound || len(a.body) > 1000 {
		t.Errorf("%d, %d bytes", a.status, len(a.body))
	}
}
