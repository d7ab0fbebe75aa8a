package login_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/manifold-run/manifold/domainkit/login"
)

// rotating issues tokens. A refresh token works once, an access token until the next one is issued.
type rotating struct {
	mu sync.Mutex // guards n
	n  int
}

func (r *rotating) renew(_ context.Context, g login.Grant) (*oauth2.Token, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g.RefreshToken != fmt.Sprint("refresh-", r.n) {
		return nil, fmt.Errorf("%w: %s was used", login.ErrEnded, g.RefreshToken)
	}
	r.n++
	return &oauth2.Token{AccessToken: fmt.Sprint("access-", r.n), RefreshToken: fmt.Sprint("refresh-", r.n), ExpiresIn: 3600}, nil
}

func vault(t *testing.T, key string) login.Vault {
	t.Helper()
	v, err := login.NewVault([][]byte{bytes.Repeat([]byte(key), 32)}, "a test")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestProcessesShareALogin: two processes with one encrypted file renew its rotating refresh token
// one after the other, and neither is locked out. If the file is removed, the login has ended.
func TestProcessesShareALogin(t *testing.T) {
	t.Parallel()
	path, server := filepath.Join(t.TempDir(), "one.json"), &rotating{}
	if err := vault(t, "k").Save(path, login.Grant{RefreshToken: "refresh-0"}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 2 {
		tokens := login.NewTokens(login.TokensConfig{Store: &login.File{Path: path, Vault: vault(t, "k")}, Renew: server.renew})
		group.Go(func() {
			refused := ""
			for range 20 { // each token is rejected after its use
				token, err := tokens.Access(t.Context(), refused)
				if err != nil || token == refused {
					t.Errorf("after %q: %q %v", refused, token, err)
					return
				}
				refused = token
			}
		})
	}
	group.Wait()
	if raw, err := os.ReadFile(path); err != nil || bytes.Contains(raw, []byte("refresh")) {
		t.Errorf("%v %s", err, raw)
	}
	if _, err := (&login.File{Path: path, Vault: vault(t, "x")}).Load(t.Context()); err == nil {
		t.Error("another key opens it")
	}
	tokens := login.NewTokens(login.TokensConfig{Store: &login.File{Path: path, Vault: vault(t, "k")}, Renew: server.renew})
	token, err := tokens.Access(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	server.n++ // another client has used the refresh token
	server.mu.Unlock()
	for _, refused := range []string{token, "", ""} { // a rejected token is not returned again
		if got, err := tokens.Access(t.Context(), refused); !errors.Is(err, login.ErrEnded) {
			t.Errorf("after a refusal: %q %v", got, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Access(t.Context(), token); !errors.Is(err, login.ErrEnded) {
		t.Errorf("without its file: %v", err)
	}
}

// TestTheWayBackIsOfOneBrowserAndOnce: a login returns only to its browser, in time, and once.
func TestTheWayBackIsOfOneBrowserAndOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pages := login.Pages[string]{URL: "https://a.example", Path: "/", Now: func() time.Time { return now }}
	leave := func(state string) *http.Cookie {
		t.Helper()
		w := httptest.NewRecorder()
		if err := pages.Leave(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/login", nil), "https://b.example/authorize", state, "ana"); err != nil {
			t.Fatal(err)
		}
		res := w.Result()
		if c := res.Cookies(); res.StatusCode != http.StatusSeeOther || len(c) != 1 || !c[0].HttpOnly || !c[0].Secure || !strings.Contains(res.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Fatalf("%d %v %v", res.StatusCode, c, res.Header)
		}
		return res.Cookies()[0]
	}
	back := func(state string, cookie *http.Cookie) bool {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/callback?state="+state, nil)
		if cookie != nil {
			r.AddCookie(cookie)
		}
		who, ok := pages.Back(r)
		return ok && who == "ana"
	}
	first, second := leave("1"), leave("2")
	for name, wrong := range map[string]bool{"without a cookie": back("1", nil), "of another login": back("1", second), "of no login": back("3", first)} {
		if wrong {
			t.Error(name)
		}
	}
	if !back("1", first) || back("1", first) {
		t.Error("it does not come back just once")
	}
	if now = now.Add(login.BrowserTime + time.Second); back("2", second) {
		t.Error("it comes back too late")
	}
}
