package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// code is an authorization code that has not been redeemed.
type code struct {
	subject, redirect, challenge string
	expires                      time.Time
}

const codeLife = 10 * time.Minute

// authorize is the authorization endpoint. login_hint gives the person by Workday id, number or
// e-mail address; without it a form asks. There are no passwords.
func (t *Tenant) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t.mu.Lock()
	defer t.mu.Unlock()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || back.Host == "" || r.PathValue("tenant") != t.cfg.Tenant || q.Get("client_id") != t.tokens.clientID {
		http.Error(w, "the tenant, the client or the address to return to is not known", http.StatusBadRequest)
		return
	}
	if q.Get("login_hint") == "" {
		askWho(w, q)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	who := t.books.company.account(q.Get("login_hint"))
	switch {
	case q.Get("response_type") != "code":
		answer.Set("error", "unsupported_response_type")
	case who == nil:
		answer.Set("error", "access_denied")
	default:
		issued := t.tokens.issue("code", who.id)
		t.tokens.codes[issued] = code{who.id, q.Get("redirect_uri"), q.Get("code_challenge"), t.books.now().Add(codeLife)}
		answer.Set("code", issued)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusSeeOther) //nolint:gosec // a sandbox takes any address of its client
}

// askWho shows a form that repeats the request with a login_hint.
func askWho(w http.ResponseWriter, q url.Values) {
	type field struct{ Name, Value string }
	fields := []field{}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		fields = append(fields, field{name, q.Get(name)})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page := template.Must(template.New("login").Parse(`<!doctype html><html lang="en"><title>Workday sandbox</title><h1>Log in to the sandbox tenant</h1>
<form>{{range .}}<input type="hidden" name="{{.Name}}" value="{{.Value}}">{{end}}
<label>E-mail address or employee number <input name="login_hint" required autofocus></label> <button>Log in</button></form></html>
`))
	_ = page.Execute(w, fields) // the client is gone
}

// account returns the active worker that logs in, or nil.
func (c *company) account(who string) *worker {
	i := slices.IndexFunc(c.workers, func(w *worker) bool {
		return !w.terminated && (w.id == who || w.number == who || w.email != "" && strings.EqualFold(w.email, who))
	})
	if i < 0 {
		return nil
	}
	return c.workers[i]
}

// redeem exchanges an authorization code. The caller holds mu.
func (t *Tenant) redeem(form url.Values) reply {
	given := t.tokens.codes[form.Get("code")]
	delete(t.tokens.codes, form.Get("code"))
	sum := sha256.Sum256([]byte(form.Get("code_verifier")))
	proof := base64.RawURLEncoding.EncodeToString(sum[:])
	if given.subject == "" || !t.books.now().Before(given.expires) || given.redirect != form.Get("redirect_uri") || cmp.Or(given.challenge, proof) != proof {
		return reply{http.StatusBadRequest, oauthError{"invalid_grant", "the code is unknown, used or somebody else's"}}
	}
	out, next := t.accessFor(given.subject), t.tokens.issue("refresh", given.subject)
	t.tokens.refresh[next] = given.subject
	out["refresh_token"] = next
	return reply{http.StatusOK, out}
}
