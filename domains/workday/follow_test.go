package workday_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestARequestIsFollowedUntilItEnds: while it awaits an approver, the answer only says whom it
// awaits and when to ask again; a decision of any kind ends the wait.
func TestARequestIsFollowedUntilItEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		then func(b *bench)
		want object
		says string
	}{
		"approved": {func(b *bench) { b.approveAll() }, object{"state": "approved"}, "effective 2026-12-07: approved"},
		"denied":   {func(b *bench) { b.tenant.DenyAll("too busy in December") }, object{"state": "denied", "comment": "too busy in December"}, "denied (too busy in December)"},
		"cancelled": {func(b *bench) {
			b.facts("cancel_time_off", object{"worker": b.id("Ana Souza"), "from": "2026-12-07"}, "c")
		}, object{"state": "cancelled"}, "cancelled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, sandbox.Config{})
			ana := b.id("Ana Souza")
			made := b.facts("request_time_off", object{"worker": ana, "days": 2, "start": "2026-12-07"}, "key")
			follow := object{"worker": ana, "request_id": made["request_id"]}
			status, out := domaintest.Execute(t, b.url, "follow_request", follow, object{})
			if status != http.StatusTooManyRequests || out.OK || !strings.Contains(out.Error.Message, "effective 2026-12-07, waits for Helena Duarte") {
				t.Fatalf("%d %+v", status, out.Error)
			}
			tt.then(b)
			end := b.execute("follow_request", follow, "")
			if subset(t, tt.want, end.Facts); !end.OK || !strings.Contains(end.Summary, tt.says) {
				t.Errorf("%s %v", end.Summary, end.Error)
			}
		})
	}
	b := setup(t, sandbox.Config{})
	if out := b.execute("follow_request", object{"worker": b.id("Ana Souza"), "request_id": strings.Repeat("0", 32)}, ""); out.OK || out.Error.Type != contracts.ErrNotFound {
		t.Errorf("a request that is not there: %+v", out)
	}
}

// TestQueriesReadEveryPage, limit the rows as requested, and are retried after failures of the
// tenant. Only roles with full access may query.
func TestQueriesReadEveryPage(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	all := 0
	for _, w := range b.tenant.People() {
		if !w.Terminated {
			all++
		}
	}
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.Unavailable, PathSuffix: "/data", Nth: 2, Count: 1})
	long := "SELECT worker, businessTitle FROM allWorkers WHERE " + strings.Repeat("isManager = false AND ", 100) + "isManager = false"
	tests := map[string]struct {
		query string
		limit int
		rows  int
		first string
	}{
		"in pages":             {"select fullName, supervisoryOrganization as team from allWorkers", 2000, all, ""},
		"cut":                  {"SELECT worker FROM allWorkers", 150, 150, ""},
		"one":                  {"SELECT businessTitle, fullName FROM allWorkers WHERE fullName = 'Ana Souza'", 200, 1, b.people["Ana Souza"].Title + " / fullName: Ana Souza"},
		"too long for a query": {long, 2000, -1, ""},
	}
	for name, tt := range tests {
		out := b.execute("query_data", object{"query": tt.query, "limit": tt.limit}, "")
		if !out.OK {
			t.Errorf("%s: %v", name, out.Error)
			continue
		}
		var rows []object
		if err := contracts.Decode(out.Artifacts["rows"], &rows); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, row := range rows {
			seen[fmt.Sprint(row)] = true
		}
		shown, _ := out.Facts["rows"].([]any)
		first, _ := shown[0].(object)
		if tt.rows >= 0 && len(rows) != tt.rows || len(shown) > 50 || tt.first != "" && fmt.Sprintf("%v / %v", first["label"], first["details"]) != tt.first {
			t.Errorf("%s: %d rows, %d shown, the first %v", name, len(rows), len(shown), first)
		}
	}
	for name, query := range map[string]string{"an unknown field": "SELECT salary FROM allWorkers", "an unknown source": "SELECT worker FROM allPayslips"} {
		if out := b.execute("query_data", object{"query": query}, ""); out.OK || out.Error.Type != contracts.ErrPrecondition || !strings.Contains(out.Error.Message, "does not exist") {
			t.Errorf("%s: %+v", name, out.Error)
		}
	}
	if out := b.execute("query_data", object{"query": "DELETE FROM allWorkers"}, ""); out.OK || out.Error.Type != contracts.ErrInvalidParameters {
		t.Errorf("no SELECT: %+v", out.Error)
	}
	b.config.Access = workday.Access{}
	b.restart()
	if out := b.execute("query_data", object{"query": "SELECT worker FROM allWorkers"}, ""); out.OK || out.Error.Type != contracts.ErrUnauthorized {
		t.Errorf("somebody: %+v", out.Error)
	}
}

