package app_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// secretMark is part of every token.
const secretMark = "s3cret-t0ken"

// office is an MCP server with an account per person, and its authorization server.
type office struct {
	url string

	mu         sync.Mutex // guards the fields below
	challenges map[string]string
	accounts   map[string]string // account by access token
	refresh    map[string]string // account by refresh token
	made       int
	registered int
	refreshed  int
}

func openOffice(t *testing.T) *office {
	t.Helper()
	o := &office{challenges: map[string]string{}, accounts: map[string]string{"operator": "operator"}, refresh: map[string]string{}}
	server := sdk.NewServer(&sdk.Implementation{Name: "office", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	server.AddTool(&sdk.Tool{Name: "whose_desk", Description: "Tells whose desk it is.", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{StructuredContent: map[string]any{"desk": "the desk of " + o.accountOf(req.Extra.Header.Get("Authorization"))}}, nil
		})
	tools := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if o.accountOf(r.Header.Get("Authorization")) == "" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		tools.ServeHTTP(w, r)
	})
	told := func(v func() any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { give(w, http.StatusOK, v()) }
	}
	mux.HandleFunc("/.well-known/oauth-protected-resource/", told(func() any {
		return map[string]any{"resource": o.url + "/mcp", "authorization_servers": []string{o.url}}
	}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", told(func() any {
		return map[string]any{
			"issuer": o.url, "authorization_endpoint": o.url + "/authorize", "token_endpoint": o.url + "/token", "registration_endpoint": o.url + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		}
	}))
	mux.HandleFunc("POST /register", o.register)
	mux.HandleFunc("GET /authorize", o.authorize)
	mux.HandleFunc("POST /token", o.token)
	h := httptest.NewServer(mux)
	t.Cleanup(h.Close)
	o.url = h.URL
	return o
}

