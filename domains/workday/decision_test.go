package workday_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/login"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// withLogins enables logins of people at the tenant.
func (b *bench) withLogins() {
	b.Helper()
	pages := &http.ServeMux{}
	server := httptest.NewServer(pages)
	b.Cleanup(server.Close)
	b.openLogins(workday.LoginConfig{Dir: b.TempDir(), URL: server.URL})
	pages.Handle("/", b.config.Logins)
}

// openLogins serves the domain with the logins of a folder.
func (b *bench) openLogins(login workday.LoginConfig) {
	b.Helper()
	logins, err := workday.OpenLogins(b.config, login)
	if err != nil {
		b.Fatal(err)
	}
	b.login, b.config.Logins = login, logins
	b.restart()
}

// browser follows redirects with cookies; who is entered in the tenant's login form.
func (b *bench) browser(who string) *http.Client {
	b.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		if strings.HasSuffix(req.URL.Path, "/authorize") {
			q := req.URL.Query()
			q.Set("login_hint", who)
			req.URL.RawQuery = q.Encode()
		}
		return nil
	}}
}

func (b *bench) open(c *http.Client, link string) (status int, page string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, link, nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	buf := new(strings.Builder)
	if err := res.Write(buf); err != nil {
		b.Fatal(err)
	}
	return res.StatusCode, buf.String()
}

// logIn logs a person in with the link that the service returns.
func (b *bench) logIn(name string) {
	b.Helper()
	if status, page := b.open(b.browser(b.id(name)), b.config.Logins.Link()); status != http.StatusOK || !strings.Contains(page, "You have logged in as "+name) {
		b.Fatalf("%s: %d %s", name, status, page)
	}
}

// approvers is a bench with two managers: Ana's has the account Rita, Carla's has Otto. Each has
// one pending request.
func approvers(t *testing.T) (b *bench, anas, carlas string) {
	t.Helper()
	b = setup(t, sandbox.Config{Workers: 60})
	b.withLogins()
	b.config.Access = workday.Access{All: []string{"hr"}, People: map[string]string{"rita": b.id("Helena Duarte"), "otto": b.id("Marcus Feld"), "ana": b.id("Ana Souza")}}
	b.restart()
	steps := map[string]string{}
	for _, who := range []string{"Ana Souza", "Carla Mendes"} {
		made := b.asks("hr", []string{"hr"}, "request_time_off", object{"worker": b.id(who), "days": 2, "start": "2026-12-07"})
		if !made.OK {
			t.Fatal(made.Error)
		}
		steps[who] = b.openStep(made.Facts["request_id"])
	}
	return b, steps["Ana Souza"], steps["Carla Mendes"]
}

// openStep returns the id of the open step of an event, from the tenant's data.
func (b *bench) openStep(event any) string {
	b.Helper()
	for _, s := range b.tenant.OpenSteps() {
		if s.EventID == event {
			return s.ID
		}
	}
	b.Fatalf("nothing waits in %v", event)
	return ""
}

func (b *bench) kindsBy(name string) []string {
	b.Helper()
	var out []string
	for _, e := range b.tenant.Effects() {
		if e.By == b.id(name) {
			out = append(out, e.Kind)
		}
	}
	return out
}

