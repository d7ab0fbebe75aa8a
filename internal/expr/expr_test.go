package expr_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

func scope() expr.Scope {
	return expr.Scope{
		"params": map[string]any{"symbol": "A", "n": 3.0, "big": json.Number("9007199254740993"), "none": nil, "yes": true, "list": []any{"A", "B"}},
		"steps": map[string]any{
			"n1":    map[string]any{"facts": map[string]any{"matches": []any{map[string]any{"value": "x", "label": "X"}}}, "summary": "one match"},
			"n3[0]": map[string]any{"facts": map[string]any{"a b": 1.5}},
		},
		"context": map[string]any{"principal": contracts.Principal{ID: "u1", Roles: []string{"viewer"}}},
		"item":    map[string]string{"id": "i1"},
		"facts":   map[string]any{"at": "2026-01-02T10:00:00+02:00", "count": 3, "text": "b", "evil": "${params.symbol}"},
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		path  string
		want  any
		found bool
		fails bool
	}{
		"a member of a member":                   {"steps.n1.facts.matches[0].value", "x", true, false},
		"an element may be written as a name":    {"steps.n1.facts.matches.0.label", "X", true, false},
		"a name in quotes":                       {`steps["n3[0]"].facts["a b"]`, 1.5, true, false},
		"parameters is a synonym":                {"parameters.n", 3.0, true, false},
		"a null is found":                        {"params.none", nil, true, false},
		"a struct counts by its JSON":            {"context.principal.roles[0]", "viewer", true, false},
		"a typed map counts by its JSON":         {"item.id", "i1", true, false},
		"an index beyond the list finds nothing": {"params.list[2]", nil, false, false},
		"an index into an object finds nothing":  {"params[0]", nil, false, false},
		"a name in a text finds nothing":         {"params.symbol.length", nil, false, false},
		"a root that is not given finds nothing": {"budgets.max_nodes", nil, false, false},
		"an unknown root is an error":            {"secrets.x", nil, false, true},
		"a dot at the end is an error":           {"params.", nil, false, true},
		"a negative index is an error":           {"params.list[-1]", nil, false, true},
		"an open bracket is an error":            {`params["a`, nil, false, true},
		"arithmetic is an error":                 {"params.n + 1", nil, false, true},
		"no path is an error":                    {"", nil, false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found, err := expr.Lookup(scope(), tc.path)
			if found != tc.found || (err != nil) != tc.fails {
				t.Fatalf("found %v, err %v", found, err)
			}
			if tc.fails && contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Errorf("code %q", contracts.CodeOf(err))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in    any
		want  any
		reads []string
	}{
		"a whole expression keeps its type": {
			map[string]any{"a": "${params.n}", "b": "${params.big}", "c": "${steps.n1.facts.matches}", "d": "${params.none}"},
			map[string]any{"a": 3.0, "b": json.Number("9007199254740993"), "c": []any{map[string]any{"value": "x", "label": "X"}}, "d": nil},
			[]string{"params.big", "params.n", "params.none", "steps.n1.facts.matches"},
		},
		"inside text it is text": {
			"n=${params.n} s=${ parameters.symbol } l=${params.list} y=${params.yes}",
			`n=3 s=A l=["A","B"] y=true`,
			[]string{"params.list", "params.n", "params.symbol", "params.yes"},
		},
		"lists are walked, literals stay":      {[]any{1, "x", nil, []any{"${item.id}"}}, []any{1.0, "x", nil, []any{"i1"}}, []string{"item.id"}},
		"a path read twice is read once":       {[]any{"${params.n}", "${parameters.n}"}, []any{3.0, 3.0}, []string{"params.n"}},
		"what a value contains stays text":     {"${facts.evil}", "${params.symbol}", []string{"facts.evil"}},
		"a backslash makes an expression text": {`\${params.n} ${params.n}`, `${params.n} 3`, []string{"params.n"}},
		"a dollar sign alone is text":          {"$5 {x} $", "$5 {x} $", nil},
		"keys are never expressions":           {map[string]any{"${params.n}": 1.0}, map[string]any{"${params.n}": 1.0}, nil},
		"a closing brace in a quoted name":     {`${params["a}b"]}`, 7.0, []string{`params["a}b"]`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scope()
			s["params"].(map[string]any)["a}b"] = 7
			got, reads, err := expr.Resolve(tc.in, s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			var paths []string
			for _, r := range reads {
				paths = append(paths, r.Path)
			}
			if diff := cmp.Diff(tc.reads, paths); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResolveSharesNothing(t *testing.T) {
	t.Parallel()
	s := scope()
	out, reads, err := expr.Resolve("${params.list}", s)
	if err != nil {
		t.Fatal(err)
	}
	out.([]any)[0] = "changed"
	if s["params"].(map[string]any)["list"].([]any)[0] != "A" || reads[0].Value.([]any)[0] != "A" {
		t.Error("a change of the result reached the scope or the evidence")
	}
}

func TestResolveListsAllThatIsMissing(t *testing.T) {
	t.Parallel()
	_, reads, err := expr.Resolve(map[string]any{"a/b": "${params.x}", "c": []any{"${params.n}", "is ${steps.n9.summary}"}}, scope())
	missing, ok := errors.AsType[*expr.MissingError](err)
	if !ok || missing.Path != "params.x" || contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Fatalf("got %v", err)
	}
	e, _ := errors.AsType[*contracts.Error](err)
	want := []contracts.Fault{
		{Pointer: "/a~1b", Message: "there is no value at params.x"},
		{Pointer: "/c/1", Message: "there is no value at steps.n9.summary"},
	}
	if diff := cmp.Diff(want, e.Faults); diff != "" {
		t.Error(diff)
	}
	if len(reads) != 1 || reads[0].Path != "params.n" {
		t.Errorf("what was there is still evidence, got %v", reads)
	}
	if _, _, err := expr.Resolve("${params.n", scope()); contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("broken syntax is invalid, got %v", err)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	val := func(v any) *any { return &v }
	cases := map[string]struct {
		cond contracts.Condition
		want bool
	}{
		"equal text":                                {contracts.Condition{Path: "params.symbol", Equals: val("A")}, true},
		"equal numbers of different Go types":       {contracts.Condition{Path: "facts.count", Equals: val(3)}, true},
		"digits beyond 2^53 differ":                 {contracts.Condition{Path: "params.big", Equals: val(json.Number("9007199254740992"))}, false},
		"a right side from a path":                  {contracts.Condition{Path: "params.n", Equals: val("${facts.count}")}, true},
		"a right side inside text":                  {contracts.Condition{Path: "params.symbol", Equals: val("${params.symbol}x")}, false},
		"equal lists":                               {contracts.Condition{Path: "params.list", Equals: val([]any{"A", "B"})}, true},
		"a list is not its element":                 {contracts.Condition{Path: "params.symbol", Equals: val([]any{"A"})}, false},
		"false equals false":                        {contracts.Condition{Path: "params.yes", Equals: val(false)}, false},
		"text is no number":                         {contracts.Condition{Path: "params.n", Equals: val("3")}, false},
		"what is absent equals nothing":             {contracts.Condition{Path: "params.x", Equals: val("${params.y}")}, false},
		"in a list":                                 {contracts.Condition{Path: "params.symbol", In: []any{"B", "A"}}, true},
		"in a list that is read":                    {contracts.Condition{Path: "params.symbol", In: []any{"${params.list}"}}, true},
		"in no list":                                {contracts.Condition{Path: "params.symbol", In: []any{}}, false},
		"what is absent is in nothing":              {contracts.Condition{Path: "params.x", In: []any{nil}}, false},
		"exists":                                    {contracts.Condition{Path: "params.n", Exists: new(true)}, true},
		"a null does not exist":                     {contracts.Condition{Path: "params.none", Exists: new(true)}, false},
		"absence can be asked for":                  {contracts.Condition{Path: "params.x", Exists: new(false)}, true},
		"at least, equal":                           {contracts.Condition{Path: "params.n", GTE: val(3)}, true},
		"at least, less":                            {contracts.Condition{Path: "params.n", GTE: val(3.5)}, false},
		"at most, large integers":                   {contracts.Condition{Path: "params.big", LTE: val(json.Number("9007199254740992"))}, false},
		"times by instant":                          {contracts.Condition{Path: "facts.at", LTE: val("2026-01-02T08:00:00Z")}, true},
		"other text by its bytes":                   {contracts.Condition{Path: "facts.text", GTE: val("a")}, true},
		"text and number are not ordered":           {contracts.Condition{Path: "facts.text", GTE: val(1)}, false},
		"what is absent is not ordered":             {contracts.Condition{Path: "params.x", LTE: val(1)}, false},
		"a right side that is absent is not passed": {contracts.Condition{Path: "params.n", GTE: val("${params.x}")}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := expr.Holds(tc.cond, scope())
			if err != nil || got != tc.want {
				t.Errorf("got %v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

// TestAColumn checks facts of a list, which are a column.
func TestAColumn(t *testing.T) {
	t.Parallel()
	after := expr.Scope{"steps": any(map[string]any{"n1": map[string]any{"facts": map[string]any{
		"price": expr.Column{12.5, 41.0}, "symbol": expr.Column{"AAPL", "MSFT"}, "plain": []any{12.5, 41.0}, "none": expr.Column{},
	}}})}
	anyOf := func(v any) *any { return &v }
	conditions := map[string]struct {
		c    contracts.Condition
		want bool
	}{
		"one is as high":              {contracts.Condition{Path: "steps.n1.facts.price", GTE: anyOf(40)}, true},
		"none is as high":             {contracts.Condition{Path: "steps.n1.facts.price", GTE: anyOf(42)}, false},
		"one is as low":               {contracts.Condition{Path: "steps.n1.facts.price", LTE: anyOf(13)}, true},
		"one equals":                  {contracts.Condition{Path: "steps.n1.facts.symbol", Equals: anyOf("MSFT")}, true},
		"none equals":                 {contracts.Condition{Path: "steps.n1.facts.symbol", Equals: anyOf("GOOG")}, false},
		"the whole equals":            {contracts.Condition{Path: "steps.n1.facts.symbol", Equals: anyOf([]any{"AAPL", "MSFT"})}, true},
		"one is in":                   {contracts.Condition{Path: "steps.n1.facts.symbol", In: []any{"GOOG", "MSFT"}}, true},
		"there are some":              {contracts.Condition{Path: "steps.n1.facts.symbol", Exists: new(true)}, true},
		"one of them by its place":    {contracts.Condition{Path: "steps.n1.facts.price[0]", GTE: anyOf(40)}, false},
		"a list is not ordered":       {contracts.Condition{Path: "steps.n1.facts.plain", GTE: anyOf(40)}, false},
		"an empty one has none":       {contracts.Condition{Path: "steps.n1.facts.none", GTE: anyOf(0)}, false},
		"an expression has the list":  {contracts.Condition{Expr: "${steps.n1.facts.price.exists(p, p >= 40)}"}, true},
		"an expression has its items": {contracts.Condition{Expr: "${steps.n1.facts.price[1] >= 40}"}, true},
	}
	for name, c := range conditions {
		got, reads, err := expr.Holds(c.c, after)
		if err != nil || got != c.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
		if len(reads) != 1 {
			t.Errorf("%s: reads %v", name, reads)
		}
	}
	got, reads, err := expr.Resolve(map[string]any{
		"text": "${steps.n1.facts.symbol} at ${steps.n1.facts.price} USD", "list": "${steps.n1.facts.price}", "plain": "are ${steps.n1.facts.plain}",
		"one": "${steps.n1.facts.symbol[1]} first",
	}, after)
	want := map[string]any{"text": "AAPL, MSFT at 12.5, 41 USD", "list": []any{12.5, 41.0}, "plain": "are [12.5,41]", "one": "MSFT first"}
	if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if diff := cmp.Diff([]any{12.5, 41.0}, reads[1].Value); diff != "" { // an approver sees plain JSON
		t.Errorf("%v\n%s", reads, diff)
	}
	if v, found, err := expr.Lookup(after, "steps.n1.facts.price"); err != nil || !found || !cmp.Equal(v, any([]any{12.5, 41.0})) {
		t.Errorf("%#v, %t, %v", v, found, err)
	}
}

func TestHoldsNotesWhatItRead(t *testing.T) {
	t.Parallel()
	var right any = "${params.x}"
	_, reads, err := expr.Holds(contracts.Condition{Path: "parameters.n", GTE: &right}, scope())
	want := []expr.Read{{Path: "params.n", Value: 3.0}, {Path: "params.x"}}
	if diff := cmp.Diff(want, reads); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestHoldsRefusesABrokenCondition(t *testing.T) {
	t.Parallel()
	one := any(1)
	for name, cond := range map[string]contracts.Condition{
		"no comparison":   {Path: "params.n"},
		"two comparisons": {Path: "params.n", GTE: &one, LTE: &one},
		"a broken path":   {Path: "params..n", GTE: &one},
		"an unknown root": {Path: "env.n", GTE: &one},
	} {
		if _, _, err := expr.Holds(cond, scope()); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	got, err := expr.Refs(map[string]any{"b": "${steps.n2.facts.x} and ${ parameters.a }", "a": []any{`\${item}`, "${steps.n2.facts.x}", 1}})
	if diff := cmp.Diff([]string{"params.a", "steps.n2.facts.x"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	var right any = `${steps["n3[0]"].summary}`
	got, err = expr.RefsOf(contracts.Condition{Path: "params.n", Equals: &right})
	if diff := cmp.Diff([]string{"params.n", `steps["n3[0]"].summary`}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := expr.Refs("${oops.x}"); contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("an unknown root is invalid, got %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	got := expr.Check(map[string]any{"a": "${params.x", "b/c": []any{"ok ${result.summary}", "${steps.n1.facts}"}, "d": "${nope.x}"}, "params", "result")
	want := []string{"/a", "/d", "/b~1c/1"}
	var at []string
	for _, f := range got {
		at = append(at, f.Pointer)
	}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("%s\n%v", diff, got)
	}
	if got := expr.Check(map[string]any{"a": "${params.x}"}, "params"); got != nil {
		t.Errorf("nothing is wrong, got %v", got)
	}
	bad := any("${item.x}")
	faults := expr.CheckCondition(contracts.Condition{Path: "facts", GTE: &bad, LTE: &bad}, "facts", "params")
	if len(faults) != 3 || faults[0].Pointer != "" || faults[1].Pointer != "/gte" || faults[2].Pointer != "/lte" {
		t.Errorf("got %v", faults)
	}
}

// FuzzResolve checks that Resolve fails only with known errors, and that escaped text is returned
// unchanged.
func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"${params.symbol}", `a ${params.list[0]} \${x}`, `${steps["n3[0]"].facts["a b"]}`, "${", "$${a}", `\\${params.n}`, "${params.n }}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := expr.Resolve(text, scope()); err != nil {
			if code := contracts.CodeOf(err); code != contracts.CodeInvalid && code != contracts.CodeNotFound {
				t.Fatalf("code %q: %v", code, err)
			}
		}
		back, reads, err := expr.Resolve(expr.Escape(text), scope())
		if err != nil || back != text || len(reads) > 0 {
			t.Fatalf("escaped %q came back as %q, %v", text, back, err)
		}
	})
}

// FuzzPath checks that a parsed path is formatted to text that parses to the same path.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"params.a[0]", `steps["n3[0]"].facts`, `a["\u0000<"].é`, "a.0.b-c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := contracts.ParsePath(text)
		if err != nil {
			return
		}
		again, err := contracts.ParsePath(path.String())
		if err != nil || !cmp.Equal(path, again) {
			t.Fatalf("%q became %q: %v", text, path, err)
		}
		if strings.Contains(path.String(), "\n") {
			t.Fatalf("%q holds a line break", path)
		}
	})
}

// TestACallTakesNothingThatTheOtherWasNotGiven checks that an optional parameter is passed on if it
// was given; other missing values are errors.
func TestACallTakesNothingThatTheOtherWasNotGiven(t *testing.T) {
	t.Parallel()
	scope := expr.Scope{"params": map[string]any{"id": "f1"}, "result": map[string]any{"facts": map[string]any{"hash": "h"}}}
	given := map[string]any{"id": "${params.id}", "instance": "${params.instance}", "base": "${result.facts.hash}", "text": "on ${params.id}"}
	got, reads, err := expr.ResolveCall(given, scope)
	want := map[string]any{"id": "f1", "base": "h", "text": "on f1"}
	if err != nil || !reflect.DeepEqual(got, want) || len(reads) != 2 {
		t.Errorf("%v %v %v, want %v", got, reads, err, want)
	}
	if _, _, err := expr.ResolveCall(map[string]any{"version": "${result.facts.version}"}, scope); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("a fact that is not there: %v", err)
	}
}