func give(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (o *office) accountOf(header string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.accounts[strings.TrimPrefix(header, "Bearer ")]
}

func (o *office) register(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	in["client_id"] = "manifold"
	o.mu.Lock()
	o.registered++
	o.mu.Unlock()
	give(w, http.StatusCreated, in)
}

// authorize logs each caller in with the next account.
func (o *office) authorize(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := r.URL.Query()
	o.made++
	code := fmt.Sprintf("code-%d", o.made)
	if o.challenges[code] = q.Get("code_challenge"); q.Get("code_challenge_method") != "S256" {
		http.Error(w, "no PKCE", http.StatusBadRequest)
		return
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (o *office) token(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = r.ParseForm()
	account := ""
	if old := r.PostForm.Get("refresh_token"); r.PostForm.Get("grant_type") == "refresh_token" {
		account = o.refresh[old]
		delete(o.refresh, old)
		o.refreshed++
	} else {
		sum, code := sha256.Sum256([]byte(r.PostForm.Get("code_verifier"))), r.PostForm.Get("code")
		if o.challenges[code] == base64.RawURLEncoding.EncodeToString(sum[:]) {
			account = "account-" + strings.TrimPrefix(code, "code-")
		}
		delete(o.challenges, code)
	}
	if account == "" {
		give(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	o.made++
	access, refresh := fmt.Sprintf("%s-a%d", secretMark, o.made), fmt.Sprintf("%s-r%d", secretMark, o.made)
	o.accounts[access], o.refresh[refresh] = account, account
	give(w, http.StatusOK, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 600})
}

// end expires all access tokens, so that they must be refreshed.
func (o *office) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.accounts = map[string]string{"operator": "operator"}
}

var codeOnPage = regexp.MustCompile(`Your code is ([A-Z2-7]{5}-[A-Z2-7]{5})`)

// logIn opens a link like a browser and returns the code on the page.
func logIn(t *testing.T, link string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Client{Jar: jar}).Post(link, "application/x-www-form-urlencoded", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	found := codeOnPage.FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s shows no code: %s", link, text)
	}
	return string(found[1])
}

const deskOverlay = `{"tools":{"whose_desk":{"metadata":{"side_effect_class":"read","intent_hints":{"examples":["whose desk is this"]}}}}}`

// TestPeopleLogInAtAServerBehindABridgeOfTheServer checks logins by a link in the conversation.
// Each call is made with the account of the requester, also after a restart and after a refresh
// of the token. No token may be readable in the data directory or the log.
func TestPeopleLogInAtAServerBehindABridgeOfTheServer(t *testing.T) {
	t.Parallel()
	for name, byAdmin := range map[string]bool{"of the bootstrap file": false, "of the admin API": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, dir, log := openOffice(t), t.TempDir(), &apptest.Log{}
			entry := `{"domain":"office","mcp":{"url":"` + o.url + `/mcp","authorization":"env:OFFICE","logins":{},"overlay":` + deskOverlay + `}}`
			bootstrap := `{"domains":[` + entry + `]}`
			if byAdmin {
				bootstrap = `{"domains":[]}`
			}
			start := func() (*app.App, *client.Client) {
				a := apptest.Start(t, app.Config{
					Addr: "127.0.0.1:0", DataDir: dir, SessionBurst: 1000, SessionsPerMinute: 1000, Bootstrap: []byte(bootstrap),
					Lookup: func(name string) (string, bool) { return "Bearer operator", name == "OFFICE" },
					Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				})
				if err := a.Settled(t.Context()); err != nil {
					t.Fatal(err)
				}
				return a, apptest.Client(t, client.Config{URL: a.URL(), Key: apptest.Key(t, a.AdminKeyFile())})
			}
			a, admin := start()
			if byAdmin {
				var reg contracts.Registration
				if err := json.Unmarshal([]byte(entry), &reg); err != nil {
					t.Fatal(err)
				}
				if report, err := admin.RegisterDomain(t.Context(), reg); err != nil || report.Outcome != contracts.DomainActive {
					t.Fatalf("%v: %+v", err, report)
				}
			}
			keys := map[string]string{}
			for _, who := range []string{"ana", "ben"} {
				made, err := admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: who, Roles: []string{"operator"}})
				if err != nil {
					t.Fatal(err)
				}
				keys[who] = made.Text
			}
			person := func(a *app.App, who string) *client.Client {
				return apptest.Client(t, client.Config{URL: a.URL(), Key: keys[who]})
			}
			wait := client.Opt{Wait: 30 * time.Second}
			desks := map[string]string{}
			for _, who := range []string{"ana", "ben"} {
				c := person(a, who)
				asked, err := c.StartSession(t.Context(), contracts.StartSession{Message: "whose desk is this"}, wait)
				if err != nil || len(asked.Interrupts) != 1 {
					t.Fatalf("%s is not asked: %v: %s", who, err, whole(t, asked))
				}
				link, _ := asked.Interrupts[0].Show["link"].(string)
				if !strings.HasPrefix(link, a.URL()+"/bridges/office/login/") {
					t.Fatalf("%s: %s", who, whole(t, asked))
				}
				told, err := c.Say(t.Context(), asked.SessionID, logIn(t, link), wait)
				if err != nil {
					t.Fatal(err)
				}
				desks[who] = deskIn(t, told)
			}
			if desks["ana"] == desks["ben"] || desks["ana"] == "operator" {
				t.Fatalf("the accounts are %v", desks)
			}
			nothingElseIsServed(t, a.URL())
			apptest.Stop(t, a)
			o.end()
			a, _ = start()
			for _, who := range []string{"ben", "ana"} {
				told, err := person(a, who).StartSession(t.Context(), contracts.StartSession{Message: "whose desk is this"}, wait)
				if err != nil || deskIn(t, told) != desks[who] {
					t.Errorf("after the restart: %v: %s", err, whole(t, told))
				}
			}
			apptest.Stop(t, a)
			if o.registered != 1 || o.refreshed != 2 {
				t.Errorf("%d clients were registered, %d tokens renewed", o.registered, o.refreshed)
			}
			if strings.Contains(log.String(), secretMark) {
				t.Error("a token is in the log")
			}
			nowhereIn(t, dir, secretMark)
		})
	}
}

var deskText = regexp.MustCompile(`the desk of ([a-z0-9-]+)`)

// deskIn returns the account in an answer.
func deskIn(t *testing.T, said contracts.SessionResponse) string {
	t.Helper()
	found := deskText.FindStringSubmatch(whole(t, said))
	if found == nil {
		t.Fatalf("no desk: %s", whole(t, said))
	}
	return found[1]
}

// nothingElseIsServed checks that the path of bridges serves only the login pages, because calls
// there would need no API key.
func nothingElseIsServed(t *testing.T, at string) {
	t.Helper()
	for _, path := range []string{"/bridges/office/manifest", "/bridges/office/execute", "/bridges/office/login/../manifest", "/bridges/other/login/x", "/bridges/office/login/" + strings.Repeat("A", 60)} {
		res, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

// nowhereIn checks that no file in a directory contains a text.
func nowhereIn(t *testing.T, dir, text string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if files++; strings.Contains(string(raw), text) {
			t.Errorf("it stands in %s", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files: %v", files, err)
	}
}
