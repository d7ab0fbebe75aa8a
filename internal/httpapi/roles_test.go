package httpapi_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// scene holds resources of rita's that others try to access.
type scene struct {
	s                             *site
	session, run, node, gate, key string
}

// permission says who may use a route. All others get denied: 403 if the route itself is forbidden,
// 404 if even the existence of another person's resource is hidden.
type permission struct {
	route   string
	path    func(*scene) string // nil: the path of the route
	body    func(*scene) string
	allowed string
	denied  int
}

const everybody = "viewer operator approver admin"

func permissions() []permission {
	session := func(rest string) func(*scene) string {
		return func(c *scene) string { return "/v1/sessions/" + c.session + rest }
	}
	run := func(rest string) func(*scene) string {
		return func(c *scene) string { return "/v1/runs/" + c.run + strings.ReplaceAll(rest, "NODE", c.node) }
	}
	gate := func(rest string) func(*scene) string {
		return func(c *scene) string { return "/v1/gates/" + c.gate + rest }
	}
	is := func(text string) func(*scene) string { return func(*scene) string { return text } }
	return []permission{
		{"GET /health", nil, nil, "nobody other " + everybody, 0},
		{"GET /ready", nil, nil, "nobody other " + everybody, 0},
		{"GET /openapi.yaml", nil, nil, "nobody other " + everybody, 0},
		{"GET /v1/whoami", nil, nil, everybody + " other", 0},
		{"GET /v1/settings", nil, nil, "operator admin", 403},

		{"POST /v1/sessions", nil, is(`{"message":"buy me a pony"}`), everybody, 403},
		{"GET /v1/sessions", nil, nil, everybody + " other", 403},
		{"GET /v1/sessions/{id}", session(""), nil, "operator admin", 404},
		{"DELETE /v1/sessions/{id}", session(""), nil, "admin", 0},
		{"PATCH /v1/sessions/{id}/name", session("/name"), is(`{"name":"x"}`), "operator admin", 404},
		{"POST /v1/sessions/{id}/messages", session("/messages"), is(`{"message":"buy me a pony"}`), "operator admin", 404},
		{"POST /v1/sessions/{id}/resume", session("/resume"), func(c *scene) string {
			return `{"interrupt_id":"` + c.gate + `","decision":"reject"}`
		}, "approver admin", 0},
		{"GET /v1/sessions/{id}/summary", session("/summary"), nil, "operator admin", 404},
		{"GET /v1/sessions/{id}/events", session("/events"), nil, "operator admin", 404},

		{"POST /v1/plans", nil, is(`{"message":"what is the stock price of Apple"}`), everybody, 403},
		{"POST /v1/runs", nil, is(`{"plan_hash":"somebody else's"}`), "", 404},
		{"GET /v1/runs", is("/v1/runs?all=true"), nil, "operator admin", 403},
		{"GET /v1/runs/counts", is("/v1/runs/counts?all=true"), nil, "operator admin", 403},
		{"GET /v1/stats", is("/v1/stats?all=true"), nil, "operator admin", 403},
		{"GET /v1/runs/{id}", run(""), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/state", run("/state"), nil, "operator admin", 404},
		{"POST /v1/runs/{id}/cancel", run("/cancel"), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/events", run("/events"), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/figures", run("/figures"), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/ledger", run("/ledger"), nil, "operator admin", 404},
		{"POST /v1/runs/{id}/release", run("/release"), nil, "operator admin", 404},
		{"POST /v1/runs/{id}/replay", run("/replay"), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/artifacts/{sha256}", run("/artifacts/" + strings.Repeat("0", 64)), nil, "", 404},
		{"POST /v1/runs/{id}/compensate", run("/compensate"), nil, "operator admin", 404},
		{"POST /v1/runs/{id}/nodes/{node}/compensate", run("/nodes/NODE/compensate"), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/nodes/{node}/data", run("/nodes/NODE/data"), nil, "admin", 403},

		{"GET /v1/gates", nil, nil, everybody + " other", 0},
		{"GET /v1/gates/{id}", gate(""), nil, "operator approver admin", 404},
		{"GET /v1/gates/{id}/sheet", gate("/sheet"), nil, "operator approver admin", 404},
		{"POST /v1/gates/{id}/decision", gate("/decision"), is(`{"decision":"reject"}`), "approver admin", 0},
		// Without --approval-links they do not exist; their other errors are tested with them.
		{"GET /approve/{token}", is("/approve/x.y"), nil, "", 404},
		{"POST /approve/{token}", is("/approve/x.y"), nil, "", 404},

		{"GET /v1/locks", nil, nil, "operator admin", 403},
		{"POST /v1/locks/break", nil, is(`{"key":"nobody's"}`), "admin", 403},

		{"GET /v1/domains", nil, nil, everybody, 403},
		{"POST /v1/domains", nil, is(`{"domain":"nowhere","url":"http://127.0.0.1:1"}`), "admin", 403},
		{"GET /v1/domains/{name}", is("/v1/domains/finance"), nil, everybody, 403},
		{"DELETE /v1/domains/{name}", is("/v1/domains/nowhere"), nil, "admin", 403},
		{"POST /v1/domains/{name}/refresh", is("/v1/domains/finance/refresh"), nil, "admin", 403},
		{"POST /v1/domains/{name}/confirm", is("/v1/domains/finance/confirm"), is(`{"digest":"00"}`), "admin", 403},
		{"GET /v1/domains/{name}/diff", is("/v1/domains/finance/diff"), nil, "admin", 403},
		{"GET /v1/capabilities", nil, nil, everybody, 403},
		{"GET /v1/instances", nil, nil, everybody, 403},

		{"GET /v1/keys", nil, nil, "admin", 403},
		{"POST /v1/keys", nil, is(`{"kind":"user","principal":"new","roles":["viewer"]}`), "admin", 403},
		// A browser session does not belong to a key; signing in has its own tests.
		{"POST /v1/session", nil, is(`{"key":"mfk_none"}`), "", 0},
		{"GET /v1/session", nil, nil, "nobody other " + everybody, 0},
		{"DELETE /v1/session", nil, nil, everybody + " other", 0},
		{"POST /v1/session/link", nil, nil, everybody + " other", 0},
		{"GET /v1/webhooks/key", nil, nil, "admin", 403},
		{"DELETE /v1/keys/{id}", func(c *scene) string { return "/v1/keys/" + c.key }, nil, "admin", 403},

		{"POST /v1/audit/verify", nil, is(`{}`), "operator admin", 403},
		{"GET /v1/audit/root", nil, nil, "operator admin", 403},
		{"GET /v1/audit/proof", func(*scene) string { return "/v1/audit/proof?run_id=none&seq=1" }, nil, "operator admin", 403},
		{"GET /v1/audit/consistency", func(*scene) string { return "/v1/audit/consistency?from=1" }, nil, "operator admin", 403},

		{"GET /v1/sessions/{id}/stream", session("/stream"), nil, "operator admin", 404},
		{"GET /v1/runs/{id}/stream", run("/stream"), nil, "operator admin", 404},
		{"GET /v1/models", nil, nil, everybody, 403},
		{"GET /v1/models/{id}", is("/v1/models/manifold"), nil, everybody, 403},
		{"POST /v1/chat/completions", nil, is(`{"model":"manifold","messages":[{"role":"user","content":"buy me a pony"}]}`), everybody, 403},
	}
}

// TestWhoMayUseWhichRoute calls every route with every role, each time with resources of another
// person.
func TestWhoMayUseWhichRoute(t *testing.T) {
	t.Parallel()
	s := setup(t)
	callers := []string{"nobody", "other", "viewer", "operator", "approver", "admin"}
	for _, role := range callers[1:] {
		name := "the-" + role
		s.person(name, role)
		s.text[role] = s.text[name]
	}
	for _, p := range permissions() {
		for _, caller := range callers {
			t.Run(p.route+" as "+caller, func(t *testing.T) {
				t.Parallel()
				p.try(t, s, caller)
			})
		}
	}
}

func (p permission) try(t *testing.T, s *site, caller string) {
	t.Helper()
	method, path, _ := strings.Cut(p.route, " ")
	c, body := makeScene(s, p.route), ""
	if p.path != nil {
		path = p.path(c)
	}
	if p.body != nil {
		body = p.body(c)
	}
	a := s.send(strings.TrimPrefix(caller, "nobody"), method, path, body)
	allowed := slices.Contains(strings.Fields(p.allowed), caller)
	switch {
	case allowed && (a.status == 401 || a.status == 403 || a.status == p.denied):
		t.Errorf("refused: %d %s", a.status, a.body)
	case allowed, strings.HasPrefix(path, "/v1") && caller == "nobody" && a.status == 401:
	case strings.HasSuffix(path, "/v1/session") && a.status == 401:
	case a.status != 403 && a.status != 404, p.denied != 0 && caller != "nobody" && a.status != p.denied:
		t.Errorf("not refused: %d %s", a.status, a.body)
	}
}

// makeScene creates resources of rita's for the route; each caller gets new ones.
func makeScene(s *site, route string) *scene {
	s.t.Helper()
	c := &scene{s: s}
	needs := regexp.MustCompile(`sessions/|runs/|gates/`)
	if needs.MatchString(route) {
		session, gate := s.waiting(s.rita)
		c.session, c.run, c.node, c.gate = session.SessionID, gate.RunID, gate.NodeID, gate.InterruptID
	}
	if strings.Contains(route, "keys/") {
		key, err := s.admin.CreateKey(s.t.Context(), contracts.KeySpec{Kind: "service", Principal: "gone", Roles: []string{"viewer"}})
		if err != nil {
			s.t.Fatal(err)
		}
		c.key = key.ID
	}
	if strings.Contains(route, "compensate") || strings.Contains(route, "/data") {
		c.finish()
	}
	return c
}

// finish completes the write, so that it can be undone and inspected.
func (c *scene) finish() {
	c.s.t.Helper()
	gate, err := c.s.otto.Gate(c.s.t.Context(), c.gate)
	if err != nil {
		c.s.t.Fatal(err)
	}
	if _, err := c.s.otto.Approve(c.s.t.Context(), gate, "", client.Opt{Wait: 30 * time.Second}); err != nil {
		c.s.t.Fatal(err)
	}
	if view, err := client.AwaitRun(c.s.t.Context(), c.s.rita, c.run); err != nil || view.State != contracts.RunCompleted {
		c.s.t.Fatalf("%s %v", view.State, err)
	}
}

func TestEveryRouteIsInTheTableOfPermissions(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var described, judged []string
	for path, item := range doc.Paths {
		for method := range item {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	for _, p := range permissions() {
		judged = append(judged, p.route)
	}
	slices.Sort(described)
	slices.Sort(judged)
	if diff := cmp.Diff(described, judged); diff != "" {
		t.Errorf("routes, permissions:\n%s", diff)
	}
}

func TestWhatIsSomebodyElsesIsNotConfirmedToExist(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.person("vera", "viewer")
	session, gate := s.waiting(s.rita)
	for there, missing := range map[string]string{
		"/v1/sessions/" + session.SessionID: "/v1/sessions/ses_none",
		"/v1/runs/" + gate.RunID:            "/v1/runs/run_none",
		"/v1/gates/" + gate.Code:            "/v1/gates/NONE2",
	} {
		a, b := s.send("vera", "GET", there, ""), s.send("vera", "GET", missing, "")
		if a.status != http.StatusNotFound || b.status != http.StatusNotFound {
			t.Errorf("%s: %d %s, %s: %d", there, a.status, a.body, missing, b.status)
		}
	}
}
