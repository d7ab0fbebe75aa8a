package httpapi_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/app"
)

const publicURL = "https://manifold.example.com"

func withLinks(c *app.Config) { c.Links.PublicURL = publicURL }

var linkForm = regexp.MustCompile(`\]\(` + publicURL + `(/approve/[^)]+)\)`)

// linkOf requests a write in a chat, and returns the path of the link in the answer, "" if there is
// none.
func (s *site) linkOf(who string, headers map[string]string) string {
	s.t.Helper()
	said := s.post(who, ask(alert, nil), headers)
	if !strings.Contains(said.content, "AAPL") {
		s.t.Fatalf("no gate is shown: %q", said.content)
	}
	if m := linkForm.FindStringSubmatch(said.content); m != nil {
		return m[1]
	}
	return ""
}

// anna requests an action that she may approve herself.
func anna(t *testing.T, change ...func(*app.Config)) (*site, string) {
	t.Helper()
	s := setup(t, append([]func(*app.Config){withLinks}, change...)...)
	s.person("anna", "operator", "approver")
	path := s.linkOf("anna", nil)
	if path == "" {
		t.Fatal("anna is shown no link")
	}
	return s, path
}

var hashField = regexp.MustCompile(`name="action_sha256" value="([0-9a-f]{64})"`)

// submit sends the form of a page as a browser does.
func (s *site) submit(path, decision, hash string, headers ...string) answer {
	s.t.Helper()
	body := url.Values{"decision": {decision}, "action_sha256": {hash}, "comment": {"as agreed"}}.Encode()
	return s.send("", http.MethodPost, path, body, append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}, headers...)...)
}

func (s *site) page(path string) (page answer, hash string) {
	s.t.Helper()
	page = s.send("", http.MethodGet, path, "")
	m := hashField.FindStringSubmatch(page.body)
	if page.status != http.StatusOK || m == nil {
		s.t.Fatalf("no form: %d %s", page.status, page.body)
	}
	return page, m[1]
}

// refused checks that a page is a refusal with this reason.
func refused(t *testing.T, what string, got answer, status int, reason string) {
	t.Helper()
	if got.status != status || !strings.Contains(got.body, `id="refusal">`+reason+`<`) || strings.Contains(got.body, "<form") {
		t.Errorf("%s: %d, want %d and %s:\n%s", what, got.status, status, reason, got.body)
	}
}

// only returns the only gate.
func (s *site) only() contracts.Interrupt {
	s.t.Helper()
	all, err := s.admin.Gates(s.t.Context(), client.GatesFilter{})
	if err != nil || len(all) != 1 {
		s.t.Fatalf("%d gates, %v", len(all), err)
	}
	return all[0]
}

func TestALinkDecidesItsGateOnceAndSaysSo(t *testing.T) {
	t.Parallel()
	s, path := anna(t)
	page, hash := s.page(path)
	for _, want := range []string{"anna", "AAPL", "250", "risk", "asked by", s.only().Code} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	csp := page.header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "form-action 'self'") || page.header.Get("X-Frame-Options") != "DENY" || page.header.Get("Referrer-Policy") != "same-origin" || page.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", page.header)
	}
	if done := s.submit(path, "approve", hash); done.status != http.StatusOK || !strings.Contains(done.body, "is approved") {
		t.Fatalf("%d %s", done.status, done.body)
	}
	gate := s.only()
	if d := gate.Decisions; gate.Status != contracts.InterruptApproved || len(d) != 1 || d[0].DecidedBy != "anna" || d[0].Via != "link" || d[0].Comment != "as agreed" {
		t.Errorf("%+v", gate)
	}
	acts, err := s.admin.Ledger(t.Context(), execution.AdminChain)
	if last := acts[max(0, len(acts)-1)]; err != nil || last.Kind != contracts.ActLinkUsed || last.Actor != "anna" || last.NodeID != gate.InterruptID {
		t.Errorf("the chain of acts ends with %+v, %v", last, err)
	}
	refused(t, "a replay", s.submit(path, "approve", hash), http.StatusConflict, "used")
	refused(t, "another decision", s.submit(path, "reject", hash), http.StatusConflict, "used")
	refused(t, "a look afterwards", s.send("", http.MethodGet, path, ""), http.StatusConflict, "used")
	if strings.Contains(s.log.String(), strings.TrimPrefix(path, "/approve/")) {
		t.Error("the link is in the log")
	}
}

func TestLookingAtALinkDecidesNothing(t *testing.T) {
	t.Parallel()
	s, path := anna(t)
	_, hash := s.page(path)
	for _, query := range []string{"", "?decision=approve&action_sha256=" + hash} {
		s.send("", http.MethodGet, path+query, "")
		s.send("", http.MethodHead, path+query, "")
		s.send("", http.MethodPost, path+query, "")
	}
	if gate := s.only(); gate.Status != contracts.InterruptOpen || len(gate.Decisions) != 0 {
		t.Errorf("%+v", gate)
	}
}

