package planner_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

// clinic and board are two domains for drafts.
const (
	clinic = `{
  "schema_version": "1", "domain": "clinic", "version": "1.0.0",
  "capabilities": [
    {"name": "show_beds", "description": "How many beds a ward has free.",
     "schema": {"type": "object", "properties": {
       "ward": {"type": "string", "pattern": "^w-[0-9]+$"}, "wards": {"type": "array", "items": {"type": "string"}}},
       "oneOf": [{"required": ["ward"]}, {"required": ["wards"]}]},
     "output_schema": {"type": "object", "properties": {
       "free": {"type": "number"}, "ward": {"type": "string"}, "patients": {"type": "array", "items": {"type": "object"}}}},
     "metadata": {"side_effect_class": "read",
       "parameter_specs": {"ward": {"aliases": {"surgery": "w-7"}}},
       "decomposition": {"array_params": [{"param_name": "wards", "single_param_name": "ward"}]},
       "flow": {"pre": [{"type": "ward", "param": "ward", "search_capability": "find_wards"}]}}},
    {"name": "find_wards", "schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
     "metadata": {"side_effect_class": "read", "routable": false}},
    {"name": "book_beds", "description": "Books beds of a ward.",
     "schema": {"type": "object", "properties": {
       "ward": {"type": "string", "pattern": "^w-[0-9]+$"}, "count": {"type": "integer", "minimum": 1}, "note": {"type": "string"}},
       "required": ["ward", "count"], "additionalProperties": false},
     "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "risk_level": "medium", "locks": ["ward:{ward}"],
       "parameter_specs": {"count": {"ask": "How many beds?"}},
       "flow": {"pre": [{"type": "ward", "param": "ward", "search_capability": "find_wards"}]}}}
  ]}`
	board = `{
  "schema_version": "1", "domain": "board", "version": "1.0.0",
  "capabilities": [
    {"name": "post", "description": "Posts a note.",
     "schema": {"type": "object", "properties": {"text": {"type": "string"}, "urgent": {"type": "boolean"}}, "required": ["text"]},
     "metadata": {"side_effect_class": "write_irreversible", "idempotency": "keyed", "risk_level": "low"}}
  ]}`
)

func draftCatalog(t *testing.T) *contracts.Catalog {
	t.Helper()
	var manifests []*contracts.Manifest
	for _, text := range []string{clinic, board} {
		m := new(contracts.Manifest)
		decode(t, text, m)
		manifests = append(manifests, m)
	}
	return newCatalog(t, contracts.SitePolicy{}, manifests...)
}

// drafted compiles a draft in the form that a model writes.
func drafted(t *testing.T, text string) (planner.Result, error) {
	t.Helper()
	var d contracts.Draft
	decode(t, text, &d)
	return planner.Compile(planner.Request{Goal: "a goal", Draft: &d, Catalog: draftCatalog(t), Owner: contracts.Principal{ID: "ana"}})
}

