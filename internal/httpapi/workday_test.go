package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/internal/app"
)

// office is a server with a Workday tenant in which people can log in.
type office struct {
	*site
	tenant *sandbox.Tenant
	logins *workday.Logins
}

func withLogins(t *testing.T, policy string) office {
	t.Helper()
	tenant, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	served, pages := httptest.NewServer(tenant), http.NewServeMux()
	t.Cleanup(served.Close)
	login := httptest.NewServer(pages)
	t.Cleanup(login.Close)
	c, workers := tenant.Credentials(), map[string]string{}
	for _, w := range tenant.People() {
		workers[strings.ReplaceAll(w.Name, " ", ".")] = w.ID
	}
	cfg := workday.Config{
		Access:  workday.Access{All: []string{"hr"}, People: workers},
		Reports: map[string]workday.Report{"Headcount by Location": {Path: sandbox.HeadcountByLocation}},
		Tenant: workday.Tenant{
			URL: served.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: 200, Burst: 50, MaxConcurrency: 16,
		},
	}
	logins, err := workday.OpenLogins(cfg, workday.LoginConfig{Dir: t.TempDir(), URL: login.URL})
	if err != nil {
		t.Fatal(err)
	}
	pages.Handle("/", logins)
	cfg.Logins = logins
	svc, err := workday.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := setup(t, func(cfg *app.Config) {
		cfg.Bootstrap = []byte(`{"domains":[{"domain":"workday","url":"` + domaintest.Serve(t, svc) + `"}]` + policy + `}`)
	})
	d, err := s.admin.Domain(t.Context(), "workday")
	if err != nil || d.Health != contracts.HealthOK || d.Capabilities == 0 {
		t.Fatalf("%+v %+v %v", d.DomainView, d.Findings, err)
	}
	return office{s, tenant, logins}
}

