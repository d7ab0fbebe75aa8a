package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
)

// marker is part of every secret.
const marker = "s3cret"

// issuing is an authorization server. A refresh token works once.
type issuing struct {
	t        *testing.T
	url      string
	resource string // of the MCP server that it protects

	mu         sync.Mutex // guards the fields below
	meta       map[string]any
	iss        string            // the issuer in its redirects
	oidcOnly   bool              // it has no OAuth metadata
	down       bool              // it answers 503
	clients    map[string]string // redirect URIs by client
	challenges map[string]string // of PKCE, by code
	n          int
	access     string // the valid one
	refresh    string // the valid one; "" if there is none
	refreshes  int
	last       url.Values // of the token endpoint
}

func issuer(t *testing.T) *issuing {
	t.Helper()
	s := &issuing{t: t, clients: map[string]string{"known": ""}, challenges: map[string]string{}}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.meta = map[string]any{
		"issuer": s.url, "authorization_endpoint": s.url + "/authorize", "token_endpoint": s.url + "/token", "registration_endpoint": s.url + "/register",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"scopes_supported": []string{"things", "offline_access"},
	}
	locked := func(do func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			do(w, r)
		}
	}
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", locked(func(w http.ResponseWriter, r *http.Request) {
		if s.oidcOnly {
			http.NotFound(w, r)
			return
		}
		answer(w, http.StatusOK, s.meta)
	}))
	mux.HandleFunc("GET /.well-known/openid-configuration", locked(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.meta) }))
	mux.HandleFunc("POST /register", locked(s.register))
	mux.HandleFunc("GET /authorize", locked(s.authorize))
	mux.HandleFunc("POST /token", locked(s.token))
	mux.Handle("POST /away", http.RedirectHandler(s.url+"/token", http.StatusTemporaryRedirect))
	return s
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *issuing) register(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	id := fmt.Sprintf("client-%d", len(s.clients))
	s.clients[id] = fmt.Sprint(in["redirect_uris"].([]any)[0])
	in["client_id"] = id
	answer(w, http.StatusCreated, in)
}

// authorize is the page on which the person consents.
func (s *issuing) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	redirect, known := s.clients[q.Get("client_id")]
	scopes := strings.Fields(q.Get("scope"))
	slices.Sort(scopes)
	if !known || redirect != "" && redirect != q.Get("redirect_uri") || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || q.Get("resource") != s.resource || !slices.Equal(scopes, []string{"offline_access", "things"}) {
		s.t.Errorf("the link asks for %v", q)
	}
	s.n++
	code := fmt.Sprintf("%s-code-%d", marker, s.n)
	s.challenges[code] = q.Get("code_challenge")
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	if s.iss != "" {
		back.Set("iss", s.iss)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (s *issuing) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.last = r.PostForm
	if s.down {
		http.Error(w, marker+" is what I was sent", http.StatusServiceUnavailable)
		return
	}
	if r.PostForm.Get("resource") != s.resource {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_target"})
		return
	}
	var good bool
	if r.PostForm.Get("grant_type") == "refresh_token" {
		s.refreshes++
		good = s.refresh != "" && r.PostForm.Get("refresh_token") == s.refresh
	} else {
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		challenge, known := s.challenges[r.PostForm.Get("code")]
		good = known && challenge == base64.RawURLEncoding.EncodeToString(sum[:])
		delete(s.challenges, r.PostForm.Get("code"))
	}
	if !good {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "no good: " + r.PostForm.Encode() + marker})
		return
	}
	s.n++
	s.access, s.refresh = fmt.Sprintf("%s-access-%d", marker, s.n), fmt.Sprintf("%s-refresh-%d", marker, s.n)
	answer(w, http.StatusOK, map[string]any{"access_token": s.access, "refresh_token": s.refresh, "token_type": "Bearer", "expires_in": 600})
}

// change changes the server's state.
func (s *issuing) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *issuing) tokens() (access, refresh string, refreshes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access, s.refresh, s.refreshes
}

// guarded returns an MCP server that an authorization server protects.
func guarded(t *testing.T, challenge bool) (*world, *issuing) {
	t.Helper()
	s := issuer(t)
	w := serve(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			at := "http://" + r.Host
			switch access, _, _ := s.tokens(); {
			case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource"):
				answer(rw, http.StatusOK, map[string]any{"resource": at, "authorization_servers": []string{s.url}, "scopes_supported": []string{"things"}})
			case access == "" || r.Header.Get("Authorization") != "Bearer "+access:
				if challenge {
					rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+at+`/.well-known/oauth-protected-resource"`)
				}
				http.Error(rw, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			default:
				next.ServeHTTP(rw, r)
			}
		})
	})
	s.resource = w.url
	w.tool(reading("look"), nil)
	w.tool(&sdk.Tool{Name: "write"}, nil)
	return w, s
}