func TestDraftsBecomePlans(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ draft, want string }{
		"a condition over an earlier step gates a write": {
			`{"steps": [
			  {"id": "b", "tool": "clinic-show_beds", "params": {"ward": "w-7"}},
			  {"id": "w", "tool": "clinic.book_beds", "params": {"ward": "w-7", "count": 2}, "when": "${b.facts.free} > 10"}]}`,
			`n1 clinic.show_beds {"ward":"w-7"}
n2 clinic.book_beds needs n1 {"count":2,"ward":"w-7"} when ${steps.n1.facts.free > 10} gate
`,
		},
		"a name is looked up like that of an intent, and an alias is read": {
			`{"steps": [
			  {"id": "b", "tool": "clinic.show_beds", "params": {"ward": "surgery"}},
			  {"id": "w", "tool": "clinic.book_beds", "params": {"ward": "the east wing", "count": 1}, "depends_on": ["b"], "when": "b.facts.free >= 1 and not (b.facts.ward = 'w-9')"}]}`,
			`n1 clinic.show_beds {"ward":"w-7"}
n2 clinic.find_wards pre_search needs n1 {"query":"the east wing"} when ${steps.n1.facts.free >= 1 && ! (steps.n1.facts.ward == 'w-9')}
n3 human pre_choose needs n2 when ${steps.n1.facts.free >= 1 && ! (steps.n1.facts.ward == 'w-9')}
n4 clinic.book_beds needs n3 {"count":1,"ward":"${steps.n3.facts.value}"} when ${steps.n1.facts.free >= 1 && ! (steps.n1.facts.ward == 'w-9')} gate
`,
		},
		"values flow from step to step, whole and inside of text, in either form": {
			`{"steps": [
			  {"id": "b", "tool": "clinic.show_beds", "params": {"ward": "w-7"}},
			  {"id": "w", "tool": "clinic.book_beds", "params": {"ward": "${steps.b.facts.ward}", "count": "${b.facts.free}"}},
			  {"id": "p", "tool": "board.post", "params": {"text": "Booked: ${w.summary} (${ b.facts.free } were free)"}}]}`,
			`n1 clinic.show_beds {"ward":"w-7"}
n2 clinic.book_beds needs n1 {"count":"${steps.n1.facts.free}","ward":"${steps.n1.facts.ward}"} gate
n3 board.post needs n1,n2 {"text":"Booked: ${steps.n2.summary} (${steps.n1.facts.free} were free)"} gate
`,
		},
		"a step is repeated over facts": {
			`{"steps": [
			  {"id": "b", "tool": "clinic.show_beds", "params": {"ward": "w-7"}},
			  {"id": "p", "tool": "board.post", "params": {"text": "Room ${item.room}"}, "for_each": "${b.facts.patients}", "say": "tell each room"}]}`,
			`n1 clinic.show_beds {"ward":"w-7"}
n2 board.post needs n1 {"text":"Room ${item.room}"} for each ${steps.n1.facts.patients} gate say "tell each room"
`,
		},
		"a list is several calls, and what follows reads them together": {
			`{"steps": [
			  {"id": "b", "tool": "clinic.show_beds", "params": {"wards": ["w-1", "w-2"]}},
			  {"id": "p", "tool": "board.post", "params": {"text": "${b.facts.free}"}, "when": "${b.facts.items.exists(i, i.facts.free > 3)}"}]}`,
			`n1 clinic.show_beds {"ward":"w-1"}
n2 clinic.show_beds {"ward":"w-2"}
n3 join needs n1,n2
n4 board.post needs n3 {"text":"${steps.n3.facts.free}"} when ${steps.n3.facts.items.exists(i, i.facts.free > 3)} gate
`,
		},
		"expressions that are not of a step are text": {
			`{"steps": [{"id": "p", "tool": "board.post", "params": {"text": "${context.principal.id} ${HOME} \\${b.facts.x} ${1 + 1} ${params.text} ${"}}]}`,
			"n1 board.post {\"text\":\"\\\\${context.principal.id} \\\\${HOME} \\\\${b.facts.x} \\\\${1 + 1} \\\\${params.text} \\\\${\"} gate\n",
		},
		"more is asked for when all has ended": {
			`{"steps": [{"id": "b", "tool": "clinic.show_beds", "params": {"ward": "w-7"}}], "more": true}`,
			`n1 clinic.show_beds {"ward":"w-7"}
n2 round behind n1
`,
		},
		"a read of what an earlier write changes comes after it": {
			`{"steps": [
			  {"id": "w", "tool": "clinic.book_beds", "params": {"ward": "w-7", "count": 1}},
			  {"id": "b", "tool": "clinic.show_beds", "params": {"ward": "w-7"}}]}`,
			`n1 clinic.book_beds {"count":1,"ward":"w-7"} gate
n2 clinic.show_beds behind n1 {"ward":"w-7"}
`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := drafted(t, c.draft)
			if err != nil || len(got.Questions) > 0 {
				t.Fatalf("%v %v", got.Questions, render(got, err))
			}
			if diff := cmp.Diff(c.want, brief(got.Plan)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again, err := drafted(t, c.draft); err != nil || again.Plan.PlanHash != got.Plan.PlanHash {
				t.Errorf("the same draft has another hash: %v", err)
			}
		})
	}
}

