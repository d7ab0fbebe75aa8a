package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow/workflowtest"
)

func TestTheExampleIsAdmittedAsItStands(t *testing.T) {
	t.Parallel()
	catalog := workflowtest.CatalogOf(t, workflowtest.Manifests(t))
	for _, domain := range []string{"flowise", "logistics", "prices"} {
		report := workflowtest.Check(t, catalog, domain)
		for _, f := range report.Findings {
			t.Errorf("%s%s: %s (%s)", domain, f.Pointer, f.Message, f.Severity)
		}
		if len(report.Missing) > 0 {
			t.Errorf("%s misses %v", domain, report.Missing)
		}
	}
	entry, ok := catalog.Capability("flowise.develop_chatflow")
	if !ok || entry.Policy.SideEffectClass != contracts.ClassWriteIrreversible || entry.Policy.RiskLevel != contracts.RiskHigh {
		t.Errorf("the workflow is as grave as its gravest step: %+v", entry)
	}
	if entry, ok := catalog.Capability("logistics.compare_carriers"); !ok || entry.Policy.SideEffectClass != contracts.ClassSuggest {
		t.Errorf("got %+v", entry)
	}
}

// workflowOf returns manifests with one workflow of the given steps.
func workflowOf(t *testing.T, steps, more string) map[string]map[string]any {
	t.Helper()
	documents := workflowtest.Manifests(t)
	text := `[{"name":"w","schema":{"type":"object","properties":{"n":{"type":"integer"},"l":{"type":"array"}}},"metadata":{},"steps":` + steps + more + `}]`
	var list []any
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	documents["logistics"]["workflows"] = list
	return documents
}

func TestFaultsHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	const a = `{"id":"a","kind":"tool","tool":"query_safety_api","params":{"dot_number":"1"}}`
	cases := map[string]struct{ steps, more, at, message string }{
		"an unknown step":                {`[{"id":"a","kind":"set","set":{"x":1},"depends_on":["bb"]},{"id":"b","kind":"set","set":{"x":1}}]`, "", "/steps/0/depends_on/0", `did you mean "b"`},
		"an unknown capability":          {`[{"id":"a","kind":"tool","tool":"query_safetyapi"}]`, "", "/steps/0/tool", `did you mean "query_safety_api"`},
		"a capability of another":        {`[{"id":"a","kind":"tool","tool":"finance.get_price"}]`, "", "/steps/0/tool", "of another domain"},
		"an unknown root":                {`[{"id":"a","kind":"set","set":{"x":"${parms.n}"}}]`, "", "/steps/0/set/x", "root"},
		"a root of other places":         {`[{"id":"a","kind":"set","set":{"x":"${facts.n}"}}]`, "", "/steps/0/set/x", "cannot be read in a workflow"},
		"an unknown parameter":           {`[{"id":"a","kind":"set","set":{"x":"${params.m}"}}]`, "", "/steps/0/set/x", `no parameter "m"`},
		"no ancestor":                    {`[` + a + `,{"id":"b","kind":"set","set":{"x":"${steps.a.ok}"}}]`, "", "/steps/1/set/x", "no ancestor"},
		"itself":                         {`[{"id":"a","kind":"set","set":{"x":"${steps.a.ok}"}}]`, "", "/steps/0/set/x", "read itself"},
		"a step that is not named":       {`[` + a + `,{"id":"b","kind":"set","depends_on":["a"],"set":{"x":"${size(steps)}"}}]`, "", "/steps/1/set/x", "name the step"},
		"a circle":                       {`[{"id":"a","kind":"set","set":{"x":1},"depends_on":["c"]},{"id":"b","kind":"set","set":{"x":1},"depends_on":["a"]},{"id":"c","kind":"set","set":{"x":1},"depends_on":["b"]}]`, "", "/steps/0/depends_on", "a → c → b → a"},
		"a rule that goes forwards":      {`[{"id":"a","kind":"set","set":{"x":1},"on":[{"when":"${round.n < 2}","goto":"b","max":1}]},{"id":"b","kind":"set","set":{"x":1},"depends_on":["a"]}]`, "", "/steps/0/on/0/goto", "is not before"},
		"loops that cross":               {`[{"id":"a","kind":"set","set":{"x":1}},{"id":"b","kind":"set","set":{"x":1},"depends_on":["a"]},{"id":"c","kind":"set","set":{"x":1},"depends_on":["b"],"on":[{"when":"${true}","goto":"a","max":1}]},{"id":"d","kind":"set","set":{"x":1},"depends_on":["c"],"on":[{"when":"${true}","goto":"b","max":1}]}]`, "", "/steps/3/on/0/goto", "cross"},
		"loops that wait for each other": {`[{"id":"a","kind":"set","set":{"x":1}},{"id":"c","kind":"set","set":{"x":1}},{"id":"s","kind":"set","set":{"x":1},"depends_on":["a"]},{"id":"b","kind":"set","set":{"x":1},"depends_on":["a","c"],"on":[{"when":"${true}","goto":"a","max":1}]},{"id":"d","kind":"set","set":{"x":1},"depends_on":["c","s"],"on":[{"when":"${true}","goto":"c","max":1}]}]`, "", "/steps/2/depends_on", "end of the loop"},
		"loops beside each other":        {`[{"id":"a","kind":"set","set":{"x":1}},{"id":"b","kind":"set","set":{"x":1},"depends_on":["a"],"on":[{"when":"${true}","goto":"a","max":1}]},{"id":"c","kind":"set","set":{"x":1}},{"id":"d","kind":"set","set":{"x":1},"depends_on":["c"],"on":[{"when":"${true}","goto":"c","max":1}]},{"id":"e","kind":"set","set":{"x":1},"depends_on":["a","d"]}]`, "", "", ""},
		"a rule with nothing to hold":    {`[{"id":"a","kind":"set","set":{"x":1},"on":[{"goto":"a","max":1}]}]`, "", "/steps/0/on/0", "one of when, answer and error"},
		"an answer nobody gives":         {`[{"id":"a","kind":"set","set":{"x":1},"on":[{"answer":"retry","goto":"a","max":1}]}]`, "", "/steps/0/on/0/answer", "does not allow"},
		"a rollback of nothing":          {`[{"id":"a","kind":"human","human":{"interrupt":"result_review","prompt":"p","allow":["accept","rollback"]}}]`, "", "/steps/0/human/allow/1", "has nothing to take back"},
		"a rollback of what stays":       {`[{"id":"m","kind":"plays","plays":"notifier","params":{"message":"x"}},{"id":"a","kind":"human","depends_on":["m"],"human":{"interrupt":"result_review","prompt":"p","allow":["accept","rollback"]}}]`, "", "", ""},
		"an answer without a rule":       {`[{"id":"a","kind":"human","human":{"interrupt":"result_review","prompt":"p","allow":["accept","iterate"]}}]`, "", "/steps/0/human/allow/1", "needs a rule"},
		"a question of the engine":       {`[{"id":"a","kind":"human","human":{"interrupt":"write_approval","prompt":"p","allow":["approve"]}}]`, "", "/steps/0/human/interrupt", "asked by the engine"},
		"an answer of another question":  {`[{"id":"a","kind":"human","human":{"interrupt":"result_review","prompt":"p","allow":["approve"]}}]`, "", "/steps/0/human/allow/0", "no answer"},
		"no answer for the absent":       {`[{"id":"a","kind":"human","human":{"interrupt":"result_review","prompt":"p","allow":["accept"],"unattended":{"answer":"stop"}}}]`, "", "/steps/0/human/unattended/answer", "does not allow"},
		"untyped arithmetic":             {`[` + a + `,{"id":"b","kind":"set","depends_on":["a"],"set":{"x":"${steps.a.facts.rating * 2.0}"}}]`, "", "/steps/1/set/x", "type is not known"},
		"a word of the language":         {`[{"id":"in","kind":"set","set":{"x":1}}]`, "", "/steps/0/id", "word of the expression language"},
		"an id that is a root":           {`[{"id":"result","kind":"set","set":{"x":1}}]`, "", "/steps/0/id", "begin with"},
		"what does not belong":           {`[{"id":"a","kind":"set","set":{"x":1},"tool":"query_safety_api"}]`, "", "/steps/0/tool", "has no tool"},
		"what is missing":                {`[{"id":"a","kind":"tool"}]`, "", "/steps/0", "needs tool"},
		"an unknown parameter of a call": {`[{"id":"a","kind":"tool","tool":"query_safety_api","params":{"dot_number":"1","dot":"2"}}]`, "", "/steps/0/params/dot", "no parameter"},
		"a parameter that is required":   {`[{"id":"a","kind":"tool","tool":"query_safety_api","params":{}}]`, "", "/steps/0/params", "requires dot_number"},
		"item without for_each":          {`[{"id":"a","kind":"tool","tool":"query_safety_api","params":{"dot_number":"${item}"}}]`, "", "/steps/0/params/dot_number", "for_each"},
		"a skill that is not there":      {`[{"id":"a","kind":"reason","reason":{"skill":"compar","output_schema":{"type":"object"}}}]`, "", "/steps/0/reason/skill", `did you mean "compare"`},
		"an input that is an artifact":   {`[` + a + `,{"id":"b","kind":"reason","depends_on":["a"],"reason":{"skill":"compare","inputs":{"x":"${steps.a.artifacts.x}"},"output_schema":{"type":"object"}}}]`, "", "/steps/1/reason/inputs/x", "artifact"},
		"a fallback that gives less":     {`[{"id":"a","kind":"reason","reason":{"skill":"compare","inputs":{"carriers":[],"safety":[]},"output_schema":{"type":"object","required":["winner"]},"fallback":"rank_carriers"}}]`, "", "/steps/0/reason/fallback", "gives no winner"},
		"a fact that nobody sets":        {`[{"id":"a","kind":"set","set":{"x":1}},{"id":"b","kind":"set","depends_on":["a"],"set":{"y":"${steps.a.facts.z}"}}]`, "", "/steps/1/set/y", `no fact "z"`},
		"an unknown budget":              {`[{"id":"a","kind":"set","set":{"x":1},"spend":{"ops":"${1}"}}]`, `,"budgets":{"opz":3}`, "/steps/0/spend/ops", `did you mean "opz"`},
		"a budget of the engine":         {`[{"id":"a","kind":"set","set":{"x":1},"spend":{"tokens":"${1}"}}]`, "", "/steps/0/spend/tokens", "counted by the engine"},
		"a budget beside its spender":    {`[{"id":"a","kind":"set","set":{"x":1},"spend":{"ops":"${1}"}},{"id":"b","kind":"set","set":{"x":"${budgets.ops.left}"}}]`, `,"budgets":{"ops":3}`, "/steps/1/set/x", "which of them is faster"},
		"a limit that is not known yet":  {`[{"id":"a","kind":"set","set":{"x":1}},{"id":"b","kind":"set","set":{"x":1},"spend":{"ops":"${1}"}}]`, `,"budgets":{"ops":"${steps.a.facts.x}"}`, "/steps/1/spend/ops", "not before"},
		"a workflow in itself":           {`[{"id":"a","kind":"workflow","workflow":"w"}]`, "", "/steps/0/workflow", "cannot stand in itself"},
		"an unknown workflow":            {`[{"id":"a","kind":"workflow","workflow":"v"}]`, "", "/steps/0/workflow", "no workflow"},
		"a result of no step":            {`[` + a + `]`, `,"result":{"summary":"${steps.b.summary}"}`, "/result/summary", "no step"},
		"a condition that is a text":     {`[{"id":"a","kind":"set","set":{"x":1},"when":"${params.n} > 2"}]`, "", "/steps/0/when", "one expression"},
		"a literal of the wrong kind":    {`[{"id":"a","kind":"plays","plays":"notifier","params":{"text":"x"}}]`, "", "/steps/0/params", "requires message"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := workflowtest.Check(t, workflowtest.CatalogOf(t, workflowOf(t, tc.steps, tc.more)), "logistics")
			var errors []contracts.Finding
			for _, f := range report.Findings {
				if f.Severity == contracts.SeverityError {
					errors = append(errors, f)
				}
			}
			if tc.at == "" {
				if len(errors) > 0 {
					t.Errorf("refused: %v", errors)
				}
				return
			}
			for _, f := range errors {
				if f.Pointer == "/workflows/0"+tc.at && strings.Contains(f.Message, tc.message) {
					return
				}
			}
			t.Errorf("no fault %q at %s in %v", tc.message, tc.at, report.Findings)
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	steps := `[
		{"id":"a","kind":"tool","tool":"nobody","when":"${parms.x}"},
		{"id":"b","kind":"set","set":{"x":"${steps.c.ok}"},"depends_on":["a"]},
		{"id":"c","kind":"set","set":{"x":"${1 +}"}},
		{"id":"d","kind":"human","human":{"interrupt":"plan_approval","prompt":"p","allow":["approve","accept"]},"on":[{"answer":"reject","goto":"x","max":1}]}
	]`
	report := workflowtest.Check(t, workflowtest.CatalogOf(t, workflowOf(t, steps, "")), "logistics")
	var places []string
	for _, f := range report.Findings {
		places = append(places, strings.TrimPrefix(f.Pointer, "/workflows/0"))
	}
	for _, want := range []string{
		"/steps/0/tool", "/steps/0/when", "/steps/1/set/x", "/steps/2/set/x", "/steps/3/human/allow/1", "/steps/3/human",
		"/steps/3/on/0/goto", "/steps/3/on/0/answer",
	} {
		found := false
		for _, at := range places {
			found = found || at == want
		}
		if !found {
			t.Errorf("no fault at %s in %v", want, report.Findings)
		}
	}
}

func TestAPackWaitsForWhatItNames(t *testing.T) {
	t.Parallel()
	documents := workflowtest.Manifests(t)
	delete(documents, "finance")
	delete(documents, "mail")
	catalog := workflowtest.CatalogOf(t, documents)
	report := workflowtest.Check(t, catalog, "prices")
	if len(report.Findings) > 0 {
		t.Errorf("what may still come is no fault: %v", report.Findings)
	}
	if got := strings.Join(report.Missing["compare_prices_and_notify"], "; "); got != "finance.get_price; somebody who plays notifier" {
		t.Errorf("misses %q", got)
	}
	if _, ok := catalog.Capability("prices.compare_prices_and_notify"); ok {
		t.Error("it is offered all the same")
	}
}
