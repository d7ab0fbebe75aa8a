package workflow_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

// shop is a domain with three writes: one with a compensation, one without, and the compensation.
func shop(t *testing.T, workflows string) map[string]map[string]any {
	t.Helper()
	var document map[string]any
	text := `{"schema_version": "1", "domain": "shop", "version": "1", "capabilities": [
	  {"name": "order", "description": "Order.", "schema": {"type": "object", "required": ["item"], "properties": {"item": {"type": "string"}}},
	   "output_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
	   "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "compensation": {"capability": "cancel", "param_map": {"id": "${result.facts.id}"}}}},
	  {"name": "cancel", "description": "Cancel.", "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
	   "metadata": {"side_effect_class": "write_irreversible", "risk_level": "high", "idempotency": "keyed"}},
	  {"name": "send", "description": "Send.", "schema": {"type": "object", "required": ["item"], "properties": {"item": {"type": "string"}}},
	   "metadata": {"side_effect_class": "write_irreversible", "risk_level": "low", "idempotency": "keyed", "plays": ["courier"]}}],
	 "workflows": ` + workflows + `}`
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return map[string]map[string]any{"shop": document}
}

const (
	orders = `{"id":"order","kind":"tool","tool":"order","params":{"item":"x"}}`
	sends  = `{"id":"send","kind":"tool","tool":"send","params":{"item":"x"},"depends_on":["order"]}`
	review = `{"id":"look","kind":"human","depends_on":["order"],"human":{"interrupt":"result_review","prompt":"p","allow":["accept","rollback"]}}`
)

func one(steps ...string) string {
	return `[{"name":"w","schema":{"type":"object"},"metadata":{},"steps":[` + strings.Join(steps, ",") + `]}]`
}

func TestWhatARollbackNeeds(t *testing.T) {
	t.Parallel()
	both := strings.Replace(review, `["order"]`, `["order","send"]`, 1)
	later := `{"id":"back","kind":"tool","tool":"cancel","params":{"id":"1"},"depends_on":["look"],"when":"${steps.look.facts.decision == \"rollback\"}"}`
	sub := `[{"name":"inner","schema":{"type":"object"},"metadata":{},"steps":[` + orders + `,` + sends + `]},
	  {"name":"w","schema":{"type":"object"},"metadata":{},"steps":[{"id":"order","kind":"workflow","workflow":"inner"},` + review + `]}]`
	plays := `{"id":"order","kind":"plays","plays":"courier","params":{"item":"x"}}`
	cases := map[string]struct{ workflows, at, fault, warning string }{
		"its write can be taken back":             {one(orders, review), "", "", ""},
		"one of its writes cannot":                {one(orders, sends, both), "/workflows/0/steps/2/human/allow/1", `cannot take back "send": shop.send declares no compensation`, ""},
		"one cannot, and a later step undoes it":  {one(orders, sends, both, later), "", "", ""},
		"one beside it cannot, and is no concern": {one(orders, sends, review), "", "", ""},
		"one inside cannot":                       {sub, "/workflows/1/steps/1/human/allow/1", `cannot take back "send"`, ""},
		"who plays a role cannot":                 {one(plays, review), "", "", `leaves what "order" does: shop.send`},
		"nothing writes":                          {one(strings.Replace(review, `"depends_on":["order"],`, "", 1)), "/workflows/0/steps/0/human/allow/1", "nothing to take back", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := workflowtest.Check(t, workflowtest.CatalogOf(t, shop(t, tc.workflows)), "shop")
			found := ""
			for _, f := range report.Findings {
				found = f.Message
				if f.Severity == contracts.SeverityError && (tc.fault == "" || f.Pointer != tc.at || !strings.Contains(f.Message, tc.fault)) {
					t.Errorf("%s: %s", f.Pointer, f.Message)
				}
			}
			if want := tc.fault + tc.warning; !strings.Contains(found, want) || want == "" && found != "" {
				t.Errorf("found %q, and not %q", found, want)
			}
		})
	}
}

func TestAPreviewShowsWhatARollbackWouldDo(t *testing.T) {
	t.Parallel()
	catalog := workflowtest.CatalogOf(t, shop(t, one(orders, review)))
	entry, _ := catalog.Capability("shop.w")
	if entry.Policy.SideEffectClass != contracts.ClassWriteIrreversible || entry.Policy.RiskLevel != contracts.RiskHigh {
		t.Errorf("a workflow is as grave as what takes it back: %+v", entry.Policy)
	}
	result, err := planner.Compile(planner.Request{
		Goal: "do it", Catalog: catalog, Owner: contracts.Principal{ID: "ana", Roles: []string{"operator"}},
		Intents: []contracts.Intent{{ID: "i1", Domain: "shop", Capability: "w", Source: "caller"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := planner.Rows(result.Plan)
	at := slices.IndexFunc(rows, func(r contracts.PlanRow) bool { return r.Tool == "shop.cancel" })
	if at < 0 {
		t.Fatalf("no row says what takes back: %+v", rows)
	}
	row := rows[at]
	row.Approval = strings.SplitN(row.Approval, ",", 2)[0]
	want := contracts.PlanRow{
		NodeID: "look-undo", Step: "Take back: Order, for each time that it was done, the last first", Tool: "shop.cancel",
		DependsOn: []string{"order"}, Risk: contracts.RiskHigh, Approval: "approver",
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
	if before := rows[at-1]; before.Step != "Take back what was done, if steps.look.facts.decision is rollback" {
		t.Errorf("it says %q", before.Step)
	}
	if drawn := planner.Mermaid(result.Plan); !strings.Contains(drawn, `{{"look-undo: Take back what was done — needs approval"}}`) {
		t.Error(drawn)
	}
	if result.Plan.CapabilityDigests["shop.cancel"] == "" {
		t.Error("what takes back is not pinned")
	}
}

// TestALoopAroundAReviewTakesItsUndoWithIt checks a later step that goes back over the review: the
// undo belongs to the round, and the loop waits for it.
func TestALoopAroundAReviewTakesItsUndoWithIt(t *testing.T) {
	t.Parallel()
	last := `{"id":"last","kind":"human","depends_on":["look"],"human":{"interrupt":"result_review","prompt":"p","allow":["accept","iterate"]},"on":[{"answer":"iterate","goto":"order","max":2}]}`
	c := compiled(t, workflowtest.CatalogOf(t, shop(t, one(orders, review, last))), "shop.w", "", nil)
	n := node(t, c, "last")
	if got := strings.Join(n.On[0].Region, " "); got != "order look last look-undo" {
		t.Errorf("the region is %s", got)
	}
	if !slices.Contains(n.RunAfter, "look-undo") {
		t.Errorf("the loop waits for %v", n.RunAfter)
	}
}