// brief formats the nodes of a plan for review.
func brief(p contracts.Plan) string {
	var out strings.Builder
	for _, n := range p.Nodes {
		parts := []string{n.NodeID, n.Tool}
		if n.Tool == "" {
			parts[1] = string(n.Kind)
		}
		add := func(words string, given bool) {
			if given {
				parts = append(parts, words)
			}
		}
		add(n.Role, n.Role != "" && n.Role != contracts.RoleJoin)
		add("needs "+strings.Join(n.DependsOn, ","), len(n.DependsOn) > 0)
		add("behind "+strings.Join(n.RunAfter, ","), len(n.RunAfter) > 0)
		add(canonical(n.Params), n.Params != nil)
		add("for each "+canonicalItems(n), n.ForEach != nil)
		if n.When != nil {
			add("when "+n.When.Expr, true)
		}
		add("gate", n.Policy != nil && n.Policy.ApprovalRequired)
		add(`say "`+n.Rationale+`"`, n.Rationale != "")
		out.WriteString(strings.Join(parts, " ") + "\n")
	}
	return out.String()
}

func canonicalItems(n contracts.Node) string {
	if n.ForEach == nil {
		return ""
	}
	return n.ForEach.Items
}

func TestFaultsOfDraftsHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	const beds = `{"id": "b", "tool": "clinic.show_beds", "params": {"ward": "w-7"}}`
	cases := map[string]struct{ draft, pointer, words string }{
		"no steps":                         {`{"steps": []}`, "/steps", "at least one"},
		"a tool that is not there":         {`{"steps": [{"id": "b", "tool": "clinic.show_bed"}]}`, "/steps/0/tool", `did you mean "clinic.show_beds"`},
		"a step that is not there":         {`{"steps": [` + beds + `, {"id": "p", "tool": "board.post", "params": {"text": "${c.facts.free}"}}]}`, "/steps/1/params/text", `no step "c"`},
		"an unknown dependency":            {`{"steps": [{"id": "p", "tool": "board.post", "params": {"text": "x"}, "depends_on": ["z"]}]}`, "/steps/0/depends_on/0", `no step "z"`},
		"a circle of dependencies":         {`{"steps": [{"id": "a", "tool": "board.post", "params": {"text": "${b.summary}"}}, {"id": "b", "tool": "board.post", "params": {"text": "${a.summary}"}}]}`, "/steps/0/depends_on", "wait for each other"},
		"a step that reads itself":         {`{"steps": [{"id": "a", "tool": "board.post", "params": {"text": "${a.summary}"}}]}`, "/steps/0/params/text", "cannot read itself"},
		"what is no ancestor":              {`{"steps": [` + beds + `, {"id": "c", "tool": "clinic.show_beds", "params": {"ward": "w-8"}}, {"id": "p", "tool": "board.post", "params": {"text": "${b.summary}"}, "depends_on": ["c"]}]}`, "/steps/2/params/text", "no ancestor"},
		"a fact that is not declared":      {`{"steps": [` + beds + `, {"id": "p", "tool": "board.post", "params": {"text": "${b.facts.beds}"}}]}`, "/steps/1/params/text", `no fact "beds"`},
		"a fact of another type":           {`{"steps": [` + beds + `, {"id": "w", "tool": "clinic.book_beds", "params": {"ward": "w-7", "count": "${b.facts.ward}"}}]}`, "/steps/1/params/count", "integer is needed"},
		"a list that is none":              {`{"steps": [` + beds + `, {"id": "p", "tool": "board.post", "params": {"text": "x"}, "for_each": "${b.facts.free}"}]}`, "/steps/1/for_each", "array is needed"},
		"a literal of another type":        {`{"steps": [{"id": "w", "tool": "clinic.book_beds", "params": {"ward": "w-7", "count": "many"}}]}`, "/steps/0/params/count", "expected integer"},
		"a parameter that is not there":    {`{"steps": [{"id": "w", "tool": "clinic.book_beds", "params": {"ward": "w-7", "count": 1, "color": "red"}}]}`, "/steps/0/params/color", "no parameter"},
		"a condition that is no term":      {`{"steps": [` + beds + `, {"id": "p", "tool": "board.post", "params": {"text": "x"}, "when": "${b.facts.free} >"}]}`, "/steps/1/when", ""},
		"a condition over who asks":        {`{"steps": [{"id": "p", "tool": "board.post", "params": {"text": "x"}, "when": "${context.principal.id == 'ana'}"}]}`, "/steps/0/when", "cannot be read in a draft"},
		"item without a list":              {`{"steps": [{"id": "p", "tool": "board.post", "params": {"text": "${item.x}"}}]}`, "/steps/0/params/text", "for_each"},
		"arithmetic in a parameter":        {`{"steps": [` + beds + `, {"id": "p", "tool": "board.post", "params": {"text": "${b.facts.free * 2}"}}]}`, "/steps/1/params/text", "plain reference"},
		"a step alone":                     {`{"steps": [` + beds + `, {"id": "p", "tool": "board.post", "params": {"text": "${b}"}}]}`, "/steps/1/params/text", "what of the step"},
		"two steps of one name":            {`{"steps": [` + beds + `, ` + beds + `]}`, "/steps/1/id", "twice"},
		"a name that means something else": {`{"steps": [{"id": "item", "tool": "board.post", "params": {"text": "x"}}]}`, "/steps/0/id", "another name"},
		"too many steps":                   {`{"steps": [` + strings.TrimSuffix(strings.Repeat(`{"id": "", "tool": "board.post", "params": {"text": "x"}},`, 41), ",") + `]}`, "/steps", "at most 40"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := drafted(t, c.draft)
			e, ok := errors.AsType[*contracts.Error](err)
			if !ok || e.Code != contracts.CodeInvalid {
				t.Fatalf("the draft is taken, or refused otherwise: %v", err)
			}
			if !slices.ContainsFunc(e.Faults, func(f contracts.Fault) bool { return f.Pointer == c.pointer && strings.Contains(f.Message, c.words) }) {
				t.Errorf("no fault at %s with %q among %v", c.pointer, c.words, e.Faults)
			}
		})
	}
}