// logIn opens the link from a chat and logs in at the tenant with an employee number.
func (o office) logIn(t *testing.T, number string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		if q := req.URL.Query(); strings.HasSuffix(req.URL.Path, "/authorize") {
			q.Set("login_hint", number)
			req.URL.RawQuery = q.Encode()
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.logins.Link(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("login: %d %v", res.StatusCode, err)
	}
}

// approved lets the approver approve the gate of a message, and waits for its run.
func (o office) approved(t *testing.T, who *client.Client, says string) string {
	t.Helper()
	session, all := heard(t, who, says)
	gate := session.Interrupt
	if gate == nil || gate.Type != contracts.InterruptWriteApproval {
		t.Fatalf("%s: no gate: %s", says, all)
	}
	if _, err := o.otto.Approve(t.Context(), *gate, "", wait()); err != nil {
		t.Fatal(err)
	}
	run, err := client.AwaitRun(t.Context(), who, gate.RunID)
	if err != nil || run.State != contracts.RunCompleted {
		t.Fatalf("%s: %s %v", says, run.State, err)
	}
	session, err = who.Session(t.Context(), session.SessionID, wait())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(session.Answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestAManagerDecidesInAChat only with a login of their own: before it, and for another person's tasks,
// no gate opens.
func TestAManagerDecidesInAChat(t *testing.T) {
	t.Parallel()
	o := withLogins(t, "")
	numbers := map[string]string{}
	for _, w := range o.tenant.People() {
		numbers[w.Name] = w.EmployeeID
	}
	helena, marcus, ana := o.person("Helena.Duarte", "requester"), o.person("Marcus.Feld", "requester"), o.person("Ana.Souza", "requester")
	o.approved(t, ana, "request 2 days off for me from 2027-03-01")
	const approve = "approve Ana Souza's time off request in Workday"
	refused := func(who *client.Client, says string) {
		t.Helper()
		session, all := heard(t, who, approve)
		if session.Interrupt != nil || !strings.Contains(all, says) {
			t.Errorf("it is not said that %q: %s", says, all)
		}
	}
	refused(helena, "log in there with your own account at "+o.logins.Link())
	o.logIn(t, numbers["Helena Duarte"])
	refused(marcus, "log in there with your own account at "+o.logins.Link())
	o.logIn(t, numbers["Marcus Feld"])
	refused(marcus, "nothing like that waits for Marcus Feld")
	if _, all := heard(t, helena, "what is in my Workday inbox"); !strings.Contains(all, "Ana Souza") {
		t.Errorf("the inbox: %s", all)
	}
	if said := o.approved(t, helena, approve); !strings.Contains(said, "Request Time Off of Ana Souza: approved by Helena Duarte") {
		t.Errorf("%s", said)
	}
	by := []string{}
	for _, e := range o.tenant.Effects() {
		if e.Kind == sandbox.EffectStepApproved {
			by = append(by, e.By)
		}
	}
	if want := []string{workerID(o.tenant, "Helena Duarte")}; !slices.Equal(by, want) {
		t.Errorf("approved by %v, want %v", by, want)
	}
	if _, all := heard(t, ana, "what became of my request"); !strings.Contains(all, "approved") {
		t.Errorf("what became of it: %s", all)
	}
}

// TestAManagersOwnAuthorityIsEnough if the site says so for a capability: the requester decides the
// gate in the same chat, and the tenant attributes it to them. For everything else, and everybody
// else, a second person is required as before.
func TestAManagersOwnAuthorityIsEnough(t *testing.T) {
	t.Parallel()
	o := withLogins(t, `,"site_policy":{"review":{"own_authority":["workday.approve_step","workday.change_job"]}}`)
	numbers := map[string]string{}
	for _, w := range o.tenant.People() {
		numbers[w.Name] = w.EmployeeID
	}
	helena, marcus, ana := o.person("Helena.Duarte", "requester"), o.person("Marcus.Feld", "requester"), o.person("Ana.Souza", "requester")
	o.approved(t, ana, "request 2 days off for me from 2027-03-01")
	o.approved(t, ana, "request 1 day off for me from 2027-04-05")
	o.logIn(t, numbers["Helena Duarte"])
	inbox, err := helena.StartSession(t.Context(), contracts.StartSession{Message: "approve Ana Souza's time off request in Workday"}, wait())
	for err == nil && inbox.Interrupt != nil && inbox.Interrupt.Type != contracts.InterruptWriteApproval {
		inbox, err = helena.Say(t.Context(), inbox.SessionID, "1", wait())
	}
	if err != nil || inbox.Interrupt == nil {
		t.Fatalf("%+v %v", inbox, err)
	}
	gate := *inbox.Interrupt
	if gate.Review != contracts.EyesOwn || gate.FourEyes {
		t.Errorf("the gate: %q %v", gate.Review, gate.FourEyes)
	}
	if _, err := marcus.Approve(t.Context(), gate, "", wait()); err == nil {
		t.Error("somebody else without a role approved it")
	}
	if _, err := helena.Say(t.Context(), inbox.SessionID, "approve "+gate.Code, wait()); err != nil {
		t.Fatal(err)
	}
	if run, err := client.AwaitRun(t.Context(), helena, gate.RunID); err != nil || run.State != contracts.RunCompleted {
		t.Fatalf("%s %v", run.State, err)
	}
	decided, err := helena.Gate(t.Context(), gate.InterruptID)
	if err != nil || len(decided.Decisions) != 1 || decided.Decisions[0].Relation != contracts.RelationInitiator {
		t.Errorf("%+v %v", decided.Decisions, err)
	}
	by := []string{}
	for _, e := range o.tenant.Effects() {
		if e.Kind == sandbox.EffectStepApproved {
			by = append(by, e.By)
		}
	}
	if want := []string{workerID(o.tenant, "Helena Duarte")}; !slices.Equal(by, want) {
		t.Errorf("approved by %v, want %v", by, want)
	}
	other, all := heard(t, helena, "deny Ana Souza's time off request in Workday because the team is short")
	if other.Interrupt == nil || other.Interrupt.Type != contracts.InterruptWriteApproval || other.Interrupt.Review != contracts.EyesFour {
		t.Fatalf("what the site does not name: %s", all)
	}
	if _, err := helena.Approve(t.Context(), *other.Interrupt, "", wait()); err == nil {
		t.Error("what the site does not name was approved by whoever asked")
	}
	d, err := o.admin.Domain(t.Context(), "workday")
	if err != nil || !slices.ContainsFunc(d.Findings, func(f contracts.Finding) bool {
		return strings.Contains(f.Message, `"change_job", which is not declared`)
	}) {
		t.Errorf("it is not said that change_job is done as the integration user: %+v %v", d.Findings, err)
	}
	acts, err := o.admin.Ledger(t.Context(), "acts")
	if err != nil || !slices.ContainsFunc(acts, func(e contracts.LedgerEntry) bool { return e.Kind == contracts.ActOwnAuthority }) {
		t.Errorf("it is no act: %v", err)
	}
}

func workerID(tenant *sandbox.Tenant, name string) string {
	for _, w := range tenant.People() {
		if w.Name == name {
			return w.ID
		}
	}
	return ""
}

// TestTheCompanyIsAskedAboutInAChat: the org chart, the managers above a person, jobs, and reports.
func TestTheCompanyIsAskedAboutInAChat(t *testing.T) {
	t.Parallel()
	o := withLogins(t, "")
	helena, hr := o.person("Helena.Duarte", "requester"), o.person("Rosa", "requester", "hr")
	for says, tt := range map[string]struct {
		who  *client.Client
		want string
	}{
		"who is in my org":                     {helena, "below Helena Duarte"},
		"show Ana Souza's chain of managers":   {helena, "above Ana Souza: Helena Duarte, then "},
		"open positions in Lisbon":             {helena, "job postings"},
		"who am I in Workday":                  {helena, "Helena Duarte, Director"},
		"run the report Headcount by Location": {hr, "Singapore"},
		"run the WQL query":                    {hr, "Which query in WQL?"},
		"list the supervisory organizations named \"Helena Duarte\" in Workday": {helena, "(Helena Duarte)"},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			if session, all := heard(t, tt.who, says); !strings.Contains(all, tt.want) || session.Interrupt != nil && session.Interrupt.Type == contracts.InterruptWriteApproval {
				t.Errorf("no %q: %s", tt.want, all)
			}
		})
	}
	if _, all := heard(t, helena, "run the report Headcount by Location"); !strings.Contains(all, "only the roles hr") {
		t.Errorf("somebody who is not entitled: %s", all)
	}
	if session, all := heard(t, hr, "run the WQL query", "SELECT fullName FROM allWorkers WHERE fullName = 'Ana Souza'"); session.Answer == nil || !strings.Contains(all, "Ana Souza") {
		t.Errorf("a query: %s", all)
	}
}