// person opens the link and follows the redirects; edit changes the callback's query.
func person(t *testing.T, edit func(back url.Values)) func(string) {
	return func(link string) {
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Get(link)
		if err != nil {
			t.Error(err)
			return
		}
		res.Body.Close()
		back, err := res.Location()
		if err != nil {
			t.Error(err)
			return
		}
		if edit != nil {
			q := back.Query()
			edit(q)
			back.RawQuery = q.Encode()
		}
		if res, err = client.Get(back.String()); err != nil {
			t.Error(err)
			return
		}
		res.Body.Close()
	}
}

// logged logs in and returns the token file.
func logged(t *testing.T, w *world, now func() time.Time) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens.json")
	if renewable, err := (mcp.Login{Server: w.url, File: file, Show: person(t, nil), Now: now}).Run(t.Context()); err != nil || !renewable {
		t.Fatal(renewable, err)
	}
	return file
}

// loggedIn is a bridge with the tokens of a person, a clock and a log.
type loggedIn struct {
	url, file string
	log       lockedBuffer
	mu        sync.Mutex // guards at
	at        time.Time
}

func (l *loggedIn) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *loggedIn) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = l.at.Add(d)
}

func withLogin(t *testing.T, w *world) *loggedIn {
	t.Helper()
	l := &loggedIn{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	l.file = logged(t, w, l.now)
	logger := slog.New(slog.NewTextHandler(&l.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tokens, err := mcp.OpenTokens(t.Context(), mcp.TokensConfig{File: l.file, Server: w.url, Now: l.now, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	_, l.url = bridged(t, mcp.Config{URL: w.url, Tokens: tokens, Logger: logger}, trusted)
	return l
}

func TestAPersonLogsIn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		challenge bool
		edit      func(*issuing, *mcp.Login)
	}{
		"the answer says where the metadata is": {challenge: true},
		"metadata at the well-known place":      {},
		"a server of OpenID Connect":            {edit: func(s *issuing, _ *mcp.Login) { s.oidcOnly = true }},
		"a client that it knows":                {edit: func(_ *issuing, l *mcp.Login) { l.ClientID = "known" }},
		"scopes that are named":                 {edit: func(_ *issuing, l *mcp.Login) { l.Scopes = []string{"things", "offline_access"} }},
		"a redirect that names its issuer":      {edit: func(s *issuing, _ *mcp.Login) { s.iss = s.url }},
		"a state that is not its own, before": {edit: func(_ *issuing, l *mcp.Login) {
			l.Show = func(link string) { wrongState(t)(link); person(t, nil)(link) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := guarded(t, tt.challenge)
			l := mcp.Login{Server: w.url, File: filepath.Join(t.TempDir(), "tokens.json"), Show: person(t, nil)}
			if tt.edit != nil {
				tt.edit(s, &l)
			}
			if renewable, err := l.Run(t.Context()); err != nil || !renewable {
				t.Fatal(renewable, err)
			}
			if info, err := os.Stat(l.File); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			tokens, err := mcp.OpenTokens(t.Context(), mcp.TokensConfig{File: l.File, Server: w.url})
			if err != nil {
				t.Fatal(err)
			}
			_, at := bridged(t, mcp.Config{URL: w.url, Tokens: tokens}, trusted)
			if r := execute(t, at, "look", nil); !r.OK {
				t.Errorf("%+v", r.Error)
			}
			if _, _, refreshes := s.tokens(); refreshes != 0 {
				t.Errorf("a fresh token was renewed %d times", refreshes)
			}
		})
	}
}

// wrongState returns with another state.
func wrongState(t *testing.T) func(string) {
	return person(t, func(back url.Values) { back.Set("state", "mine") })
}

func TestAnAnswerThatIsWrongIsNoLogin(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit func(*issuing, *mcp.Login)
		want string
	}{
		"metadata of another issuer":   {func(s *issuing, _ *mcp.Login) { s.meta["issuer"] = "https://elsewhere.example" }, "issuer"},
		"a redirect of another issuer": {func(s *issuing, _ *mcp.Login) { s.iss = "https://elsewhere.example" }, "issuer"},
		"no issuer where one is promised": {func(s *issuing, _ *mcp.Login) {
			s.meta["authorization_response_iss_parameter_supported"] = true
		}, "iss"},
		"no PKCE":                    {func(s *issuing, _ *mcp.Login) { delete(s.meta, "code_challenge_methods_supported") }, "PKCE"},
		"a token endpoint by http":   {func(s *issuing, _ *mcp.Login) { s.meta["token_endpoint"] = "http://tokens.example/token" }, "HTTPS"},
		"a page that is a script":    {func(s *issuing, _ *mcp.Login) { s.meta["authorization_endpoint"] = "javascript:alert(1)" }, "scheme"},
		"no registration, no client": {func(s *issuing, _ *mcp.Login) { delete(s.meta, "registration_endpoint") }, "registration"},
		"the person says no": {func(_ *issuing, l *mcp.Login) {
			l.Show = person(t, func(back url.Values) { back.Del("code"); back.Set("error", "access_denied") })
		}, "access_denied"},
		"a code of somebody else": {func(_ *issuing, l *mcp.Login) {
			l.Show = person(t, func(back url.Values) { back.Set("code", marker+"-other") })
		}, "answered 400 invalid_grant"},
		"a token endpoint that redirects": {func(s *issuing, _ *mcp.Login) { s.meta["token_endpoint"] = s.url + "/away" }, "answered 307"},
		"an authorisation server inside": {func(s *issuing, l *mcp.Login) {
			l.HTTP.Control = func(_, address string, _ syscall.RawConn) error {
				if "http://"+address == s.url {
					return errors.New("must not be reached")
				}
				return nil
			}
		}, "must not be reached"},
		"a server without a login": {func(_ *issuing, l *mcp.Login) { l.Server = serve(t, nil).url }, "401"},
		"a server by http":         {func(_ *issuing, l *mcp.Login) { l.Server = "http://mcp.example/mcp" }, "https"},
		"nobody comes":             {func(_ *issuing, l *mcp.Login) { l.Show, l.Wait = func(string) {}, time.Millisecond }, "nobody has logged in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := guarded(t, true)
			l := mcp.Login{Server: w.url, File: filepath.Join(t.TempDir(), "tokens.json"), Show: person(t, nil)}
			s.change(func() { tt.edit(s, &l) })
			_, err := l.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), marker) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if _, err := os.Stat(l.File); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a token file: %v", err)
			}
		})
	}
}

