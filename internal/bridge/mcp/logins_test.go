package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
)

// office is an MCP server with personal accounts, and a bridge to it.
type office struct {
	*issuing

	t      *testing.T
	server string
	dir    string
	url    string // of the bridge
	log    lockedBuffer

	mu     sync.Mutex // guards the fields below
	closed bool       // all tokens are invalid
	used   string     // the account of the last call
}

func openOffice(t *testing.T) *office {
	t.Helper()
	o := &office{issuing: issuer(t), t: t, dir: t.TempDir()}
	w := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			o.mu.Lock()
			defer o.mu.Unlock()
			token := r.Header.Get("Authorization")
			switch {
			case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"):
				answer(rw, http.StatusOK, map[string]any{"resource": "http://" + r.Host, "authorization_servers": []string{o.issuing.url}, "scopes_supported": []string{"things"}})
			case token == "Bearer operator":
				next.ServeHTTP(rw, r)
			case o.closed || !strings.HasPrefix(token, "Bearer "+marker+"-access-"):
				http.Error(rw, "who are you, "+token, http.StatusUnauthorized)
			default:
				o.used = token
				next.ServeHTTP(rw, r)
			}
		})
	})
	w.tool(reading("look"), nil)
	w.AddTool(plainly("get_sure"), func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if len(req.Params.InputResponses) == 0 {
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"sure": &sdk.ElicitParams{Message: "Sure?"}}}, nil
		}
		return &sdk.CallToolResult{StructuredContent: map[string]any{"sure": req.Params.InputResponses["sure"].(*sdk.ElicitResult).Action}}, nil
	})
	o.resource, o.server = w.url, w.url
	o.open()
	return o
}

// open starts a bridge on the folder's data.
func (o *office) open() {
	o.t.Helper()
	var domain http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { domain.ServeHTTP(w, r) }))
	o.t.Cleanup(server.Close)
	if o.url == "" {
		o.url = server.URL
	}
	logger := slog.New(slog.NewTextHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	source, err := mcp.NewLogins(mcp.LoginsConfig{Dir: o.dir, PublicURL: server.URL, Server: mcp.Config{
		URL: o.server, Logger: logger, HTTP: bridge.HTTP{Authorize: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer operator")
			return nil
		}},
	}})
	if err != nil {
		o.t.Fatal(err)
	}
	overlay, err := bridge.ParseOverlay([]byte(trusted))
	if err != nil {
		o.t.Fatal(err)
	}
	d, err := bridge.New(bridge.Config{Domain: "office", Overlay: overlay, Tokens: []string{"core"}, Logger: logger}, source)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = d.Close(context.Background()) })
	o.url, domain = server.URL, d
}

// call calls a tool for a person; input answers earlier questions.
func (o *office) call(who, tool string, input *contracts.GivenInput) contracts.ToolResult {
	o.t.Helper()
	body, err := json.Marshal(contracts.ExecuteRequest{Capability: tool, Context: contracts.ExecuteContext{
		TimeoutMS: 20_000, Principal: contracts.Principal{ID: "user:" + who}, Input: input,
	}})
	if err != nil {
		o.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, o.url+"/execute", strings.NewReader(string(body)))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer core")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	var out contracts.ToolResult
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		o.t.Fatal(err)
	}
	return out
}

// account returns the token of the last call.
func (o *office) account() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.used
}

// asked returns the link of a call that asks for a login, and a function for its answer.
func (o *office) asked(r contracts.ToolResult) (link string, with func(code string) *contracts.GivenInput) {
	o.t.Helper()
	n := needs(o.t, r)
	if len(n.Questions) != 1 || n.Questions[0].Link == "" {
		o.t.Fatalf("%+v", n)
	}
	return n.Questions[0].Link, func(code string) *contracts.GivenInput {
		return &contracts.GivenInput{State: n.State, Answers: map[string]any{"code": code}}
	}
}

var shownCode = regexp.MustCompile(`Your code is ([A-Z2-7]{5}-[A-Z2-7]{5})`)