// TestReportsAreThoseOfTheConfiguration, and without any there is no get_report.
func TestReportsAreThoseOfTheConfiguration(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	if out := b.execute("get_report", object{"report": "Headcount"}, ""); out.OK || out.Error.Type != contracts.ErrNotFound {
		t.Errorf("without a report: %+v", out.Error)
	}
	b.config.Reports = map[string]workday.Report{"Headcount": {Path: sandbox.Headcount, Prompts: []string{"Organization"}}, "Gone": {Path: "nobody/Gone"}}
	b.restart()
	facts := b.facts("get_report", object{"report": "Headcount"}, "")
	if total, _ := facts["total"].(float64); total < 10 {
		t.Errorf("facts %v", facts)
	}
	team := strings.TrimPrefix(column(facts["rows"], "details")[3], "Organization: ")
	one := b.facts("get_report", object{"report": "Headcount", "prompts": object{"Organization": team[:strings.Index(team+";", ";")]}}, "")
	if one["total"] != 1.0 {
		t.Errorf("with a prompt: %v of %q", one, team)
	}
	for _, tt := range []struct{ report, prompt, errType string }{
		{"Headcount", "Salary", contracts.ErrInvalidParameters}, {"Gone", "", contracts.ErrNotFound}, {"Payslips", "", contracts.ErrInvalidParameters},
	} {
		prompts := object{}
		if tt.prompt != "" {
			prompts[tt.prompt] = "x"
		}
		if out := b.execute("get_report", object{"report": tt.report, "prompts": prompts}, ""); out.OK || out.Error.Type != tt.errType {
			t.Errorf("%v: %+v", tt, out.Error)
		}
	}
	b.config.Reports["By place"] = workday.Report{Path: sandbox.HeadcountByLocation}
	b.restart()
	if places := b.facts("get_report", object{"report": "By place"}, ""); places["total"] != 5.0 {
		t.Errorf("by place: %v", places)
	}
	b.config.Reports["Headcount"] = workday.Report{Path: "Headcount"}
	if _, err := workday.New(b.config); err == nil || !strings.Contains(err.Error(), "owner/name") {
		t.Errorf("a path without an owner: %v", err)
	}
}

