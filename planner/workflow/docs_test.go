package workflow_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

func TestTheWorkflowOfTheGuideIsAdmitted(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "```json\n")
	text, _, _ := strings.Cut(rest, "```")
	var w map[string]any
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	call := func(name, param, class string, facts ...string) map[string]any {
		properties := map[string]any{}
		for _, f := range facts {
			properties[f] = map[string]any{}
		}
		return map[string]any{
			"name": name, "schema": map[string]any{"type": "object", "properties": map[string]any{param: map[string]any{}}},
			"output_schema": map[string]any{"type": "object", "properties": properties}, "metadata": map[string]any{"side_effect_class": class},
		}
	}
	documents := map[string]map[string]any{"shop": {
		"schema_version": "1", "domain": "shop", "version": "1", "skills": map[string]any{"choose": "Take the cheapest."},
		"workflows": []any{w}, "capabilities": []any{
			call("get_price", "item", "read", "item", "price"), call("cheapest", "offers", "read", "item", "price"), call("order", "item", "write_irreversible", "item", "id"),
		},
	}}
	catalog := workflowtest.CatalogOf(t, documents)
	for _, f := range workflowtest.Check(t, catalog, "shop").Findings {
		t.Errorf("%s: %s", f.Pointer, f.Message)
	}
}
