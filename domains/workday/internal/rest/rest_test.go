package rest_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// bench is a served tenant and a client of it.
type bench struct {
	tenant *sandbox.Tenant
	url    string
	config rest.Config
	client *rest.Client
	ana    sandbox.Worker
}

func setup(t *testing.T, cfg sandbox.Config) *bench {
	t.Helper()
	tenant, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	c := tenant.Credentials()
	b := &bench{tenant: tenant, url: server.URL, ana: tenant.People()[48], config: rest.Config{
		BaseURL: server.URL, Tenant: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		Tokens: refreshing(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: -1,
		BackoffMin: time.Millisecond, BackoffMax: 5 * time.Millisecond,
	}}
	b.client = b.newClient(t, b.config)
	return b
}

func (b *bench) newClient(t *testing.T, cfg rest.Config) *rest.Client {
	t.Helper()
	client, err := rest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// calls counts the requests to paths with a suffix.
func (b *bench) calls(suffix string) int {
	n := 0
	for _, r := range b.tenant.Requests() {
		if strings.HasSuffix(r.Path, suffix) {
			n++
		}
	}
	return n
}

func TestReadsAreRepeatedAsLongAsItHelps(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault sandboxkit.Fault
		kind  rest.Kind // empty: the read succeeds
		tries int
	}{
		"no fault":                         {sandboxkit.Fault{}, "", 1},
		"busy twice":                       {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, Count: 2}, "", 3},
		"busy with a strange wish":         {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, RetryAfter: "soon"}, "", 2},
		"busy for longer than we wait":     {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, RetryAfter: "60"}, rest.KindBusy, 1},
		"unavailable once":                 {sandboxkit.Fault{Kind: sandboxkit.Unavailable}, "", 2},
		"unavailable for good":             {sandboxkit.Fault{Kind: sandboxkit.Unavailable, Count: -1}, rest.KindUnavailable, 4},
		"a gateway's page twice":           {sandboxkit.Fault{Kind: sandboxkit.BadGateway, Count: 2}, "", 3},
		"a cut connection":                 {sandboxkit.Fault{Kind: sandboxkit.ResetBefore, Count: 2}, "", 3},
		"half an answer":                   {sandboxkit.Fault{Kind: sandboxkit.HalfAnswer}, "", 2},
		"a page to sign in":                {sandboxkit.Fault{Kind: sandboxkit.HTMLAnswer}, rest.KindBadAnswer, 1},
		"a token that was revoked":         {sandboxkit.Fault{Kind: sandboxkit.Unauthorized}, "", 2},
		"a token that is never right":      {sandboxkit.Fault{Kind: sandboxkit.Unauthorized, Count: -1}, rest.KindUnauthorized, 2},
		"a missing permission":             {sandboxkit.Fault{Kind: sandboxkit.Forbidden, Count: -1}, rest.KindForbidden, 1},
		"an error of ours in the fault":    {sandboxkit.Fault{Kind: sandboxkit.ServerError, Nth: 2}, "", 1},
		"a delay that is within the limit": {sandboxkit.Fault{Kind: sandboxkit.Slow, DelayMS: 1}, "", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			path := "/workers/" + b.ana.ID
			tt.fault.PathSuffix = path
			if tt.fault.Kind != "" {
				b.tenant.Inject(tt.fault)
			}
			w, err := b.client.Worker(t.Context(), b.ana.ID)
			if tt.kind == "" && (err != nil || w.Descriptor != "Ana Souza") {
				t.Errorf("%v %v", w, err)
			}
			if tt.kind != "" && !rest.IsKind(err, tt.kind) {
				t.Errorf("error %v, want %s", err, tt.kind)
			}
			if e, is := rest.AsError(err); is && e.MayHaveApplied {
				t.Error("a read cannot have applied")
			}
			if got := b.calls(path); got != tt.tries {
				t.Errorf("%d tries, want %d", got, tt.tries)
			}
		})
	}
}