// TestADecisionIsThePersonsOwn: it is never made as the integration user or with another person's
// login, whatever roles the requester has.
func TestADecisionIsThePersonsOwn(t *testing.T) {
	t.Parallel()
	b, anas, carlas := approvers(t)
	refused := func(who, capability string, in object, says string) {
		t.Helper()
		got := b.asks(who, []string{"hr"}, capability, in)
		if got.OK || !strings.Contains(got.Error.Message, says) {
			t.Errorf("%s, %s: %+v %+v", who, capability, got.Summary, got.Error)
		}
	}
	link := "log in there with your own account at " + b.config.Logins.Link()
	refused("rita", "list_inbox_tasks", object{}, link)
	refused("rita", "approve_step", object{"worker": b.id("Ana Souza"), "task": anas}, link)
	refused("a stranger", "approve_step", object{"worker": b.id("Ana Souza"), "task": anas}, "does not know who")
	b.logIn("Helena Duarte")
	inbox := b.asks("rita", nil, "list_inbox_tasks", object{"worker": b.id("Ana Souza")})
	if got := column(inbox.Facts["tasks"], "value"); !slices.Equal(got, []string{anas}) || !strings.Contains(inbox.Summary, "Request Time Off of Ana Souza") {
		t.Errorf("rita's inbox: %s %v", inbox.Summary, inbox.Error)
	}
	if got := b.asks("rita", nil, "list_inbox_tasks", object{"worker": b.id("Carla Mendes")}); got.Facts["total"] != 0.0 || got.Summary != "nothing like that waits for Helena Duarte in Workday" {
		t.Errorf("of Carla for rita: %s", got.Summary)
	}
	for _, capability := range []string{"approve_step", "deny_step", "send_back_step"} {
		refused("rita", capability, object{"worker": b.id("Carla Mendes"), "task": carlas, "comment": "no"}, "Workday shows Helena Duarte no such task")
		refused("otto", capability, object{"worker": b.id("Carla Mendes"), "task": carlas, "comment": "no"}, link)
		refused("ana", capability, object{"worker": b.id("Ana Souza"), "task": anas, "comment": "no"}, link)
	}
	b.logIn("Ana Souza")
	refused("ana", "approve_step", object{"worker": b.id("Ana Souza"), "task": anas}, "does not wait for Ana Souza")
	if got := b.kindsBy("Helena Duarte"); len(got) != 0 {
		t.Fatalf("written: %v", got)
	}
	if got := b.asks("rita", nil, "approve_step", object{"worker": b.id("Ana Souza"), "task": anas, "comment": "Enjoy"}); !got.OK || got.Summary != "Request Time Off of Ana Souza: approved by Helena Duarte" {
		t.Errorf("%s %v", got.Summary, got.Error)
	}
	b.logIn("Marcus Feld")
	if got := b.asks("otto", nil, "deny_step", object{"worker": b.id("Carla Mendes"), "task": carlas, "comment": "too busy"}); !got.OK || got.Facts["decision"] != "denied" {
		t.Errorf("%+v", got)
	}
	if rita, otto := b.kindsBy("Helena Duarte"), b.kindsBy("Marcus Feld"); !slices.Equal(rita, []string{sandbox.EffectStepApproved}) || !slices.Equal(otto, []string{sandbox.EffectStepDenied}) {
		t.Errorf("rita %v, otto %v", rita, otto)
	}
	state := b.asks("hr", []string{"hr"}, "list_requests", object{"worker": b.id("Carla Mendes")})
	if !strings.Contains(state.Summary, "denied (too busy") {
		t.Errorf("%s", state.Summary)
	}
}

// TestALoginIsOfWhoeverLogsIn: a person who opens another person's link only gets their own
// account, and a callback without the browser's cookie is refused.
func TestALoginIsOfWhoeverLogsIn(t *testing.T) {
	t.Parallel()
	b, anas, _ := approvers(t)
	b.logIn("Jonas Keller") // with Rita's link
	if got := b.asks("rita", nil, "approve_step", object{"worker": b.id("Ana Souza"), "task": anas}); got.OK || !strings.Contains(got.Error.Message, "log in there") {
		t.Errorf("%+v", got)
	}
	stolen := ""
	thief := b.browser(b.id("Helena Duarte"))
	follow := thief.CheckRedirect
	thief.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if strings.HasSuffix(req.URL.Path, "/callback") {
			stolen = req.URL.String()
			return http.ErrUseLastResponse
		}
		return follow(req, via)
	}
	b.open(thief, b.config.Logins.Link())
	if status, page := b.open(b.browser(""), stolen); status != http.StatusBadRequest || !strings.Contains(page, "not the login that is waited for") {
		t.Errorf("in another browser: %d %s", status, page)
	}
	if status, _ := b.open(b.browser("nobody@example.com"), b.config.Logins.Link()); status != http.StatusForbidden {
		t.Errorf("nobody: %d", status)
	}
	if len(b.kindsBy("Helena Duarte")) != 0 {
		t.Error("something was written")
	}
}

// TestALoginThatEndsIsAskedForAgain, and until then survives a restart and a rotated token.
func TestALoginThatEndsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	b, anas, _ := approvers(t)
	b.logIn("Helena Duarte")
	for range 2 {
		b.tenant.ExpireTokens()
		b.restart()
		if got := b.asks("rita", nil, "list_inbox_tasks", object{}); !got.OK {
			t.Fatalf("after a restart: %v", got.Error)
		}
	}
	b.tenant.ExpireTokens()
	b.asks("hr", []string{"hr"}, "get_worker", object{"worker": b.id("Ana Souza")}) // renews the integration user's token
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.InvalidGrant, PathSuffix: "/token", Count: 1})
	got := b.asks("rita", nil, "approve_step", object{"worker": b.id("Ana Souza"), "task": anas})
	if got.OK || got.Error.Type != contracts.ErrPrecondition || !strings.Contains(got.Error.Message, "log in again there with your own account") {
		t.Errorf("%+v", got.Error)
	}
	b.logIn("Helena Duarte")
	if got := b.asks("rita", nil, "approve_step", object{"worker": b.id("Ana Souza"), "task": anas, "comment": "once more"}); !got.OK {
		t.Errorf("after a new login: %v", got.Error)
	}
	if err := os.Remove(filepath.Join(b.login.Dir, b.id("Helena Duarte")+".json")); err != nil { // as by another server
		t.Fatal(err)
	}
	b.tenant.ExpireTokens()
	if got := b.asks("rita", nil, "list_inbox_tasks", object{}); got.OK || !strings.Contains(got.Error.Message, "log in again there") {
		t.Errorf("after another server has dropped it: %+v", got.Error)
	}
}