func TestOfManyPostsOfALinkOneDecides(t *testing.T) {
	t.Parallel()
	// With a quorum the gate stays open, so that only the link itself is used up.
	s, path := anna(t, func(c *app.Config) {
		c.Bootstrap = []byte(strings.Replace(string(c.Bootstrap), `{"domains"`, `{"site_policy":{"floor":{"approval":{"quorum":2}}},"domains"`, 1))
	})
	_, hash := s.page(path)
	var taken atomic.Int32
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			decision := []string{"approve", "reject"}[n%2]
			if s.submit(path, decision, hash).status == http.StatusOK {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if gate := s.only(); taken.Load() != 1 || len(gate.Decisions) != 1 {
		t.Errorf("%d were taken: %+v", taken.Load(), gate)
	}
}

func TestALinkCountsForItsReviewerOnly(t *testing.T) {
	t.Parallel()
	s, path := anna(t)
	_, hash := s.page(path)
	refused(t, "otto, behind a login", s.send("otto", http.MethodGet, path, ""), http.StatusForbidden, "not_yours")
	refused(t, "otto's decision", s.submit(path, "approve", hash, "Authorization", "Bearer "+s.text["otto"]), http.StatusForbidden, "not_yours")
	refused(t, "a key that is none", s.submit(path, "approve", hash, "Authorization", "Bearer mfk_nonsense"), http.StatusForbidden, "not_yours")
	if page := s.send("anna", http.MethodGet, path, ""); page.status != http.StatusOK {
		t.Errorf("anna behind a login: %d", page.status)
	}
	body, sig, _ := strings.Cut(strings.TrimPrefix(path, "/approve/"), ".")
	for _, token := range []string{body, body + ".", body + "." + strings.ToUpper(sig), "e30." + sig, body[1:] + "." + sig, "x", "%00.%00"} {
		refused(t, token, s.send("", http.MethodGet, "/approve/"+token, ""), http.StatusBadRequest, "invalid")
	}
	keys, err := s.admin.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Principal == "anna" {
			if err := s.admin.RevokeKey(t.Context(), k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	refused(t, "after her key was revoked", s.submit(path, "approve", hash), http.StatusForbidden, "not_yours")
	if gate := s.only(); len(gate.Decisions) != 0 {
		t.Errorf("%+v", gate)
	}
}

func TestALinkOfWhatHasChangedOrExpiredIsRefused(t *testing.T) {
	t.Parallel()
	s, path := anna(t)
	_, hash := s.page(path)
	gate := s.only()
	edited := gate.Action.Parameters
	edited["above"] = 300
	if _, err := s.admin.Decide(t.Context(), gate.InterruptID, contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: edited}, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	refused(t, "after an edit", s.submit(path, "approve", hash), http.StatusConflict, "changed")

	s, path = anna(t)
	_, hash = s.page(path)
	if _, err := s.otto.Decide(t.Context(), s.only().InterruptID, contracts.Resume{Decision: contracts.DecisionReject}, client.Opt{}); err != nil {
		t.Fatal(err)
	}
	refused(t, "after somebody else", s.submit(path, "approve", hash), http.StatusConflict, "decided")

	s, path = anna(t, func(c *app.Config) { c.Links.TTL = time.Nanosecond })
	refused(t, "too late", s.send("", http.MethodGet, path, ""), http.StatusGone, "expired")
	refused(t, "too late to decide", s.submit(path, "approve", hash), http.StatusGone, "expired")
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	t.Parallel()
	s, path := anna(t)
	_, hash := s.page(path)
	refused(t, "a page of somebody else", s.submit(path, "approve", hash, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"), http.StatusForbidden, "cross_site")
	refused(t, "an old browser on a page of somebody else", s.submit(path, "approve", hash, "Sec-Fetch-Site", "", "Origin", "https://evil.example"), http.StatusForbidden, "cross_site")
	refused(t, "another hash than that of the page", s.submit(path, "approve", strings.Repeat("0", 64)), http.StatusBadRequest, "invalid")
	refused(t, "no hash", s.submit(path, "approve", ""), http.StatusBadRequest, "invalid")
	for _, decision := range []string{"", "edit", "answer", "APPROVE"} {
		refused(t, "the decision "+decision, s.submit(path, decision, hash), http.StatusBadRequest, "invalid")
	}
	refused(t, "a form without end", s.submit(path, "approve", hash+strings.Repeat("0", 20_000)), http.StatusBadRequest, "invalid")
	if done := s.submit(path, "reject", hash, "Sec-Fetch-Site", "", "Origin", publicURL); done.status != http.StatusOK {
		t.Errorf("an old browser, behind a proxy: %d %s", done.status, done.body)
	}
}

func TestALinkIsShownToThoseWhoMayApproveAndOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	s := setup(t, withLinks)
	if path := s.linkOf("rita", nil); path != "" {
		t.Errorf("rita, who may not approve, is shown %s", path)
	}
	s.key(contracts.KeySpec{Kind: "service", Principal: "robot", Roles: []string{"operator", "approver"}})
	if path := s.linkOf("robot", nil); path != "" {
		t.Errorf("a program is shown %s", path)
	}
	off := setup(t)
	off.person("anna", "operator", "approver")
	if path := off.linkOf("anna", nil); path != "" {
		t.Errorf("nobody asked for links, and there is %s", path)
	}
	if got := off.send("", http.MethodGet, "/approve/x.y", ""); got.status != http.StatusNotFound {
		t.Errorf("without links: %d", got.status)
	}
}

func TestALinkOfAFrontendSpeaksForItsUserWithNoMoreThanTheirRoles(t *testing.T) {
	t.Parallel()
	s := setup(t, withLinks)
	s.key(contracts.KeySpec{Kind: "frontend", Principal: "webui", Roles: []string{"viewer", "operator", "approver", "admin"}})
	user := map[string]string{"X-OpenWebUI-User-Email": "ben@example.com", "X-OpenWebUI-User-Role": "user"}
	if path := s.linkOf("webui", user); path != "" {
		t.Errorf("a user without the role is shown %s", path)
	}
	boss := map[string]string{"X-OpenWebUI-User-Email": "cora@example.com", "X-OpenWebUI-User-Role": "admin"}
	path := s.linkOf("webui", boss)
	_, hash := s.page(path)
	if done := s.submit(path, "reject", hash); done.status != http.StatusOK {
		t.Fatalf("%d %s", done.status, done.body)
	}
	gates, err := s.admin.Gates(t.Context(), client.GatesFilter{Status: contracts.InterruptRejected})
	if err != nil || len(gates) != 1 || gates[0].Decisions[0].DecidedBy != "cora@example.com" {
		t.Errorf("%+v %v", gates, err)
	}
}

func TestALinkLosesTheRolesThatAFrontendTakesAway(t *testing.T) {
	t.Parallel()
	s := setup(t, withLinks)
	s.key(contracts.KeySpec{Kind: "frontend", Principal: "webui", Roles: []string{"viewer", "operator", "approver"}})
	as := func(role string) map[string]string {
		return map[string]string{"X-OpenWebUI-User-Email": "cora@example.com", "X-OpenWebUI-User-Role": role}
	}
	path := s.linkOf("webui", as("admin"))
	_, hash := s.page(path)
	s.send("webui", http.MethodGet, "/v1/models", "", "X-OpenWebUI-User-Email", "ben@example.com", "X-OpenWebUI-User-Role", "user")
	if page := s.send("", http.MethodGet, path, ""); page.status != http.StatusOK {
		t.Fatalf("somebody else's roles count: %d", page.status)
	}
	s.send("webui", http.MethodGet, "/v1/models", "", "X-OpenWebUI-User-Email", "Cora@example.com", "X-OpenWebUI-User-Role", "pending")
	refused(t, "after the roles are gone", s.submit(path, "approve", hash), http.StatusForbidden, "forbidden")
	if g := s.only(); g.Status != contracts.InterruptOpen || len(g.Decisions) != 0 {
		t.Errorf("%+v", g)
	}
	s.send("webui", http.MethodGet, "/v1/models", "", "X-OpenWebUI-User-Email", "cora@example.com") // without roles
	refused(t, "after a request without a role", s.submit(path, "approve", hash), http.StatusForbidden, "forbidden")
	s.send("webui", http.MethodGet, "/v1/models", "", "X-OpenWebUI-User-Email", "cora@example.com", "X-OpenWebUI-User-Role", "admin")
	if done := s.submit(path, "approve", hash); done.status != http.StatusOK {
		t.Errorf("after the roles are back: %d %s", done.status, done.body)
	}
}

func TestWhoLooksAtALinkTooOftenIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	s, path := anna(t, func(c *app.Config) { c.RequestsPerMinute, c.RequestBurst = 1, 5 })
	for range 10 {
		if got := s.send("", http.MethodGet, path, ""); got.status != http.StatusOK {
			refused(t, "too often", got, http.StatusTooManyRequests, "rate_limited")
			if got.header.Get("Retry-After") == "" {
				t.Errorf("headers %v", got.header)
			}
			return
		}
	}
	t.Error("a link can be looked at for ever")
}