func TestWritesAreSentOnceAndTellWhatTheyMayHaveDone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault     sandboxkit.Fault
		kind      rest.Kind
		ambiguous bool
		tries     int
		applied   int
	}{
		"no fault":                     {sandboxkit.Fault{}, "", false, 1, 1},
		"busy once":                    {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests}, "", false, 2, 1},
		"busy for good":                {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, Count: -1}, rest.KindBusy, false, 4, 0},
		"busy for longer than we wait": {sandboxkit.Fault{Kind: sandboxkit.TooManyRequests, RetryAfter: "60"}, rest.KindBusy, false, 1, 0},
		"a token that was revoked":     {sandboxkit.Fault{Kind: sandboxkit.Unauthorized}, "", false, 2, 1},
		"a missing permission":         {sandboxkit.Fault{Kind: sandboxkit.Forbidden}, rest.KindForbidden, false, 1, 0},
		"unavailable before":           {sandboxkit.Fault{Kind: sandboxkit.Unavailable}, rest.KindUnavailable, true, 1, 0},
		"unavailable after":            {sandboxkit.Fault{Kind: sandboxkit.UnavailableAfter}, rest.KindUnavailable, true, 1, 1},
		"cut before":                   {sandboxkit.Fault{Kind: sandboxkit.ResetBefore}, rest.KindUnavailable, true, 1, 0},
		"cut after":                    {sandboxkit.Fault{Kind: sandboxkit.ResetAfter}, rest.KindUnavailable, true, 1, 1},
		"half an answer":               {sandboxkit.Fault{Kind: sandboxkit.HalfAnswer}, rest.KindUnavailable, true, 1, 1},
		"a page to sign in":            {sandboxkit.Fault{Kind: sandboxkit.HTMLAnswer}, rest.KindBadAnswer, true, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			if tt.fault.Kind != "" {
				tt.fault.PathSuffix = "/businessTitleChanges"
				b.tenant.Inject(tt.fault)
			}
			_, err := b.client.ChangeTitle(t.Context(), b.ana.ID, "Chief Gardener")
			e, isError := rest.AsError(err)
			switch {
			case tt.kind == "" && err != nil, tt.kind != "" && (!isError || e.Kind != tt.kind):
				t.Errorf("error %v, want kind %q", err, tt.kind)
			case isError && e.MayHaveApplied != tt.ambiguous:
				t.Errorf("%v: may have applied: %v", err, e.MayHaveApplied)
			}
			if got := b.calls("/businessTitleChanges"); got != tt.tries {
				t.Errorf("%d tries, want %d", got, tt.tries)
			}
			if got := len(b.tenant.Effects()); got != tt.applied {
				t.Errorf("applied %d times, want %d", got, tt.applied)
			}
		})
	}
}

func TestAWriteThatWasNeverSentDidNotApply(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	if err := b.client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.config.Transport = refusing{}
	b.config.Tokens = refreshing("unused")
	_, err := b.newClient(t, b.config).ChangeTitle(t.Context(), b.ana.ID, "Chief Gardener")
	if e, is := rest.AsError(err); !is || e.Kind != rest.KindUnavailable || e.MayHaveApplied {
		t.Errorf("error %v", err)
	}
}

// refusing answers the token endpoint and refuses all other connections.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/token") {
		return nil, errors.New("connection refused")
	}
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "application/json")
	_, _ = rec.WriteString(`{"access_token":"a","token_type":"Bearer","expires_in":"3600"}`)
	return rec.Result(), nil
}

func TestTheCallersTimeEndsACall(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.SlowAfter, PathSuffix: "/businessTitleChanges"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.client.ChangeTitle(ctx, b.ana.ID, "Chief Gardener")
		done <- err
	}()
	poll(t, func() bool { return len(b.tenant.Effects()) == 1 })
	cancel()
	if e, is := rest.AsError(<-done); !is || e.Kind != rest.KindTimeout || !e.MayHaveApplied {
		t.Errorf("error %v", e)
	}
}

func poll(t *testing.T, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-deadline.C:
			t.Fatal("it did not happen in time")
		case <-tick.C:
		}
	}
}

func TestPagesAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	all, err := b.client.SearchWorkers(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, w := range all.Items {
		seen[w.ID] = true
	}
	if len(seen) != all.Total || len(all.Items) != all.Total || all.Total < 280 {
		t.Errorf("%d workers, %d distinct, total %d", len(all.Items), len(seen), all.Total)
	}
	some, err := b.client.SearchWorkers(t.Context(), "", 30)
	if err != nil || len(some.Items) != 30 || some.Total <= 30 {
		t.Errorf("asked for 30: %d of %d, %v", len(some.Items), some.Total, err)
	}
}