// TestAnotherStateIsNotTakenForTheLogin: its code is never exchanged, and Ctrl-C ends the wait.
func TestAnotherStateIsNotTakenForTheLogin(t *testing.T) {
	t.Parallel()
	w, s := guarded(t, true)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := mcp.Login{Server: w.url, File: filepath.Join(t.TempDir(), "tokens.json"), Show: func(link string) {
		wrongState(t)(link)
		cancel()
	}}.Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if access, _, _ := s.tokens(); access != "" {
		t.Error("the code was exchanged")
	}
}

func TestAnAccessTokenIsRenewed(t *testing.T) {
	t.Parallel()
	w, s := guarded(t, true)
	l := withLogin(t, w)
	if r := execute(t, l.url, "look", nil); !r.OK {
		t.Fatalf("%+v", r.Error)
	}
	for round := 1; round <= 3; round++ { // each refresh token works once
		l.pass(9*time.Minute + time.Second) // of ten
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				if r := execute(t, l.url, "look", nil); !r.OK {
					t.Errorf("%+v", r.Error)
				}
			})
		}
		calls.Wait()
		_, refresh, refreshes := s.tokens()
		if raw, err := os.ReadFile(l.file); err != nil || refreshes != round || !strings.Contains(string(raw), refresh) {
			t.Fatalf("round %d: %d refreshes, the file has the newest: %v", round, refreshes, strings.Contains(string(raw), refresh))
		}
	}
	before := w.calls.Load()
	s.change(func() { s.access = marker + "-revoked" }) // it expires early
	if r := execute(t, l.url, "write", nil); !r.OK {
		t.Errorf("%+v", r.Error)
	}
	if _, _, refreshes := s.tokens(); refreshes != 4 || w.calls.Load() != before+1 {
		t.Errorf("%d refreshes, the write was done %d times", refreshes, w.calls.Load()-before)
	}
	if text := l.log.String(); strings.Contains(text, marker) {
		t.Errorf("a token is told: %s", text)
	}
}

