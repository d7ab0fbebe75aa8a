package workday_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// object is a JSON object.
type object = map[string]any

// bench is a tenant with the domain in front of it, both over HTTP.
type bench struct {
	*testing.T
	tenant *sandbox.Tenant
	config workday.Config
	url    string
	people map[string]sandbox.Worker
	// asker is the principal of calls [an anonymous one].
	asker string
	login workday.LoginConfig
}

func setup(t *testing.T, cfg sandbox.Config) *bench {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC) }
	}
	tenant, err := sandbox.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(tenant)
	t.Cleanup(server.Close)
	c := tenant.Credentials()
	b := &bench{T: t, tenant: tenant, people: map[string]sandbox.Worker{}, config: workday.Config{
		Tenant: workday.Tenant{
			URL: server.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: -1,
			BackoffMin: time.Millisecond, BackoffMax: 4 * time.Millisecond,
		},
		Access: workday.Access{All: []string{"*"}}, // access.go has tests of its own
		Now:    func() time.Time { return time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC) },
	}}
	for _, w := range tenant.People() {
		b.people[w.Name] = w
	}
	b.restart()
	return b
}

// restart serves the domain again, like a new process without the old memory.
func (b *bench) restart() {
	b.Helper()
	svc, err := workday.New(b.config)
	if err != nil {
		b.Fatal(err)
	}
	b.url = domaintest.Serve(b, svc)
}

// id returns the Workday id of a person.
func (b *bench) id(name string) string {
	b.Helper()
	w, known := b.people[name]
	if !known {
		b.Fatalf("nobody is called %q", name)
	}
	return w.ID
}

// execute calls a capability; the key is only used by writes.
func (b *bench) execute(capability string, parameters object, key string) contracts.ToolResult {
	b.Helper()
	_, out := domaintest.Execute(b, b.url, capability, parameters,
		object{"run_id": "run", "node_id": "node", "attempt": 1, "idempotency_key": key, "principal": object{"id": b.asker, "roles": []string{}}})
	return out
}

// facts calls a capability that must succeed.
func (b *bench) facts(capability string, parameters object, key string) object {
	b.Helper()
	out := b.execute(capability, parameters, key)
	if !out.OK {
		b.Fatalf("%s %v: %v", capability, parameters, out.Error)
	}
	return out.Facts
}

func (b *bench) effects() []string {
	var out []string
	for _, e := range b.tenant.Effects() {
		out = append(out, fmt.Sprintf("%s x%d", e.Kind, e.Count))
	}
	return out
}

// column returns one field of each row.
func column(rows any, field string) []string {
	list, _ := rows.([]any)
	var out []string
	for _, row := range list {
		fields, _ := row.(object)
		out = append(out, fmt.Sprint(fields[field]))
	}
	return out
}

// subset checks that the facts contain these.
func subset(t *testing.T, want, got object) {
	t.Helper()
	for key, value := range want {
		if fmt.Sprint(got[key]) != fmt.Sprint(value) {
			t.Errorf("%s is %v, want %v", key, got[key], value)
		}
	}
}

func TestReadsTellWhatTheTenantKnows(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	ana := b.people["Ana Souza"]
	var contingent sandbox.Worker
	for _, w := range b.tenant.People() {
		if w.Contingent {
			contingent = w
		}
	}
	tests := map[string]struct {
		capability string
		parameters object
		want       object
		summary    string
	}{
		"a worker with the manager": {
			"get_worker",
			object{"worker": ana.ID},
			object{"name": "Ana Souza", "title": ana.Title, "manager_name": "Helena Duarte", "manager": ana.ManagerID, "is_manager": false},
			"manager: Helena Duarte",
		},
		"someone's reports": {
			"list_direct_reports",
			object{"worker": b.id("Helena Duarte")},
			object{"worker_name": "Helena Duarte", "total": 25},
			"25 people report to Helena Duarte",
		},
		"nobody's reports": {
			"list_direct_reports", object{"worker": ana.ID}, object{"total": 0}, "has no direct reports",
		},
		"balances": {
			"get_time_off_balances",
			object{"worker": ana.ID, "date": "2026-12-31"},
			object{"worker_name": "Ana Souza", "date": "2026-12-31"},
			"Vacation Plan 16 days",
		},
		"nobody's balances": {
			"get_time_off_balances", object{"worker": contingent.ID}, object{"worker_name": contingent.Name + " [C]"}, "has no time-off plans",
		},
		"absence types": {
			"list_absence_types", object{"worker": ana.ID}, object{"worker_name": "Ana Souza"}, "Family Care",
		},
		"a period without time off": {
			"list_time_off", object{"worker": ana.ID}, object{"days": 0, "from": "2026-11-02", "to": "2027-11-02"}, "0 days",
		},
		"all business processes": {
			"list_business_processes", object{}, object{"total": 25}, "25 business processes",
		},
		"business processes about something": {
			"list_business_processes", object{"search": "time off"}, object{"total": 2}, "2 business processes",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := b.execute(tt.capability, tt.parameters, "")
			if !out.OK {
				t.Fatal(out.Error)
			}
			subset(t, tt.want, out.Facts)
			if !strings.Contains(out.Summary, tt.summary) {
				t.Errorf("summary %q does not say %q", out.Summary, tt.summary)
			}
		})
	}
}

func TestReadsOfNobodyAreNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	for _, capability := range []string{"get_worker", "get_time_off_balances", "list_direct_reports", "list_time_off"} {
		out := b.execute(capability, object{"worker": strings.Repeat("0", 32)}, "")
		if out.OK || out.Error.Type != contracts.ErrNotFound {
			t.Errorf("%s: %v", capability, out.Error)
		}
	}
	if out := b.execute("get_worker", object{"worker": "Ana Souza"}, ""); out.OK || out.Error.Type != contracts.ErrInvalidParameters {
		t.Errorf("a name instead of an id: %v", out.Error)
	}
}

func TestSearchFindsWhoIsMeant(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	tests := map[string]struct {
		query string
		want  []string
	}{
		"the exact name alone":                       {"Ana Souza", []string{"Ana Souza"}},
		"without case and accents":                   {"ANÁ  souza", []string{"Ana Souza"}},
		"all of a first name":                        {"Ana", []string{"Ana Costa", "Ana Ribeiro", "Ana Souza"}},
		"both beginnings":                            {"Hel Dua", []string{"Helena Duarte"}},
		"an employee number":                         {"21048", []string{"Ana Souza"}},
		"an address":                                 {"ana.souza@manifold-dpt1.example", []string{"Ana Souza"}},
		"an address of nobody":                       {"x@example.org", nil},
		"a number of nobody":                         {"99999", nil},
		"nobody at all":                              {"Xyzzy", nil},
		"not a single person who has one word of it": {"Xyzzy Duarte", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := b.facts("search_workers", object{"query": tt.query}, "")
			got := column(facts["matches"], "name")
			if tt.query == "Ana" { // generated people may have the name too
				got = keep(got, tt.want)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func keep(list, wanted []string) []string {
	var out []string
	for _, item := range list {
		for _, w := range wanted {
			if item == w {
				out = append(out, item)
			}
		}
	}
	return out
}

func TestNamesakesCanBeToldApart(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	count := map[string]int{}
	for _, w := range b.tenant.People() {
		if !w.Terminated {
			count[w.Name]++
		}
	}
	tried := 0
	for name, n := range count {
		if n < 2 {
			continue
		}
		tried++
		matches := b.facts("search_workers", object{"query": name}, "")["matches"]
		labels, values := column(matches, "label"), column(matches, "value")
		if len(labels) != n || labels[0] == labels[1] || values[0] == values[1] {
			t.Errorf("%s: %v %v", name, labels, values)
		}
	}
	if tried == 0 {
		t.Fatal("the company has no namesakes")
	}
}

func TestTheTenantsRefusalOfCredentialsShowsInHealth(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	if got := b.health(); got.Status != contracts.HealthOK {
		t.Errorf("health %v", got)
	}
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.InvalidGrant, PathSuffix: "/token", Count: -1})
	b.tenant.ExpireTokens()
	out := b.execute("get_worker", object{"worker": b.id("Ana Souza")}, "")
	if out.OK || out.Error.Type != contracts.ErrUpstream || out.Error.Retryable {
		t.Errorf("result %v", out.Error)
	}
	if got := b.health(); got.Status != contracts.HealthDegraded || !strings.Contains(got.Checks["tenant"].Detail, "refresh token") {
		t.Errorf("health %v", got)
	}
}

func (b *bench) health() contracts.Health {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.url+"/health", nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	var out contracts.Health
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		b.Fatal(err)
	}
	return out
}

func TestReadsThatFailMayBeRepeated(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]sandboxkit.Kind{
		"an unavailable tenant": sandboxkit.Unavailable, "a busy one": sandboxkit.TooManyRequests, "a page to sign in": sandboxkit.HTMLAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			b.tenant.Inject(sandboxkit.Fault{Kind: kind, PathPrefix: "/ccx/api/", Count: -1})
			out := b.execute("get_worker", object{"worker": b.id("Ana Souza")}, "")
			if out.OK || out.Error.Type != contracts.ErrUpstream || !out.Error.Retryable || out.Error.Effect != contracts.EffectNone {
				t.Errorf("result %+v", out.Error)
			}
		})
	}
}

func TestAWorkerIsShownWithoutTheManagerWhenThatIsForbidden(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	path := "/ccx/api/v1/manifold_dpt1/supervisoryOrganizations/"
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.Forbidden, PathPrefix: path, Count: -1})
	facts := b.facts("get_worker", object{"worker": b.id("Ana Souza")}, "")
	if _, has := facts["manager_name"]; has || facts["name"] != "Ana Souza" {
		t.Errorf("facts %v", facts)
	}
}

func TestTheTenantMayCallItsAbsenceTypesOtherwise(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.AbsenceTypes = map[string]string{"vacation": "family care", "family_care": "Vacation"}
	b.restart()
	out := b.execute("request_time_off", object{"worker": b.id("Ana Souza"), "days": 1, "start": "2026-12-07"}, "k")
	if out.OK || !strings.Contains(out.Error.Message, "Family Care needs a reason: Child, Parent") {
		t.Errorf("result %v", out.Error)
	}
	b.config.AbsenceTypes = map[string]string{"holiday": "Vacation"}
	if _, err := workday.New(b.config); err == nil || !strings.Contains(err.Error(), "holiday") {
		t.Errorf("an unknown kind: %v", err)
	}
}

func TestCallersMustBeAuthorized(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.Authorization = []string{"secret"}
	b.restart()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, b.url+"/manifest", nil)
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]int{"": http.StatusUnauthorized, "Bearer secret": http.StatusOK} {
		req.Header.Set("Authorization", token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("with %q: %d, want %d", token, res.StatusCode, want)
		}
	}
}