func TestValidationsAreKnownByCode(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	days := []rest.Day{{Date: "2026-12-05", Quantity: 1, Type: rest.Ref{ID: "ffffffffffffffffffffffffffffffff"}}}
	_, err := b.client.RequestTimeOff(t.Context(), b.ana.ID, days, "", false)
	e, is := rest.AsError(err)
	if !is || e.Kind != rest.KindInvalid || !e.Has("A1041") || e.Has("A1011") {
		t.Fatalf("error %v", err)
	}
	if want := "The worker isn't eligible for this time off."; e.Reason() != want {
		t.Errorf("reason %q, want %q", e.Reason(), want)
	}
}

func TestManyCallersShareOneRenewal(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{StringExpiry: true})
	if err := b.client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.tenant.ExpireTokens()
	before := b.calls("/token")
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if _, err := b.client.Worker(t.Context(), b.ana.ID); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := b.calls("/token") - before; got != 1 {
		t.Errorf("%d renewals for 50 callers", got)
	}
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{TokenTTL: 10 * time.Minute})
	now := time.Now()
	b.config.Now = func() time.Time { return now }
	c := b.tenant.Credentials()
	b.config.Tokens = refreshing(c.RefreshToken)
	client := b.newClient(t, b.config)
	for _, step := range []struct {
		wait time.Duration
		want int
	}{{0, 1}, {7 * time.Minute, 1}, {2 * time.Minute, 2}} {
		now = now.Add(step.wait)
		if err := client.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := b.calls("/token"); got != step.want {
			t.Errorf("after %s: %d renewals, want %d", step.wait, got, step.want)
		}
	}
}

func TestARefusedRefreshTokenIsFinal(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.InvalidGrant, PathSuffix: "/token", Count: -1})
	for range 3 {
		if _, err := b.client.Worker(t.Context(), b.ana.ID); !rest.IsKind(err, rest.KindReauth) {
			t.Errorf("error %v", err)
		}
	}
	if b.calls("/token") != 1 || !rest.IsKind(b.client.Ping(t.Context()), rest.KindReauth) {
		t.Errorf("%d tries, health %v", b.calls("/token"), b.client.Ping(t.Context()))
	}
}

func TestRotatedTokensSurviveARestart(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	first := b.tenant.Credentials().RefreshToken
	path := filepath.Join(t.TempDir(), "token.json")
	for i := range 3 { // each is a new process
		b.config.Tokens = &login.File{Path: path, Initial: first}
		if err := b.newClient(t, b.config).Ping(t.Context()); err != nil {
			t.Fatalf("start %d: %v", i+1, err)
		}
	}
	b.config.Tokens = &login.File{Path: path}
	if err := b.newClient(t, b.config).Ping(t.Context()); err != nil {
		t.Errorf("with the file alone: %v", err)
	}
	b.config.Tokens = &login.File{Path: path, Initial: b.tenant.Credentials().RefreshToken}
	if err := b.newClient(t, b.config).Ping(t.Context()); err != nil {
		t.Errorf("with a new token of the administrator: %v", err)
	}
}

func TestATokenThatAnotherProcessRotatedIsFound(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	shared := &stale{Memory: refreshing(b.tenant.Credentials().RefreshToken)}
	b.config.Tokens = shared
	if err := b.newClient(t, b.config).Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	shared.old = "a token that was used up meanwhile"
	if err := b.newClient(t, b.config).Ping(t.Context()); err != nil {
		t.Errorf("the successor was not tried: %v", err)
	}
}

func refreshing(token string) *login.Memory { return login.NewMemory(login.Grant{RefreshToken: token}) }

// stale returns an old token once.
type stale struct {
	*login.Memory
	old string
}

func (s *stale) Load(ctx context.Context) (login.Grant, error) {
	if old := s.old; old != "" {
		s.old = ""
		return login.Grant{RefreshToken: old}, nil
	}
	return s.Memory.Load(ctx)
}

func TestATokenThatCannotBeStoredIsNotLost(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	store := &flaky{Memory: refreshing(b.tenant.Credentials().RefreshToken), fail: true}
	b.config.Tokens = store
	client := b.newClient(t, b.config)
	if err := client.Ping(t.Context()); !rest.IsKind(err, rest.KindInternal) {
		t.Errorf("with a full disk: %v", err)
	}
	store.fail = false
	if err := client.Ping(t.Context()); err != nil {
		t.Errorf("after there was room again: %v", err)
	}
}

