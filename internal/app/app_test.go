package app_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

func config(dir string) app.Config { return app.Config{Addr: "127.0.0.1:0", DataDir: dir} }

func connect(t *testing.T, a *app.App) *client.Client {
	t.Helper()
	return apptest.Client(t, client.Config{URL: a.URL(), Key: apptest.Key(t, a.AdminKeyFile()), Retries: -1})
}

func TestTheFirstStartWritesAKeyThatOnlyItsOwnerCanRead(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	a := apptest.Start(t, config(dir))
	for _, file := range []string{a.AdminKeyFile(), a.ClientFile()} {
		info, err := os.Stat(file)
		if err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
	me, err := connect(t, a).Whoami(t.Context())
	if err != nil || me.Subject != "admin" {
		t.Errorf("%+v %v", me, err)
	}
	var settings app.ClientSettings
	body, err := os.ReadFile(a.ClientFile())
	if err != nil || json.Unmarshal(body, &settings) != nil || settings.URL != a.URL() || settings.Key == "" {
		t.Errorf("%s %v", body, err)
	}
}

func TestAnotherStartKeepsTheKeyAndWhatWasDone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := config(dir)
	cfg.Bootstrap = prices(t)
	a := apptest.Start(t, cfg)
	if err := a.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	key, _ := os.ReadFile(a.AdminKeyFile())
	session, err := connect(t, a).StartSession(t.Context(), contracts.StartSession{Message: "what is the stock price of Apple"}, client.Opt{Wait: 30 * time.Second})
	if err != nil || session.Status != contracts.SessionCompleted {
		t.Fatalf("%+v %v", session, err)
	}
	apptest.Stop(t, a)
	if err := os.Remove(a.AdminKeyFile()); err != nil {
		t.Fatal(err)
	}
	b := apptest.Start(t, config(dir))
	if _, err := os.Stat(b.AdminKeyFile()); err == nil {
		t.Error("the second start makes another admin key")
	}
	c, err := client.New(client.Config{URL: b.URL(), Key: strings.TrimSpace(string(key))})
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Session(t.Context(), session.SessionID, client.Opt{})
	if err != nil || again.Answer == nil || again.RunIDs[0] != session.RunIDs[0] {
		t.Errorf("%+v %v", again, err)
	}
}

func prices(t *testing.T) []byte {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return []byte(`{"domains":[{"domain":"finance","url":"` + domaintest.Serve(t, svc) + `"}]}`)
}

func TestASecondServerOnTheSameDataIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := apptest.Start(t, config(dir))
	if b, err := app.New(t.Context(), config(dir)); err == nil {
		apptest.Stop(t, b)
		t.Error("two servers work on one folder")
	}
	if _, err := connect(t, a).Ready(t.Context()); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

func TestWhatCannotWorkIsRefusedAndLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	taken := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(taken.Close)
	tests := map[string]func(*app.Config){
		"no data folder":                 func(c *app.Config) { c.DataDir = "" },
		"a folder that is a file":        func(c *app.Config) { c.DataDir = os.Args[0] },
		"a bootstrap file of nonsense":   func(c *app.Config) { c.Bootstrap = []byte(`{"domain":[]}`) },
		"a webhook network of nonsense":  func(c *app.Config) { c.Webhooks.Allow = []string{"everything"} },
		"an address in use":              func(c *app.Config) { c.Addr = strings.TrimPrefix(taken.URL, "http://") },
		"room for no run":                func(c *app.Config) { c.MaxActiveRuns = -1 },
		"a retention that keeps nothing": func(c *app.Config) { c.Retention = -time.Hour },
		"a limit that nobody can meet":   func(c *app.Config) { c.RequestsPerMinute = -1 },
		"a write that is easily meant":   func(c *app.Config) { c.Gates.AcceptWrite = 0.79 },
		"gates that do not rise":         func(c *app.Config) { c.Gates = app.Gates{AcceptRead: 0.3, Ask: 0.5} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cfg := config(dir)
			change(&cfg)
			a, err := app.New(t.Context(), cfg)
			if err == nil {
				err = a.Start(t.Context())
				apptest.Stop(t, a)
			}
			if err == nil {
				t.Fatal("it starts")
			}
			apptest.Start(t, config(dir)) // the lock of the store is free again
		})
	}
}

