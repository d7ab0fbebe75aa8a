package e2e_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// TestAChatflowIsPromotedFromServerToServer: from dev to staging and on to production,
// by sentences, each with a gate of its own. It takes the variable that has its name
// there, and where there is none no gate opens.
func TestAChatflowIsPromotedFromServerToServer(t *testing.T) {
	t.Parallel()
	servers := map[string]*sandbox.Server{}
	var instances []flowise.Instance
	for _, id := range []string{"dev", "staging", "production"} {
		server, err := sandbox.New(sandbox.Config{})
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(server)
		t.Cleanup(front.Close)
		servers[id] = server
		instances = append(instances, flowise.Instance{ID: id, Endpoint: front.URL, APIKey: server.Key(), Default: id == "dev"})
	}
	s := startSite(t)
	service := serveFlowises(t, instances...)
	s.register(contracts.Registration{Domain: "flowise", URL: service})
	servers["dev"].AddVariable("office", "the desk of developers")
	servers["staging"].AddVariable("office", "the second floor")
	_, made := domaintest.Execute(t, service, "create_chatflow", map[string]any{"name": "Where we are", "reply": "Hello from {{$vars.office}}"}, map[string]any{
		"run_id": "r", "node_id": "n", "attempt": 1, "idempotency_key": "made",
	})
	if !made.OK {
		t.Fatal(made.Error)
	}

	s.promoted("dev", "staging")
	// Without the variable there is no gate, and nothing is written.
	r := s.ask(`promote the chatflow "Where we are" from staging to production`)
	if len(r.RunIDs) == 0 {
		t.Fatalf("no run: %s", asJSON(r))
	}
	if view := s.ended(r.RunIDs[0]); view.State == contracts.RunCompleted || !strings.Contains(asJSON(view), "production has no variable office") {
		t.Errorf("without the variable: %s", states2text(view))
	}
	servers["production"].AddVariable("office", "the headquarters")
	s.promoted("staging", "production")
	for id, office := range map[string]string{"dev": "the desk of developers", "staging": "the second floor", "production": "the headquarters"} {
		kinds := map[string]int{}
		for _, e := range servers[id].Effects() {
			kinds[e.Kind]++
		}
		if kinds["flow.create"] != 1 || len(kinds) != 1 {
			t.Errorf("%s was made to %v", id, kinds)
		}
		if got := s.told(`ask the chatflow "Where we are" on ` + id + `: "Where?"`); !strings.Contains(got, "Hello from "+office) {
			t.Errorf("on %s it answers %q", id, got)
		}
	}
}

// promoted takes the flow from one server to another, by its gate.
func (s *site) promoted(from, to string) {
	s.t.Helper()
	r := s.ask(`promote the chatflow "Where we are" from ` + from + ` to ` + to)
	if len(r.RunIDs) == 0 {
		s.t.Fatalf("no run: %s", asJSON(r))
	}
	gate := s.gates(r.RunIDs[0], 1)[0]
	if gate.Type != contracts.InterruptWriteApproval || gate.Action.Parameters["to"] != to || !strings.Contains(gate.Prompt, "taken from "+from+" to "+to) {
		s.t.Errorf("from %s to %s: the gate is %s", from, to, asJSON(gate))
	}
	s.approve(gate)
	view := s.ended(r.RunIDs[0])
	if view.State != contracts.RunCompleted {
		s.t.Fatalf("from %s to %s: %s", from, to, states2text(view))
	}
	s.sound(view)
}
