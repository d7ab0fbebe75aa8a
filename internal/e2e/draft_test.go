package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func TestADraftIsPreviewedAndRun(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	write := contracts.DraftStep{
		ID: "w", Tool: "depot-put_keyed", When: "${p.summary} != ''", Say: "keep what was found",
		Params: map[string]any{"id": "b", "value": "a: ${p.summary}"},
	}
	request := contracts.PlanRequest{Draft: &contracts.Draft{Steps: []contracts.DraftStep{
		{ID: "p", Tool: "depot.peek", Params: map[string]any{"id": "a"}}, write,
	}}}
	preview, err := s.rita.Plan(t.Context(), request)
	if err != nil || !slices.ContainsFunc(preview.Rows, func(r contracts.PlanRow) bool { return r.Say == "keep what was found" && r.Approval != "" }) {
		t.Fatalf("%v, %s", err, asJSON(preview))
	}
	r, err := s.runWith(request, contracts.RunPlan{})
	if err != nil {
		t.Fatal(err)
	}
	gate := s.gates(r.RunIDs[0], 1)[0]
	value, _ := gate.Action.Parameters["value"].(string)
	if !strings.HasPrefix(value, "a: ") || strings.Contains(value, "${") || len(gate.Evidence) == 0 {
		t.Errorf("the gate shows %q by %s", value, asJSON(gate.Evidence))
	}
	s.approve(gate)
	view := s.ended(r.RunIDs[0])
	if view.State != contracts.RunCompleted || d.done("b") != 1 {
		t.Errorf("%s, %+v", states2text(view), d.record())
	}
	s.sound(view)
}

func TestFaultsOfADraftAreToldByTheirPlaces(t *testing.T) {
	t.Parallel()
	s := startSite(t)
	d := newDepot(t, "depot")
	s.register(d.registration())
	_, err := s.rita.Plan(t.Context(), contracts.PlanRequest{Draft: &contracts.Draft{Steps: []contracts.DraftStep{
		{ID: "p", Tool: "depot.peep"}, {ID: "w", Tool: "depot.put_keyed", Params: map[string]any{"id": "b", "value": "${q.summary}"}},
	}}})
	var places []string
	for _, f := range faultsOf(err) {
		places = append(places, f.Pointer)
	}
	if want := []string{"/steps/0/tool", "/steps/1/params/value"}; contracts.CodeOf(err) != contracts.CodeInvalid || !slices.Equal(places, want) {
		t.Errorf("%v at %v", err, places)
	}
}