func TestStoppingTwiceOrBeforeTheStartIsHarmless(t *testing.T) {
	t.Parallel()
	a, err := app.New(t.Context(), config(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	apptest.Stop(t, a)
	apptest.Stop(t, a)
	if err := a.Start(t.Context()); err == nil {
		t.Error("it starts after it was stopped")
	}
	if a.URL() != "" {
		t.Errorf("it is served at %s", a.URL())
	}
}

func TestStartsAndStopsInAnyOrderLeaveTheDataUsable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 8 {
		a, err := app.New(t.Context(), config(dir))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _ = a.Start(t.Context()) }) // one of them may run after a stop
			all.Go(func() { apptest.Stop(t, a) })
		}
		all.Wait()
		apptest.Stop(t, a)
	}
	if _, err := connect(t, apptest.Start(t, config(dir))).Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAStopCutsOffThoseWhoWait(t *testing.T) {
	t.Parallel()
	cfg := config(t.TempDir())
	bootstrap, called := slow(t)
	cfg.Bootstrap = bootstrap
	a := apptest.Start(t, cfg)
	if err := a.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	c := connect(t, a)
	go func() {
		_, err := c.StartSession(context.WithoutCancel(t.Context()), contracts.StartSession{Message: "what is the stock price of Apple"}, client.Opt{Wait: time.Minute})
		answered <- err
	}()
	<-called
	began := time.Now()
	apptest.Stop(t, a)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the stop took %s", took)
	}
	if err := <-answered; contracts.CodeOf(err) != contracts.CodeUnavailable {
		t.Errorf("who waited is told %v", err)
	}
}

func TestAStopDoesNotWaitForAClientThatSendsNothing(t *testing.T) {
	t.Parallel()
	a := apptest.Start(t, config(t.TempDir()))
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + apptest.Key(t, a.AdminKeyFile()) +
		"\r\nContent-Type: application/json\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the server waits for a body that never arrives
		t.Fatal(err)
	}
	began := time.Now()
	apptest.Stop(t, a)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the stop took %s", took)
	}
}

// slow is a domain whose reads do not end on their own. called receives when one has begun.
func slow(t *testing.T) (bootstrap []byte, called <-chan struct{}) {
	t.Helper()
	svc, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := svc.Handler()
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{}, 16)
	domain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/execute" {
			begun <- struct{}{}
			_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is only detected after this
			<-r.Context().Done()
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(domain.Close)
	return []byte(`{"domains":[{"domain":"finance","url":"` + domain.URL + `"}]}`), begun
}

func TestAWaitingPersonIsToldByASignedWebhook(t *testing.T) {
	t.Parallel()
	told := make(chan http.Header, 4)
	bodies := make(chan string, 4)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		told <- r.Header
	}))
	t.Cleanup(hook.Close)
	cfg := config(t.TempDir())
	cfg.Bootstrap, cfg.Webhooks.AllowLoopback = prices(t), true
	a := apptest.Start(t, cfg)
	if err := a.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	session, err := connect(t, a).StartSession(t.Context(), contracts.StartSession{
		Message: "set an alert for AAPL above 250", WebhookURL: hook.URL,
	}, client.Opt{Wait: 30 * time.Second})
	if err != nil || session.Interrupt == nil {
		t.Fatalf("%+v %v", session, err)
	}
	select {
	case header := <-told:
		if body := <-bodies; !strings.Contains(body, session.Interrupt.Code) {
			t.Errorf("the webhook says %s", body)
		}
		if !strings.HasPrefix(header.Get("Manifold-Signature"), "v1=") {
			t.Errorf("signature %q", header.Get("Manifold-Signature"))
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nobody was told")
	}
}
