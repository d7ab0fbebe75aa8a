package attack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// inPhases lets the vault's search and its look be made for finding, and its
// payments for applying.
func inPhases(m *contracts.Manifest) {
	for i := range m.Capabilities {
		meta := &m.Capabilities[i].Metadata
		switch m.Capabilities[i].Name {
		case "find_account":
			meta.Phases = []string{"discover"}
		case "peek":
			meta.Phases, meta.Routable = []string{"discover"}, nil
			meta.IntentHints = &contracts.IntentHints{Examples: []string{"peek into the vault", "look into the vault"}}
		default:
			meta.Phases = []string{"apply"}
		}
	}
}

// TestARequestOfAPhaseReachesNothingOfAnother: who says that a request is of one
// phase gets nothing of another, neither called nor searched, however it is asked.
func TestARequestOfAPhaseReachesNothingOfAnother(t *testing.T) {
	t.Parallel()
	s := open(t)
	safe := newVault(t, func(m *contracts.Manifest) { m.Domain = "safe" }, inPhases)
	s.register(safe)
	alice := s.person("alice", "operator")
	plan := func(phase, capability string, params map[string]any) (contracts.PlanPreview, error) {
		return alice.Plan(t.Context(), contracts.PlanRequest{Phase: phase, Intents: []contracts.Intent{{
			ID: "i1", Domain: "safe", Capability: capability, Parameters: params, Confidence: 1,
		}}})
	}
	for name, tt := range map[string]struct {
		phase, capability, account, says string
	}{
		"a payment while it only looks":      {"discover", "pay", "acc-1", "safe.pay"},
		"a search while it pays":             {"apply", "pay", "savings of Alice", "safe.find_account"},
		"a look while it pays":               {"apply", "peek", "acc-1", "safe.peek"},
		"anything in a phase of no manifest": {"nowhere", "pay", "acc-1", "safe.pay"},
	} {
		_, err := plan(tt.phase, tt.capability, map[string]any{"account": tt.account})
		if contracts.CodeOf(err) != contracts.CodeForbidden || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), tt.phase) {
			t.Errorf("%s: %v, want forbidden with %s", name, err, tt.says)
		}
	}
	if _, err := plan("", "pay", map[string]any{"account": "savings of Alice"}); err != nil {
		t.Errorf("a request without a phase: %v", err)
	}
	preview, err := plan("discover", "peek", map[string]any{"account": "acc-1"})
	if err != nil || preview.Plan.Phase != "discover" || preview.Plan.Nodes[0].Phase != "discover" {
		t.Fatalf("a look while it looks: %v %s", err, asJSON(preview))
	}
	session, err := alice.RunPlan(t.Context(), contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{Wait: 30 * time.Second})
	if err != nil || session.Status != contracts.SessionCompleted {
		t.Errorf("the plan that was previewed: %v %s", err, asJSON(session))
	}
	for phase, says := range map[string]string{"apply": "may not be used in the phase", "discover": "peeked"} {
		session, err := alice.StartSession(t.Context(), contracts.StartSession{Message: "peek into the vault", Phase: phase}, client.Opt{Wait: 30 * time.Second})
		if err != nil || !strings.Contains(asJSON(session.Answer), says) {
			t.Errorf("in words, in the phase %s: %v %s, want %q", phase, err, asJSON(session), says)
		}
	}
	eve := s.key(s.root, contracts.KeySpec{Kind: "user", Principal: "eve", Roles: []string{"operator"}})
	for _, phase := range []string{"Apply", "apply ", "apply\u200b", "discover,apply", ""} {
		got := s.sends(eve, http.MethodPost, "/v1/sessions", map[string]any{"message": "peek into the vault", "phase": phase})
		if got.status != http.StatusBadRequest {
			t.Errorf("the phase %q: %d %s", phase, got.status, got.body)
		}
	}
	if paid := safe.record(); len(paid) > 0 {
		t.Errorf("it was paid: %s", asJSON(paid))
	}
}

// TestAWorkflowReachesNoStepOfAnotherPhase: a request that is held to a phase begins
// no procedure with a step of another, whatever its capabilities may be used in.
func TestAWorkflowReachesNoStepOfAnotherPhase(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.register(newVault(t, func(m *contracts.Manifest) {
		m.Domain = "guide"
		m.Workflows = []contracts.Workflow{{
			Name: "tour", Description: "Looks at an account.", Schema: json.RawMessage(`{"type":"object","properties":{"account":{"type":"string"}},"required":["account"]}`),
			Steps: []contracts.Step{{ID: "look", Kind: contracts.StepTool, Tool: "peek", Phase: "apply", Params: map[string]any{"account": "${params.account}"}}},
		}}
	}))
	alice := s.person("alice", "operator")
	for phase, refused := range map[string]bool{"discover": true, "apply": false, "": false} {
		_, err := alice.Plan(t.Context(), contracts.PlanRequest{Phase: phase, Intents: []contracts.Intent{{
			ID: "i1", Domain: "guide", Capability: "tour", Parameters: map[string]any{"account": "acc-1"}, Confidence: 1,
		}}})
		if refused != (contracts.CodeOf(err) == contracts.CodeForbidden) || !refused && err != nil {
			t.Errorf("in the phase %q: %v", phase, err)
		}
	}
}