// TestPeopleAreReadOverMCP like over REST, with any tool names, with an expired token, and after a
// lost session.
func TestPeopleAreReadOverMCP(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{ToolPrefix: "acme_"})
	over := setup(t, sandbox.Config{ToolPrefix: "acme_"})
	over.config.MCP = &workday.MCP{URL: over.config.Tenant.URL + "/mcp"}
	over.restart()
	ana := b.id("Ana Souza")
	same := func(when string) {
		t.Helper()
		for capability, in := range map[string]object{"get_worker": {"worker": ana}, "search_workers": {"query": "Ana"}, "list_time_off": {"worker": ana}} {
			want, got := b.execute(capability, in, ""), over.execute(capability, in, "")
			if !got.OK || want.Summary != got.Summary || fmt.Sprint(want.Facts) != fmt.Sprint(got.Facts) {
				t.Errorf("%s, %s: %q %v, over REST %q", when, capability, got.Summary, got.Error, want.Summary)
			}
		}
	}
	same("at first")
	for _, r := range over.tenant.Requests() {
		if strings.HasPrefix(r.Path, "/ccx/api/v1/manifold_dpt1/workers/"+ana) || strings.HasSuffix(r.Path, "/workers") {
			t.Errorf("people were read over REST: %v", r)
		}
	}
	over.tenant.ExpireTokens()
	same("with a new token")
	for name, kind := range map[string]sandboxkit.Kind{"busy": sandboxkit.TooManyRequests, "unavailable": sandboxkit.Unavailable} {
		over.tenant.Inject(sandboxkit.Fault{Kind: kind, PathPrefix: "/mcp", Count: 2})
		same(name)
	}
	over.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.Forbidden, PathPrefix: "/mcp", Count: 1})
	if out := over.execute("get_worker", object{"worker": ana}, ""); out.OK || out.Error.Type != contracts.ErrUnauthorized {
		t.Errorf("forbidden: %+v", out.Error)
	}
	same("after a session was lost")
	if out := over.execute("get_worker", object{"worker": strings.Repeat("0", 32)}, ""); out.OK || out.Error.Type != contracts.ErrNotFound {
		t.Errorf("nobody: %+v", out.Error)
	}
	if got := over.health(); got.Checks["mcp"].Status != contracts.HealthOK {
		t.Errorf("health %+v", got)
	}
	over.config.MCP.Tools = map[string]string{"searchForWorker": "find"}
	over.restart()
	if got := over.health(); !strings.Contains(got.Checks["mcp"].Detail, "has no tool find") {
		t.Errorf("health %+v", got)
	}
	over.config.MCP.URL = "https://mcp.example.org/mcp"
	if _, err := workday.New(over.config); err == nil || !strings.Contains(err.Error(), "allowed hosts") {
		t.Errorf("a foreign host: %v", err)
	}
}

// TestTheOpsOfWorkdaysToolsAreCompiled in the two forms of Flowise, with the server's tool names,
// and in the literal form of the blueprint.
func TestTheOpsOfWorkdaysToolsAreCompiled(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{ToolPrefix: "acme_"})
	literal := b.facts("compile_ops", object{"form": "blueprint", "goal": "use getWorkers and getMyInfo"}, "")
	want := `[{"label":"Workday MCP","node_id":"workdayMcpTool_0","node_name":"tool","op_type":"AddNode","params":{` +
		`"selectedTool":"customMCP","selectedToolConfig.mcpActions":["getMyInfo","getWorkers"],` +
		`"selectedToolConfig.mcpServerConfig":"{\"url\":\"https://<tenant>.workday.com/mcp\",\"headers\":{\"Authorization\":\"$vars.beartoken\"}}"}},` +
		`{"credential_id":"workday-oauth-auto","credential_type":"workdayOAuth","node_id":"workdayMcpTool_0","op_type":"BindCredential"}]`
	if got, err := contracts.Canonical(literal["ops"]); err != nil || string(got) != want {
		t.Errorf("literally: %s %v", got, err)
	}
	if out := b.execute("compile_ops", object{"spot": "toolAgent_0#tools"}, ""); out.OK || !strings.Contains(out.Error.Message, "--mcp-url") {
		t.Errorf("without a server: %+v", out)
	}
	b.config.MCP = &workday.MCP{URL: b.config.Tenant.URL + "/mcp"}
	b.restart()
	for spot, want := range map[string][]string{
		"toolAgent_0#tools":           {`"node_name":"customMCP"`, `"target_anchor":"tools"`, `"target_node_id":"toolAgent_0"`},
		"agentAgentflow_0#agentTools": {`"param_name":"agentTools[-]"`, `"agentSelectedTool":"customMCP"`, `"node_id":"agentAgentflow_0"`},
	} {
		got, err := contracts.Canonical(b.facts("compile_ops", object{"spot": spot, "actions": []string{"searchForWorker"}}, "")["ops"])
		for _, part := range append(want, `"mcpActions":["acme_searchForWorker"]`, `Bearer {{$vars.beartoken}}`) {
			if err != nil || !strings.Contains(string(got), part) {
				t.Errorf("%s: no %s in %s", spot, part, got)
			}
		}
	}
	if out := b.execute("compile_ops", object{"spot": "toolAgent_0#tools", "actions": []string{"payEverybody"}}, ""); out.OK || out.Error.Type != contracts.ErrInvalidParameters {
		t.Errorf("an unknown tool: %+v", out)
	}
}
