package contracts_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

const exampleManifest = "testdata/manifest.finance.json"

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// edit sets JSON at a pointer of the example manifest; "-" removes it.
type edit struct{ pointer, value string }

// The indexes of the capabilities in the example.
const (
	price    = "/capabilities/0"
	search   = "/capabilities/1"
	setAlert = "/capabilities/2"
	find     = "/capabilities/3"
	remove   = "/capabilities/4"
)

func edited(t *testing.T, edits ...edit) []byte {
	t.Helper()
	var doc any
	if err := json.Unmarshal(readFile(t, exampleManifest), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		tokens := strings.Split(e.pointer[1:], "/")
		at := doc
		for _, token := range tokens[:len(tokens)-1] {
			at = step(at, token)
		}
		put(t, at, tokens[len(tokens)-1], e.value)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func step(at any, token string) any {
	if list, ok := at.([]any); ok {
		i, _ := strconv.Atoi(token)
		return list[i]
	}
	return at.(map[string]any)[token]
}

func put(t *testing.T, at any, token, value string) {
	t.Helper()
	if value == "-" {
		delete(at.(map[string]any), token)
		return
	}
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	if list, ok := at.([]any); ok {
		i, _ := strconv.Atoi(token)
		list[i] = v
		return
	}
	at.(map[string]any)[token] = v
}

func TestParseManifestTakesTheExample(t *testing.T) {
	t.Parallel()
	m, err := contracts.ParseManifest(readFile(t, exampleManifest))
	if err != nil {
		t.Fatal(err)
	}
	c, ok := m.Capability("finance.set_price_alert")
	if !ok || c.Metadata.Verify.Assertions[1].Path != "facts.above" || *c.Metadata.Verify.Assertions[1].Equals != "${params.above}" {
		t.Errorf("got %+v", c)
	}
	if _, ok := m.Capability("logistics.set_price_alert"); ok {
		t.Error("a capability of another domain is not in this manifest")
	}
}

// smallWorkflow uses every short form once.
const smallWorkflow = `[{
	"name": "look_twice", "description": "Look, then look again.",
	"schema": {"type": "object", "properties": {"symbol": {"type": "string"}}},
	"metadata": {"intent_hints": {"examples": ["look twice at it"]}, "examples": [{"parameters": {"symbol": "A"}}]},
	"budgets": {"tokens": 1000, "looks": {"limit": "${int(params.n) + 1}", "per": "first"}},
	"steps": [
		{"id": "first", "kind": "tool", "tool": "get_price", "params": {"symbol": "${params.symbol}"}, "spend": {"looks": "${1}"}},
		{"id": "ask", "kind": "human", "depends_on": ["first"], "when": "${steps.first.ok}",
		 "human": {"interrupt": "result_review", "prompt": "Good?", "allow": ["accept", {"answer": "iterate", "when": {"path": "steps.first.ok", "equals": true}}], "unattended": "fail"},
		 "on": [{"answer": "iterate", "goto": "first", "max": 3, "with": {"feedback": "${steps.ask.facts.feedback}"}}]},
		{"id": "think", "kind": "reason", "depends_on": ["ask"], "reason": {"skill": "s", "output_schema": {"type": "object"}, "fallback": "get_price"}},
		{"id": "check", "kind": "verify", "depends_on": ["think"], "verify": {"assertions": ["${steps.first.ok}", {"path": "steps.first.summary", "exists": true}]}}
	],
	"result": {"summary": "${steps.first.summary}"}
}]`

func TestWorkflowsKeepWhatWasWritten(t *testing.T) {
	t.Parallel()
	m, err := contracts.ParseManifest(edited(t, edit{"/workflows", smallWorkflow}))
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := contracts.Decode([]byte(smallWorkflow), &want); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(m.Workflows)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := contracts.Decode(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseManifestListsAllFaultsOfWorkflows(t *testing.T) {
	t.Parallel()
	_, err := contracts.ParseManifest(edited(t, edit{"/workflows", `[{
		"name": "get_price", "schema": {"type": "object"}, "metadata": {"risk_level": "low"},
		"budgets": {"Ops": 1, "x": {"limt": 3}},
		"steps": [{"id": "a-b", "kind": "tool", "depend_on": []}, {"id": "b", "kind": "guess", "on": [{"goto": "b", "max": 11}]}]
	}]`}))
	e, _ := errors.AsType[*contracts.Error](err)
	if e == nil {
		t.Fatalf("got %v", err)
	}
	var places []string
	for _, f := range e.Faults {
		places = append(places, f.Pointer)
	}
	for _, want := range []string{
		"/workflows/0/metadata/risk_level", "/workflows/0/budgets/x/limt", "/workflows/0/steps/0/depend_on", "/workflows/0/steps/0/id",
		"/workflows/0/steps/1/kind", "/workflows/0/steps/1/on/0/max",
	} {
		if !slices.Contains(places, want) {
			t.Errorf("no fault at %s in %v", want, e.Faults)
		}
	}
}

func TestParseManifestTakesWhatIsUnusual(t *testing.T) {
	t.Parallel()
	cases := map[string][]edit{
		"no capabilities":                                  {{"/capabilities", "[]"}, {"/tests", "[]"}},
		"no metadata: every default fails closed":          {{find + "/metadata", "-"}, {setAlert + "/metadata/verify", "-"}, {setAlert + "/metadata/reconcile", "-"}, {remove + "/metadata/verify", "-"}},
		"the author's own keys":                            {{"/x-team", `{"a":1}`}, {price + "/metadata/x-note", `1`}},
		"references to other domains":                      {{setAlert + "/metadata/compensation/capability", `"other.undo_it"`}, {price + "/metadata/flow/pre/0/search_capability", `"other.search"`}},
		"references with the own prefix":                   {{setAlert + "/metadata/compensation/capability", `"finance.delete_price_alert"`}},
		"a write that undoes itself, with what was before": {{setAlert + "/metadata/compensation", `{"capability":"set_price_alert","param_map":{"symbol":"${params.symbol}","above":"${result.facts.before}"}}`}},
		"a copy of what the schema says":                   {{price + "/metadata/parameter_specs/currency", `{"type":"string","enum":["USD","EUR","BRL"],"default":"USD","required":false}`}},
		"an alias for the items of a list":                 {{price + "/metadata/parameter_specs/symbols", `{"aliases":{"apple":"AAPL","both":["A","B"]}}`}},
		"a role with its own names":                        {{price + "/metadata/plays", `["quoter",{"role":"notifier","param_map":{"symbol":"${params.message}"}}]`}},
		"an approval that cannot be lowered":               {{setAlert + "/metadata/approval_required", "false"}},
		"a look-up by another parameter":                   {{price + "/metadata/flow/pre/0/param_map", `{"query":"${params.currency}"}`}, {price + "/metadata/flow/pre/0/search_param", `""`}},
		"no workflows":                                     {{"/workflows", "[]"}},
		"a workflow":                                       {{"/workflows", smallWorkflow}},
		"a pack":                                           {{"/capabilities", "-"}, {"/tests", "-"}, {"/workflows", smallWorkflow}},
		"parameters as a synonym":                          {{remove + "/metadata/verify/param_map/alert_id", `"${parameters.alert_id}"`}},
		"one default instance":                             {{"/instances", `[{"id":"dev"},{"id":"prod","default":true}]`}},
	}
	for name, edits := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := contracts.ParseManifest(edited(t, edits...)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseManifestRefusesWithThePlace(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edits   []edit
		pointer string
		message string
	}{
		"an unknown key":                      {[]edit{{price + "/metadata/side_efect_class", `"read"`}}, price + "/metadata/side_efect_class", "the key is unknown"},
		"an unknown key of ours":              {[]edit{{"/x-manifold-a", `1`}}, "/x-manifold-a", "the key is unknown"},
		"a missing field":                     {[]edit{{"/version", "-"}}, "", "missing properties: 'version'"},
		"a null list":                         {[]edit{{"/capabilities", "null"}}, "/capabilities", "expected array, but got null"},
		"a word that is not of the set":       {[]edit{{price + "/metadata/risk_level", `"tiny"`}}, price + "/metadata/risk_level", "value must be one of"},
		"a bad domain name":                   {[]edit{{"/domain", `"Finance"`}}, "/domain", "does not match pattern"},
		"a reserved domain name":              {[]edit{{"/domain", `"shared"`}}, "/domain", "reserved"},
		"a capability name with a dot":        {[]edit{{search + "/name", `"a.b"`}}, search + "/name", "does not match pattern"},
		"a duplicate capability":              {[]edit{{find + "/name", `"search_symbol"`}}, find + "/name", "stands here twice"},
		"a duplicate instance":                {[]edit{{"/instances", `[{"id":"a"},{"id":"a"}]`}}, "/instances/1/id", "stands here twice"},
		"two default instances":               {[]edit{{"/instances", `[{"id":"a","default":true},{"id":"b","default":true}]`}}, "/instances/1/default", "already"},
		"a schema that does not compile":      {[]edit{{price + "/schema/properties/symbol/pattern", `"("`}}, price + "/schema/properties/symbol/pattern", "RE2"},
		"a schema that reads a file":          {[]edit{{price + "/schema/properties/symbol", `{"$ref":"file:///etc/passwd"}`}}, price + "/schema/properties/symbol/$ref", "inside the schema"},
		"a schema of another type":            {[]edit{{search + "/schema/type", `"array"`}}, search + "/schema/type", `must be "object"`},
		"an output schema without a type":     {[]edit{{remove + "/output_schema", `{}`}}, remove + "/output_schema/type", `must be "object"`},
		"a time beyond the limit":             {[]edit{{price + "/metadata/timeout_ms", "600001"}}, price + "/metadata/timeout_ms", "must be <= 600000"},
		"all attempts shorter than one":       {[]edit{{price + "/metadata/node_timeout_ms", "3999"}}, price + "/metadata/node_timeout_ms", "must not be less"},
		"a write without a word on repeating": {[]edit{{remove + "/metadata/idempotency", `"not_applicable"`}}, remove + "/metadata/idempotency", "a write must say"},
		"a write of risk read":                {[]edit{{remove + "/metadata/risk_level", `"read"`}}, remove + "/metadata/risk_level", "at least risk low"},
		"a compensation that does not exist":  {[]edit{{setAlert + "/metadata/compensation/capability", `"undo"`}}, setAlert + "/metadata/compensation/capability", "there is no capability"},
		"a compensation that reads":           {[]edit{{setAlert + "/metadata/compensation/capability", `"find_alert"`}}, setAlert + "/metadata/compensation/capability", "must be a capability that writes"},
		"a read-back that writes":             {[]edit{{setAlert + "/metadata/verify/capability", `"delete_price_alert"`}}, setAlert + "/metadata/verify/capability", "side_effect_class read"},
		"a reconcile that writes":             {[]edit{{setAlert + "/metadata/reconcile", `{"capability":"delete_price_alert","param_map":{"alert_id":"x"}}`}}, setAlert + "/metadata/reconcile/capability", "side_effect_class read"},
		"a reconcile that reads the result":   {[]edit{{setAlert + "/metadata/reconcile/param_map/key", `"${result.facts.key}"`}}, setAlert + "/metadata/reconcile/param_map/key", "cannot be read here"},
		"a call without a required parameter": {[]edit{{setAlert + "/metadata/compensation/param_map", `{}`}}, setAlert + "/metadata/compensation/param_map", "requires alert_id"},
		"a call with an unknown parameter":    {[]edit{{setAlert + "/metadata/compensation/param_map/id", `1`}}, setAlert + "/metadata/compensation/param_map/id", "has no parameter"},
		"an expression that is broken":        {[]edit{{setAlert + "/metadata/compensation/param_map/alert_id", `"${result.facts"`}}, setAlert + "/metadata/compensation/param_map/alert_id", "is not closed"},
		"an expression over other steps":      {[]edit{{setAlert + "/metadata/compensation/param_map/alert_id", `"${steps.n1.facts}"`}}, setAlert + "/metadata/compensation/param_map/alert_id", "cannot be read here"},
		"an expression over raw data":         {[]edit{{price + "/metadata/composition/param_map/message", `"${result.data}"`}}, price + "/metadata/composition/param_map/message", "cannot be read here"},
		"an expression over no parameter":     {[]edit{{setAlert + "/metadata/verify/assertions/0/equals", `"${params.ticker}"`}}, setAlert + "/metadata/verify/assertions/0/equals", "has no parameter"},
		"a condition without a comparison":    {[]edit{{setAlert + "/metadata/verify/assertions/0", `{"path":"facts.a","equals":null}`}}, setAlert + "/metadata/verify/assertions/0", "exactly one"},
		"a condition with two comparisons":    {[]edit{{price + "/metadata/composition/enabled_if", `{"path":"params.notify","equals":true,"exists":true}`}}, price + "/metadata/composition/enabled_if", "exactly one"},
		"a verify without assertions":         {[]edit{{setAlert + "/metadata/verify/assertions", `[]`}}, setAlert + "/metadata/verify/assertions", "minimum 1 items"},
		"a lock on no parameter":              {[]edit{{setAlert + "/metadata/locks", `["alerts:{ticker}"]`}}, setAlert + "/metadata/locks/0", "has no parameter"},
		"a lock with half a place":            {[]edit{{setAlert + "/metadata/locks", `["alerts:{symbol"]`}}, setAlert + "/metadata/locks/0", "braces"},
		"hints for no parameter":              {[]edit{{remove + "/metadata/parameter_specs/key", `{}`}}, remove + "/metadata/parameter_specs/key", "has no parameter"},
		"a hint of another type":              {[]edit{{remove + "/metadata/parameter_specs/alert_id", `{"type":"integer"}`}}, remove + "/metadata/parameter_specs/alert_id/type", "contradicts"},
		"a hint of another enum":              {[]edit{{price + "/metadata/parameter_specs/currency", `{"enum":["USD"]}`}}, price + "/metadata/parameter_specs/currency/enum", "contradicts"},
		"a hint of another default":           {[]edit{{price + "/metadata/parameter_specs/currency", `{"default":"EUR"}`}}, price + "/metadata/parameter_specs/currency/default", "contradicts"},
		"a default that does not fit":         {[]edit{{setAlert + "/metadata/parameter_specs/above", `{"default":-1}`}}, setAlert + "/metadata/parameter_specs/above/default", "must be > 0"},
		"a hint that requires what is free":   {[]edit{{price + "/metadata/parameter_specs/currency", `{"required":true}`}}, price + "/metadata/parameter_specs/currency/required", "contradicts"},
		"an alias for no valid value":         {[]edit{{price + "/metadata/parameter_specs/currency", `{"aliases":{"a/b":"GBP"}}`}}, price + "/metadata/parameter_specs/currency/aliases/a~1b", "value must be one of"},
		"a decomposition of no list":          {[]edit{{price + "/metadata/decomposition/array_params/0", `{"param_name":"currency","single_param_name":"symbol"}`}}, price + "/metadata/decomposition/array_params/0/param_name", "type array"},
		"a decomposition into nothing":        {[]edit{{price + "/metadata/decomposition/array_params/0/single_param_name", `"ticker"`}}, price + "/metadata/decomposition/array_params/0/single_param_name", "has no parameter"},
		"a notifier without a message":        {[]edit{{price + "/metadata/composition/param_map", `{}`}}, price + "/metadata/composition/param_map", "needs message"},
		"a notifier with a word too many":     {[]edit{{price + "/metadata/composition/param_map/body", `"x"`}}, price + "/metadata/composition/param_map/body", "takes message, title and channel"},
		"a notifier that takes no message":    {[]edit{{price + "/metadata/plays", `["notifier"]`}}, price + "/metadata/plays/0", "takes message"},
		"a role that is played twice":         {[]edit{{price + "/metadata/plays", `["a","a"]`}}, price + "/metadata/plays/1", "stands here twice"},
		"a search for no parameter":           {[]edit{{price + "/metadata/flow/pre/0/param", `"ticker"`}}, price + "/metadata/flow/pre/0/param", "has no parameter"},
		"a search that writes":                {[]edit{{price + "/metadata/flow/pre/0/search_capability", `"delete_price_alert"`}}, price + "/metadata/flow/pre/0/search_capability", "must be another capability"},
		"a search by an unknown parameter":    {[]edit{{price + "/metadata/flow/pre/0/search_param", `"q"`}}, price + "/metadata/flow/pre/0/search_param/q", "has no parameter"},
		"a look-up by an unknown parameter":   {[]edit{{price + "/metadata/flow/pre/0/param_map", `{"q":"${params.currency}"}`}}, price + "/metadata/flow/pre/0/param_map/q", "has no parameter"},
		"a look-up without what it requires":  {[]edit{{price + "/metadata/flow/pre/0/param_map", `{"q":"x"}`}, {price + "/metadata/flow/pre/0/search_param", `""`}}, price + "/metadata/flow/pre/0/param_map", "requires query"},
		"a look-up that reads a result":       {[]edit{{price + "/metadata/flow/pre/0/param_map", `{"query":"${result.facts.name}"}`}, {price + "/metadata/flow/pre/0/search_param", `""`}}, price + "/metadata/flow/pre/0/param_map/query", "cannot be read"},
		"a search result outside the facts":   {[]edit{{price + "/metadata/flow/pre/0/result_path", `"data.matches"`}}, price + "/metadata/flow/pre/0/result_path", "must begin with facts"},
		"a step after that writes":            {[]edit{{price + "/metadata/flow/post", `[{"type":"t","capability":"delete_price_alert","param_map":{"alert_id":"x"}}]`}}, price + "/metadata/flow/post/0/capability", "read or suggest"},
		"a column with a broken path":         {[]edit{{price + "/metadata/present/columns/0/path", `"a..b"`}}, price + "/metadata/present/columns/0/path", "no name after a dot"},
		"an example that does not fit":        {[]edit{{search + "/metadata/examples/0/parameters", `{"query":""}`}}, search + "/metadata/examples/0/parameters/query", "length must be"},
		"a test of another domain":            {[]edit{{"/tests/0/expect/capability", `"other.get"`}}, "/tests/0/expect/capability", "its own domain"},
		"a test of no capability":             {[]edit{{"/tests/0/expect/capability", `"get"`}}, "/tests/0/expect/capability", "there is no capability"},
		"a test of a helper":                  {[]edit{{"/tests/0/expect/capability", `"find_alert"`}}, "/tests/0/expect/capability", "is not routable"},
		"a test with a value that cannot be":  {[]edit{{"/tests/1/expect/parameters/above", `-1`}}, "/tests/1/expect/parameters/above", "must be > 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contracts.ParseManifest(edited(t, tc.edits...))
			if contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Fatalf("code %q, want invalid: %v", contracts.CodeOf(err), err)
			}
			for _, f := range faultsOf(t, err) {
				if f.Pointer == tc.pointer && strings.Contains(f.Message, tc.message) {
					return
				}
			}
			t.Errorf("no fault %q at %q in %v", tc.message, tc.pointer, faultsOf(t, err))
		})
	}
}

func TestParseManifestListsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := contracts.ParseManifest(edited(t,
		edit{"/colour", `1`}, edit{"/domain", `"X"`}, edit{price + "/metadata/timeout_ms", `"fast"`}, edit{find + "/name", "-"}))
	var at []string
	for _, f := range faultsOf(t, err) {
		at = append(at, f.Pointer)
	}
	want := []string{price + "/metadata/timeout_ms", "/colour", find, "/domain"}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseManifestRefusesWhatIsOutsideItsLimits(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"say":"x","expect":null},`, n), ",") + "]"
	}
	cases := map[string]struct {
		in   []byte
		code contracts.Code
	}{
		"nothing":                   {nil, contracts.CodeInvalid},
		"null":                      {[]byte("null"), contracts.CodeInvalid},
		"a list":                    {[]byte("[]"), contracts.CodeInvalid},
		"too large a file":          {bytes.Repeat([]byte(" "), contracts.MaxManifestBytes+1), contracts.CodeTooLarge},
		"too many tests":            {edited(t, edit{"/tests", many(contracts.MaxManifestTests + 1)}), contracts.CodeInvalid},
		"a later version":           {edited(t, edit{"/schema_version", `"2"`}, edit{"/news", "1"}), contracts.CodeUnsupported},
		"a version that is no text": {edited(t, edit{"/schema_version", `1`}), contracts.CodeInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := contracts.ParseManifest(tc.in); contracts.CodeOf(err) != tc.code {
				t.Errorf("code %q, want %q: %v", contracts.CodeOf(err), tc.code, err)
			}
		})
	}
}

// FuzzParseManifest checks that any input is either rejected or gives a manifest that survives a
// round trip through JSON.
func FuzzParseManifest(f *testing.F) {
	f.Add(readFile(f, exampleManifest))
	f.Add([]byte(`{"schema_version":"1","domain":"ab","version":"1","capabilities":[{"name":"c","schema":{"type":"object"}}]}`))
	f.Add([]byte(`{"schema_version":"1","domain":"ab","version":"1","capabilities":[{"name":"c","schema":{"type":"object","$ref":"#"},"metadata":{"plays":["x",{"role":"y"}],"locks":["{"]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := contracts.ParseManifest(data)
		if err != nil {
			if contracts.CodeOf(err) == contracts.CodeInternal {
				t.Fatalf("a refusal has a code of its own: %v", err)
			}
			return
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := contracts.ParseManifest(written)
		if err != nil {
			t.Fatalf("%s is refused: %v", written, err)
		}
		first, _ := contracts.Hash(m)
		second, _ := contracts.Hash(again)
		if first != second {
			t.Fatalf("%s changed", written)
		}
	})
}

func TestEveryCapabilityOfTheExampleHasAPolicy(t *testing.T) {
	t.Parallel()
	m, err := contracts.ParseManifest(readFile(t, exampleManifest))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, c := range m.Capabilities {
		got[c.Name] = c.Metadata.Policy(true).ApprovalRequired
	}
	want := map[string]bool{"get_stock_price": false, "search_symbol": false, "set_price_alert": true, "find_alert": false, "delete_price_alert": true}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestAllFaultsOfAManifestComeAtOnce(t *testing.T) {
	t.Parallel()
	_, err := contracts.ParseManifest([]byte(`{"schema_version":"1","domain":"shop","colour":"red","capabilities":[
		{"name":"buy","description":"Buys.","schema":{"type":"object","properties":{"item":{"type":"string"}}},"metadata":{
			"side_effect_class":"write_sometimes",
			"verify":{"capability":"nowhere","param_map":{}},
			"parameter_specs":{"itm":{"ask":"Which?"}}}}]}`))
	fault, ok := errors.AsType[*contracts.Error](err)
	if !ok {
		t.Fatalf("%v", err)
	}
	var at []string
	for _, f := range fault.Faults {
		at = append(at, f.Pointer)
	}
	slices.Sort(at)
	want := []string{
		"", "/capabilities/0/metadata/parameter_specs/itm", "/capabilities/0/metadata/side_effect_class",
		"/capabilities/0/metadata/verify", "/capabilities/0/metadata/verify/capability", "/colour",
	}
	if !slices.Equal(at, want) {
		t.Errorf("told of %q, want %q", at, want)
	}
}
