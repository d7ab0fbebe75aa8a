package e2e_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise"
	flowises "github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestWorkdayIsWiredIntoAChatflow by the pack of the examples: Workday compiles, Flowise
// applies, one gate shows both, and what is not accepted is taken back.
func TestWorkdayIsWiredIntoAChatflow(t *testing.T) {
	sample.Night(t, "it registers two big manifests")
	t.Parallel()
	tenant, err := sandbox.New(sandbox.Config{ToolPrefix: "acme_"})
	if err != nil {
		t.Fatal(err)
	}
	workdays := httptest.NewServer(tenant)
	t.Cleanup(workdays.Close)
	c := tenant.Credentials()
	svc, err := workday.New(workday.Config{
		Tenant: workday.Tenant{
			URL: workdays.URL, Name: c.Tenant, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
			Tokens: workday.MemoryTokens(c.RefreshToken), AllowLoopback: true, RequestsPerSecond: -1,
		},
		MCP: &workday.MCP{URL: workdays.URL + "/mcp"},
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := flowises.New(flowises.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	s := startSite(t)
	var pack contracts.Registration
	body, err := os.ReadFile(filepath.Join("..", "..", "examples", "workday-in-flowise", "registration.json"))
	if err == nil {
		err = contracts.Parse(contracts.SchemaRegistration, body, &pack)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.register(contracts.Registration{Domain: "workday", URL: domaintest.Serve(t, svc)})
	data, err := flowise.OpenData(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	flows, err := flowise.New(flowise.Config{
		Instances: []flowise.Instance{{ID: "test", Endpoint: front.URL, APIKey: server.Key()}}, Data: data,
		Acting: flowise.ActingAllow, // its tools only read
	})
	if err != nil {
		t.Fatal(err)
	}
	s.register(contracts.Registration{Domain: "flowise", URL: domaintest.Serve(t, flows)})
	s.register(pack)
	s.approved(`create a chatflow called "Agentless" that replies "Hello"`)

	gates := 0
	looks := func(i contracts.Interrupt) {
		if i.Type != contracts.InterruptWriteApproval || gates > 0 {
			return
		}
		gates++
		for _, part := range []string{workdays.URL + "/mcp", "acme_searchForWorker", "customMCP", "beartoken"} {
			if !strings.Contains(asJSON(i), part) {
				t.Errorf("the gate does not show %s: %s", part, asJSON(i.Evidence))
			}
		}
	}
	server.AddCredential("Team key", "openAIApi")
	view, told := s.developed(`wire Workday into the chatflow "People Desk"`, say{
		contracts.InterruptSelectTarget: {decides("create_new")},
		contracts.InterruptResultReview: {decides("accept")},
	}, looks)
	if view.State != contracts.RunCompleted || gates != 1 || !strings.Contains(told, "The agent has the tools of Workday: acme_getMyInfo") {
		t.Fatalf("%s, %d gates: %s\n%s", view.State, gates, told, states2text(view))
	}
	stored := ""
	for _, n := range view.Nodes {
		if id, made := n.Facts["chatflow_id"].(string); made && strings.HasSuffix(n.NodeID, "create") {
			stored, _ = server.FlowData(id)
		}
	}
	for _, part := range []string{"{{$vars.beartoken}}", workdays.URL + "/mcp", "acme_getWorkers", `{{workdayMCP.data.instance}}`} {
		if !strings.Contains(stored, part) {
			t.Errorf("the flow has no %s: %s", part, stored)
		}
	}
	// One that has the tools already cannot have them twice; one without an agent has no place for them.
	for name, want := range map[string]string{"Agentless": "has no tools to change", "People Desk": "workdayMCP"} {
		r := s.ask(`wire Workday into the chatflow "` + name + `"`)
		i := s.gates(r.RunIDs[0], 1)[0]
		if _, err := s.rita.Answer(t.Context(), i, "1", client.Opt{}); err != nil {
			t.Fatal(err)
		}
		if v := s.ended(r.RunIDs[0]); !strings.Contains(asJSON(v), want) {
			t.Errorf("%s: %s", name, states2text(v))
		}
	}
}