// flaky fails to save while its flag is set.
type flaky struct {
	*login.Memory
	fail bool
}

func (f *flaky) Save(ctx context.Context, g login.Grant) error {
	if f.fail {
		return errors.New("no space left")
	}
	return f.Memory.Save(ctx, g)
}

func TestSecretsGoOnlyToAllowedHosts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url      string
		loopback bool
		fine     bool
	}{
		"an implementation tenant":        {"https://wd2-impl-services1.workday.com", false, true},
		"a production tenant":             {"https://wd5-services1.myworkday.com", false, true},
		"plain http":                      {"http://wd5-services1.myworkday.com", false, false},
		"a name that only ends like it":   {"https://evilworkday.com", false, false},
		"a host of somebody else":         {"https://workday.com.example.org", false, false},
		"loopback without being asked":    {"http://127.0.0.1:8090", false, false},
		"loopback when it is allowed":     {"http://127.0.0.1:8090", true, true},
		"a private address in the open":   {"https://10.0.0.7", true, false},
		"something that is no url at all": {"://", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rest.New(rest.Config{
				BaseURL: tt.url, Tenant: "t", ClientID: "c", ClientSecret: "s",
				Tokens: refreshing("r"), AllowLoopback: tt.loopback,
			})
			if (err == nil) != tt.fine {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var elsewhere int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/token"):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer","expires_in":3600}`))
		case r.URL.Path == "/elsewhere":
			elsewhere++
		default:
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	b := setup(t, sandbox.Config{})
	b.config.BaseURL = server.URL
	_, err := b.newClient(t, b.config).Worker(t.Context(), "x")
	if !rest.IsKind(err, rest.KindBadAnswer) || elsewhere != 0 {
		t.Errorf("error %v, followed %d times", err, elsewhere)
	}
}

func TestWarningsComeWithTheResult(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
		if strings.HasSuffix(r.URL.Path, "/token") {
			_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer","expires_in":3600}`))
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"days":[],"businessProcessParameters":{"overallStatus":"In Progress","overallBusinessProcess":{"id":"e1"}},
			"errors":[{"error":"Long request.","code":"A1040","severity":"Warning"}],"unknown":1}`))
	}))
	t.Cleanup(server.Close)
	b := setup(t, sandbox.Config{})
	b.config.BaseURL = server.URL
	got, err := b.newClient(t, b.config).RequestTimeOff(t.Context(), "x", nil, "", false)
	if err != nil {
		t.Fatal(err)
	}
	want := rest.Started{
		Event: rest.Ref{ID: "e1"}, Status: "In Progress",
		Warnings: []rest.Detail{{Message: "Long request.", Code: "A1040", Severity: "Warning"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnAssertionTakesThePlaceOfARefreshToken: a client that signs gets tokens, and new ones when
// they expire; an unknown key is refused permanently.
func TestAnAssertionTakesThePlaceOfARefreshToken(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	tenant, err := sandbox.New(sandbox.Config{Workers: 60, JWTKey: &key.PublicKey, StringExpiry: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	c := tenant.Credentials()
	with := func(j *rest.JWT) *rest.Client {
		client, err := rest.New(rest.Config{BaseURL: server.URL, Tenant: c.Tenant, ClientID: c.ClientID, JWT: j, AllowLoopback: true, RequestsPerSecond: -1})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	good := with(&rest.JWT{Key: key, Subject: "ISU_Manifold"})
	for range 2 {
		if _, err := good.SearchWorkers(t.Context(), "", 1); err != nil {
			t.Fatal(err)
		}
		tenant.ExpireTokens()
	}
	for name, j := range map[string]*rest.JWT{
		"another key": {Key: other, Subject: "ISU_Manifold"}, "another user": {Key: key, Subject: "nobody"}, "another audience": {Key: key, Subject: "ISU_Manifold", Audience: "x"},
	} {
		if err := with(j).Ping(t.Context()); !rest.IsKind(err, rest.KindReauth) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := rest.New(rest.Config{BaseURL: server.URL, Tenant: c.Tenant, ClientID: c.ClientID, JWT: &rest.JWT{Key: key}, AllowLoopback: true}); err == nil {
		t.Error("an assertion about nobody")
	}
}