// browse opens a link and logs in, as a browser does, and returns the displayed code.
func (o *office) browse(link string) string {
	o.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		o.t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	text := o.fetch(client.Get(link))
	if shownCode.MatchString(text) || !strings.Contains(text, "If it is not, close this page.") {
		o.t.Errorf("the first page: %s", text)
	}
	text = o.fetch(client.Post(link, "application/x-www-form-urlencoded", nil))
	found := shownCode.FindStringSubmatch(text)
	if found == nil {
		o.t.Fatalf("no code: %s", text)
	}
	return found[1]
}

func (o *office) fetch(res *http.Response, err error) string {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return string(text)
}

func TestEachPersonLogsInByALinkAndIsCalledForWithTheirOwnAccount(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	accounts := map[string]string{}
	for _, who := range []string{"ana", "ben"} {
		link, with := o.asked(o.call(who, "look", nil))
		if _, with := o.asked(o.call(who, "look", with("AAAAA-AAAAA"))); with == nil {
			t.Error("a code before a login is taken")
		}
		code := o.browse(link)
		if r := o.call(who, "look", with("BBBBB-BBBBB")); r.OK || r.Error.Needs == nil || !strings.Contains(r.Error.Needs.Questions[0].Prompt, "not the code") {
			t.Errorf("%+v", r)
		}
		if r := o.call(who, "look", with(" "+strings.ToLower(code))); !r.OK {
			t.Fatalf("%+v", r.Error)
		}
		if r := o.call(who, "look", with(code)); !r.OK { // as the core repeats a read
			t.Errorf("%+v", r.Error)
		}
		accounts[who] = o.account()
	}
	if accounts["ana"] == accounts["ben"] {
		t.Errorf("both have the account %s", accounts["ana"])
	}
	o.open() // a restart
	for who, account := range accounts {
		if r := o.call(who, "look", nil); !r.OK || o.account() != account {
			t.Errorf("%s is called for with %s, not %s: %+v", who, o.account(), account, r.Error)
		}
	}
	if r := o.call("", "look", nil); r.OK {
		o.asked(r) // "user:" is another person
	}
	if strings.Contains(o.log.String(), marker) {
		t.Errorf("a token is in the log: %s", o.log.String())
	}
	err := filepath.WalkDir(o.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm() != 0o600 || strings.Contains(path, "ana") {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestALinkThatSomebodyElseOpensGivesNothing: the tokens are accepted when the requester enters the
// code, which nobody else can use.
func TestALinkThatSomebodyElseOpensGivesNothing(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	link, _ := o.asked(o.call("ana", "look", nil))
	code := o.browse(link) // by ben, for example, who was sent the link
	_, with := o.asked(o.call("ben", "look", nil))
	o.asked(o.call("ben", "look", with(code)))
	_, with = o.asked(o.call("ana", "look", nil))
	for range 5 { // guesses
		o.asked(o.call("ana", "look", with("AAAAA-AAAAA")))
	}
	o.asked(o.call("ana", "look", with(code)))
	if got := o.account(); got != "" {
		t.Errorf("called with %s", got)
	}
}

func TestTheWayBackIsOfOneBrowserAndOneLogin(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	link, _ := o.asked(o.call("ana", "look", nil))
	stop := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := stop.Post(link, "application/x-www-form-urlencoded", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	there, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	if res, err = stop.Get(there.String()); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	back, err := res.Location()
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range map[string]string{
		"without the cookie": back.String(), "of no login": o.url + "/login/callback?code=x&state=y", "a link that is made up": o.url + "/login/" + strings.Repeat("A", 60),
	} {
		if text := o.fetch(http.Get(url)); shownCode.MatchString(text) || !strings.Contains(text, "This") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestALoginThatHasEndedIsAskedForAgain, without losing earlier answers to questions of a tool.
func TestALoginThatHasEndedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	link, with := o.asked(o.call("ana", "get_sure", nil))
	asked := needs(t, o.call("ana", "get_sure", with(o.browse(link))))
	if asked.Questions[0].Link != "" {
		t.Fatalf("%+v", asked)
	}
	shut := func(closed bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.closed = closed
	}
	shut(true)
	o.change(func() { o.refresh = "" })
	link, with = o.asked(o.call("ana", "get_sure", &contracts.GivenInput{State: asked.State, Answers: map[string]any{"0/": true}}))
	shut(false)
	if r := o.call("ana", "get_sure", with(o.browse(link))); !r.OK || r.Facts["sure"] != "accept" {
		t.Errorf("%+v %+v", r.Facts, r.Error)
	}
}