func TestWhatADraftLacksIsAsked(t *testing.T) {
	t.Parallel()
	d := contracts.Draft{Steps: []contracts.DraftStep{{ID: "w", Tool: "clinic.book_beds", Params: map[string]any{"ward": "w-7"}}}}
	req := planner.Request{Draft: &d, Catalog: draftCatalog(t), Owner: contracts.Principal{ID: "ana"}}
	got, err := planner.Compile(req)
	if err != nil || len(got.Questions) != 1 || got.Questions[0].IntentID != "w" || got.Questions[0].Param != "count" || got.Questions[0].Prompt != "How many beds?" {
		t.Fatalf("%+v %v", got.Questions, err)
	}
	answered, ok := d.WithParam("w", "count", 3)
	if !ok {
		t.Fatal("the draft has no step w")
	}
	answered, _ = answered.WithParam("w", "note", "${w.summary} ${HOME}")
	req.Draft = &answered
	if got, err = planner.Compile(req); err != nil || len(got.Questions) > 0 {
		t.Fatalf("%v %v", got.Questions, err)
	}
	want := map[string]any{"ward": "w-7", "count": 3.0, "note": `\${w.summary} \${HOME}`}
	if diff := cmp.Diff(want, got.Plan.Nodes[0].Params); diff != "" {
		t.Errorf("an answer is data (-want +got):\n%s", diff)
	}
	if _, asked := d.Steps[0].Params["count"]; asked {
		t.Error("the draft before was changed")
	}
}

func TestADraftIsAddedToARun(t *testing.T) {
	t.Parallel()
	first, err := drafted(t, `{"steps": [{"id": "b", "tool": "clinic.show_beds", "params": {"wards": ["w-1", "w-2"]}}], "more": true}`)
	if err != nil {
		t.Fatal(err)
	}
	var d contracts.Draft
	decode(t, `{"steps": [
	  {"id": "p", "tool": "board.post", "params": {"text": "${b.facts.free}; first ${n1.facts.free}"}},
	  {"id": "q", "tool": "board.post", "params": {"text": "${p.summary}"}}]}`, &d)
	got, err := planner.Compile(planner.Request{
		Goal: "a goal", Draft: &d, Catalog: draftCatalog(t), Owner: contracts.Principal{ID: "ana"}, Running: &planner.Running{Nodes: first.Plan.Nodes},
	})
	if err != nil {
		t.Fatal(render(got, err))
	}
	want := `n5 board.post needs n3,n1 {"text":"${steps.n3.facts.free}; first ${steps.n1.facts.free}"} gate
n6 board.post needs n5 {"text":"${steps.n5.summary}"} gate
`
	if diff := cmp.Diff(want, brief(got.Plan)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