// TestAWrongSecretEndsNobodysLogin: after the service's configuration is fixed, people need not log
// in again.
func TestAWrongSecretEndsNobodysLogin(t *testing.T) {
	t.Parallel()
	b, _, _ := approvers(t)
	b.logIn("Helena Duarte")
	right := b.login
	wrong := right
	wrong.ClientID, wrong.ClientSecret = b.config.Tenant.ClientID, "not the secret"
	b.openLogins(wrong)
	b.tenant.ExpireTokens()
	if got := b.asks("rita", nil, "list_inbox_tasks", object{}); got.OK || strings.Contains(got.Error.Message, "log in") {
		t.Errorf("%+v", got)
	}
	b.openLogins(right)
	if got := b.asks("rita", nil, "list_inbox_tasks", object{}); !got.OK {
		t.Errorf("with the right secret: %v", got.Error)
	}
}

// TestARequestIsSentBackToWhoeverBegan, with the required changes; a step that cannot be sent back
// is refused with that reason.
func TestARequestIsSentBackToWhoeverBegan(t *testing.T) {
	t.Parallel()
	b, anas, _ := approvers(t)
	b.logIn("Helena Duarte")
	if got := b.asks("rita", nil, "send_back_step", object{"worker": b.id("Ana Souza"), "task": anas}); got.OK || got.Error.Type != contracts.ErrInvalidParameters {
		t.Errorf("without a reason: %+v", got)
	}
	got := b.asks("rita", nil, "send_back_step", object{"worker": b.id("Ana Souza"), "task": anas, "comment": "one day less"})
	if !got.OK || got.Facts["decision"] != "sent_back" || got.Facts["comment"] != "one day less" {
		t.Errorf("%+v %v", got.Facts, got.Error)
	}
}

// TestALoginIsKeptEncrypted with the key beside the folder or the operator's own. A login stored
// before the key existed is read once and encrypted. Without the key, the person must log in again.
func TestALoginIsKeptEncrypted(t *testing.T) {
	t.Parallel()
	b, anas, _ := approvers(t)
	b.logIn("Helena Duarte")
	file := filepath.Join(b.login.Dir, b.id("Helena Duarte")+".json")
	sealed, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(sealed, []byte(`{"sealed":`)) {
		t.Fatalf("%v %s", err, sealed)
	}
	for _, path := range []string{file, b.login.Dir + ".key"} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	key, err := os.ReadFile(b.login.Dir + ".key")
	if err != nil {
		t.Fatal(err)
	}
	own := bytes.Repeat([]byte("k"), 32)
	with := func(keys ...[]byte) contracts.ToolResult {
		t.Helper()
		b.login.Keys = keys
		b.openLogins(b.login)
		return b.asks("rita", nil, "list_inbox_tasks", object{})
	}
	if got := with(own); got.OK || !strings.Contains(got.Error.Message, "log in there") {
		t.Errorf("with another key: %+v", got.Error)
	}
	if got := with(own, key); !got.OK {
		t.Errorf("with both: %v", got.Error)
	}
	vault, err := login.NewVault([][]byte{key}, "logins at Workday")
	if err != nil {
		t.Fatal(err)
	}
	var held login.Grant
	if _, err := vault.Load(file, &held); err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(map[string]string{"refresh_token": held.RefreshToken, "initial": contracts.HashBytes(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, plain, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := with(own); !got.OK {
		t.Errorf("a login of before there was a key: %v", got.Error)
	}
	if raw, err := os.ReadFile(file); err != nil || bytes.Contains(raw, []byte("refresh_token")) {
		t.Errorf("%v %s", err, raw)
	}
	if got := b.asks("rita", nil, "approve_step", object{"worker": b.id("Ana Souza"), "task": anas}); !got.OK {
		t.Error(got.Error)
	}
}
