package expr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// workflowScope is a scope of a step of a workflow.
func workflowScope() expr.Scope {
	return expr.Scope{
		"params": map[string]any{"n": 3.0, "half": 0.5, "big": json.Number("9007199254740993"), "none": nil, "name": "x"},
		"steps": map[string]any{
			"find":  map[string]any{"state": "completed", "ok": true, "facts": map[string]any{"items": []any{map[string]any{"ok": true, "v": 2.0}, map[string]any{"ok": false}}, "by": map[string]any{"b": 1.0, "a": 2.0, "c": 3.0}}},
			"never": map[string]any{"state": "skipped", "ok": false, "facts": map[string]any{}},
		},
		"round": map[string]any{"n": 2.0, "by": "review", "with": map[string]any{"feedback": "shorter"}},
	}
}

func TestComputedExpressions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in   any
		want any
	}{
		"a whole number is an int":                   {"${params.n + 1}", json.Number("4")},
		"digits beyond 2^53 are kept":                {"${params.big}", json.Number("9007199254740993")},
		"and when they are computed with":            {"${int(params.big) + 1}", json.Number("9007199254740994")},
		"another number is a double":                 {"${double(params.n) * params.half}", 1.5},
		"a null member is absent":                    {"${has(params.none)}", false},
		"a member that is there":                     {"${has(round.with.feedback) ? round.with.feedback : \"\"}", "shorter"},
		"a skipped step has no facts":                {`${has(steps.never.facts.x) ? steps.never.facts.x : []}`, []any{}},
		"macros walk lists":                          {"${steps.find.facts.items.filter(i, i.ok).map(i, i.v)}", []any{json.Number("2")}},
		"objects are walked in the order of names":   {"${steps.find.facts.by.map(k, k)}", []any{"a", "b", "c"}},
		"the extensions are there":                   {`${math.least(5, int(params.n)) == 3 && [3, 1].sort() == [1, 3] && "a,b".split(",").join("+") == "a+b"}`, true},
		"a brace inside":                             {`${{"a": "}"}.a}`, "}"},
		"in a text":                                  {`${params.name} has ${size(steps.find.facts.items)}`, "x has 2"},
		"null is a value":                            {`${has(steps.never.facts.x) ? steps.never.facts.x : null}`, nil},
		"a comparison needs no type":                 {"${params.n > 2.5 && params.half < 1}", true},
		"a map is an object":                         {`${{"a": params.n}}`, map[string]any{"a": json.Number("3")}},
		"whole expressions inside of lists and maps": {map[string]any{"l": []any{"${1 + 1}"}}, map[string]any{"l": []any{json.Number("2")}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := expr.Resolve(tc.in, workflowScope())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(jsonOf(t, tc.want), jsonOf(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := contracts.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestComputedReadsAreTheLongestPaths(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		`${has(round.with.q) ? round.with.q : steps.find.facts.by.a + params.n}`:           {"params.n=3", "round.with.q=null", "steps.find.facts.by.a=2"},
		`${steps.find.facts.items[0].v == steps.find.facts["items"][1].v}`:                 {"steps.find.facts.items[0].v=2", "steps.find.facts.items[1].v=null"},
		`${steps.find.facts.items.filter(i, i.ok).size() == parameters.n}`:                 {`params.n=3`, `steps.find.facts.items=[{"ok":true,"v":2},{"ok":false}]`},
		`${steps.find.facts.by[params.name].x == 1}`:                                       {"params.name=\"x\"", `steps.find.facts.by={"a":2,"b":1,"c":3}`},
		`${[params.n].exists(item, item == 3) && params.name == "x" || params.half > 3.0}`: {"params.half=0.5", "params.n=3", `params.name="x"`},
	}
	for source, want := range cases {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			_, reads, err := expr.Resolve(source, workflowScope())
			if err != nil && !strings.Contains(source, "[params.name]") && !strings.Contains(source, "[1].v") {
				t.Fatal(err)
			}
			var got []string
			for _, r := range reads {
				got = append(got, r.Path+"="+jsonOf(t, r.Value))
			}
			if err == nil {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
			refs, err := expr.Refs(source)
			if err != nil || len(refs) != len(want) {
				t.Errorf("it names %v, %v", refs, err)
			}
		})
	}
}

func TestAnErrorIsNeverFalse(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{
		"${steps.never.facts.x}", "${steps.never.facts.x > 1}", "${params.name}", "${params.n + 1}", "${params.n}",
		"${steps.find.facts.items[9].ok}", "${1 / (params.n - 3) > 0}",
	} {
		if holds, _, err := expr.Holds(contracts.Condition{Expr: condition}, workflowScope()); err == nil || holds {
			t.Errorf("%s: %v, %v", condition, holds, err)
		}
	}
	_, _, err := expr.Holds(contracts.Condition{Expr: "${steps.never.facts.x > 1}"}, workflowScope())
	if _, ok := errors.AsType[*expr.EvalError](err); !ok {
		t.Errorf("got %v", err)
	}
	for condition, want := range map[string]bool{"${steps.find.ok}": true, "${!steps.find.ok}": false, `${round.by == "review"}`: true} {
		if holds, _, err := expr.Holds(contracts.Condition{Expr: condition}, workflowScope()); err != nil || holds != want {
			t.Errorf("%s: %v, %v", condition, holds, err)
		}
	}
}

func TestExpressionsAreBounded(t *testing.T) {
	t.Parallel()
	scope := expr.Scope{"params": map[string]any{"l": many(300), "s": strings.Repeat("a", 10_000)}}
	for name, source := range map[string]string{
		"the cost of walking":        "${params.l.all(a, params.l.all(b, params.l.all(c, int(a) + int(b) + int(c) >= 0)))}",
		"the size of what it gives":  "${[1, 2, 3, 4, 5, 6, 7].map(i, params.s)}",
		"a list out of nothing":      "${lists.range(1000000).size() > 0}",
		"how long a text may become": "${params.s.replace('', params.s)}",
		"what is put in many places": "${params.s.replace('a', params.s)}",
		"what stands between":        "${params.l.map(i, string(i)).join(params.s)}",
		"a long text put in":         "${params.s.replace('a', '" + strings.Repeat("b", 65) + "')}",
	} {
		if _, _, err := expr.Resolve(source, scope); err == nil {
			t.Errorf("%s is not bounded", name)
		}
	}
	deep := "${" + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + "}"
	long := "${" + strings.Repeat("1 + ", 5000) + "1}"
	for _, source := range []string{deep, long} {
		if faults := expr.Check(source); len(faults) == 0 {
			t.Errorf("%.20s… is taken", source)
		}
	}
}

func many(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = float64(i)
	}
	return out
}

func TestReferencesSayWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	v := map[string]any{
		"a": "${parms.n + 1}", "b": "${params.n +}", "c": "${steps.x.facts.price * 2.0}", "d": "${double(steps.x.facts.price) * 2.0}",
		"e": "${now()}", "f": "${params.n", "g": `${"s" + steps.x.facts.name}`, "h": "${steps.x.facts.list + [1]}", "i": "${params.n > 2}",
	}
	refs, faults := expr.References(v)
	want := map[string]string{"/a": `"parms" is no root`, "/b": "Syntax error", "/c": `"*" has an operand`, "/e": `"now" is no root and no function`, "/f": "not closed", "/g": `"+" has an operand`}
	got := map[string]string{}
	for _, f := range faults {
		got[f.Pointer] += f.Message
	}
	for at, message := range want {
		if !strings.Contains(got[at], message) {
			t.Errorf("%s: got %q, want %q", at, got[at], message)
		}
	}
	if len(got) != len(want) {
		t.Errorf("faults at %v", got)
	}
	if len(refs) != 5 {
		t.Errorf("found %v", refs)
	}
}

func TestConditionsInBothForms(t *testing.T) {
	t.Parallel()
	var conditions []contracts.Condition
	text := `["${steps.a.ok}",{"path":"steps.b.ok","equals":true}]`
	if err := contracts.Decode([]byte(text), &conditions); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"steps.a.ok", "steps.b.ok"} {
		if refs, err := expr.RefsOf(conditions[i]); err != nil || fmt.Sprint(refs) != "["+want+"]" {
			t.Errorf("got %v, %v", refs, err)
		}
		if faults := expr.CheckCondition(conditions[i], "params"); len(faults) != 1 {
			t.Errorf("steps may not be read here: %v", faults)
		}
	}
	if faults := expr.CheckCondition(contracts.Condition{Expr: "if ${steps.a.ok}"}); len(faults) == 0 {
		t.Error("a text around the expression is taken")
	}
	if raw, err := json.Marshal(conditions); err != nil || string(raw) != text {
		t.Errorf("written as %s, %v", raw, err)
	}
}