func TestALoginThatHasEndedIsSaidToHaveEnded(t *testing.T) {
	t.Parallel()
	w, s := guarded(t, true)
	l := withLogin(t, w)
	said := ""
	for _, capability := range []string{"look", "write"} { // the first with a session, the second without
		execute(t, l.url, "look", nil)
		s.change(func() { s.access, s.refresh = marker+"-other", "" })
		r := execute(t, l.url, capability, nil)
		if r.OK || r.Error.Type != contracts.ErrUnauthorized || r.Error.Effect != contracts.EffectNone || r.Error.Retryable || !strings.Contains(r.Error.Message, "log in again: manifold bridge mcp login "+w.url) {
			t.Errorf("%s: %+v", capability, r.Error)
		}
		said += fmt.Sprintf("%+v", r.Error)
	}
	if _, _, refreshes := s.tokens(); refreshes != 1 {
		t.Errorf("a refresh token that was refused was sent %d times", refreshes)
	}
	again, err := os.ReadFile(logged(t, w, l.now))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.file, again, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, l.url, "look", nil); !r.OK { // without a restart
		t.Errorf("%+v", r.Error)
	}
	if text := l.log.String() + said; strings.Contains(text, marker) {
		t.Errorf("a token is told: %s", text)
	}
}

// TestAnAuthorisationServerThatIsAwayEndsNoLogin, and a write that could not be sent had no effect.
func TestAnAuthorisationServerThatIsAwayEndsNoLogin(t *testing.T) {
	t.Parallel()
	w, s := guarded(t, true)
	l := withLogin(t, w)
	execute(t, l.url, "look", nil)
	l.pass(time.Hour)
	s.change(func() { s.down = true })
	r := execute(t, l.url, "write", nil)
	if r.OK || r.Error.Effect != contracts.EffectNone || !r.Error.Retryable || !strings.Contains(r.Error.Message, "answered 503") {
		t.Errorf("%+v", r.Error)
	}
	s.change(func() { s.down = false })
	if r := execute(t, l.url, "write", nil); !r.OK || w.calls.Load() != 2 {
		t.Errorf("%+v, %d calls", r.Error, w.calls.Load())
	}
	if text := l.log.String() + fmt.Sprintf("%+v", r.Error); strings.Contains(text, marker) {
		t.Errorf("a token is told: %s", text)
	}
}

// TestTokensOfAnotherProcessAreTakenOver: of two processes that share a file, the other one renewed
// first.
func TestTokensOfAnotherProcessAreTakenOver(t *testing.T) {
	t.Parallel()
	w, s := guarded(t, true)
	l := withLogin(t, w)
	other, err := mcp.OpenTokens(t.Context(), mcp.TokensConfig{File: l.file, Server: w.url, Now: l.now})
	if err != nil {
		t.Fatal(err)
	}
	_, second := bridged(t, mcp.Config{URL: w.url, Tokens: other}, trusted)
	l.pass(time.Hour)
	for _, at := range []string{l.url, second} {
		if r := execute(t, at, "look", nil); !r.OK {
			t.Errorf("%+v", r.Error)
		}
	}
	if _, _, refreshes := s.tokens(); refreshes != 1 {
		t.Errorf("%d refreshes", refreshes)
	}
}

func TestATokenFileIsOfOneServer(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"of another server":          `{"server":"https://other.example/mcp","token_endpoint":"https://a.example/token"}`,
		"with an endpoint by http":   `{"server":"https://mcp.example/mcp","token_endpoint":"http://a.example/token"}`,
		"with an endpoint of a file": `{"server":"https://mcp.example/mcp","token_endpoint":"file:///etc/passwd"}`,
		"of nonsense":                `{"` + marker + `":1}`,
	} {
		file := filepath.Join(t.TempDir(), "tokens.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.OpenTokens(t.Context(), mcp.TokensConfig{File: file, Server: "https://mcp.example/mcp"}); contracts.CodeOf(err) != contracts.CodeInvalid || strings.Contains(err.Error(), marker) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mcp.OpenTokens(t.Context(), mcp.TokensConfig{File: filepath.Join(t.TempDir(), "none"), Server: "https://mcp.example/mcp"}); contracts.CodeOf(err) != contracts.CodeUnauthorized {
		t.Errorf("%v", err)
	}
}
