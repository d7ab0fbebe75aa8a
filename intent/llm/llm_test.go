package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/llm"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/reasoning"
)

// workshop is a domain that hires tools out.
const workshop = `{"schema_version":"1","domain":"workshop","version":"1.0.0","title":"Workshop","description":"Hires tools out","capabilities":[
{"name":"list_tools","description":"Lists the tools of a kind","schema":{"type":"object","additionalProperties":false,"properties":{"kind":{"type":"string","enum":["hand_tool","power_tool"]}}},"metadata":{"side_effect_class":"read","intent_hints":{"examples":["which tools are there","show the power tools"]}}},
{"name":"reserve_tool","description":"Reserves a tool for some days","schema":{"type":"object","additionalProperties":false,"required":["tool","days","from"],"properties":{"tool":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":60},"from":{"type":"string","format":"date"},"notes":{"type":["string","null"]}}},"metadata":{"side_effect_class":"write_irreversible","risk_level":"medium","idempotency":"keyed","intent_hints":{"examples":["reserve the drill for 3 days from 2026-12-01"]}}},
{"name":"scrap_tool","description":"Scraps a tool for good","schema":{"type":"object","additionalProperties":false,"required":["tool"],"properties":{"tool":{"type":"string"}}},"metadata":{"side_effect_class":"write_irreversible","risk_level":"medium","idempotency":"natural","intent_hints":{"examples":["scrap the old saw"]}}},
{"name":"tag_tool","description":"Puts a tag on a tool","schema":{"type":"object","additionalProperties":false,"required":["tool","tag"],"properties":{"tool":{"type":"string"},"tag":{"type":"string"}}},"metadata":{"side_effect_class":"write_reversible","risk_level":"low","approval_required":false,"idempotency":"natural","compensation":{"capability":"untag_tool","param_map":{"tool":"${params.tool}"}},"intent_hints":{"examples":["tag the drill as blue"]}}},
{"name":"untag_tool","description":"Takes the tag off a tool","schema":{"type":"object","additionalProperties":false,"required":["tool"],"properties":{"tool":{"type":"string"}}},"metadata":{"side_effect_class":"write_reversible","risk_level":"low","idempotency":"natural"}}]}`

// model answers with the readings in their order, and keeps what it was asked.
type model struct {
	readings []reasoning.Reading
	fault    error
	asked    []reasoning.Question
}

func (m *model) Understand(_ context.Context, q reasoning.Question) (reasoning.Reading, error) {
	m.asked = append(m.asked, q)
	if m.fault != nil {
		return reasoning.Reading{}, m.fault
	}
	r := m.readings[min(len(m.asked), len(m.readings))-1]
	r.Calls = []contracts.ModelCall{{Model: "fake"}}
	return r, nil
}

type site struct {
	catalog *contracts.Catalog
	local   *local.Reader
}

func newSite(t *testing.T) site {
	t.Helper()
	m, err := contracts.ParseManifest([]byte(workshop))
	if err != nil {
		t.Fatal(err)
	}
	d := &contracts.DomainEntry{Name: m.Domain, Manifest: m}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: c.Metadata.Policy(c.Metadata.Compensation != nil)})
	}
	reader, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return site{contracts.NewCatalog("workshop", []*contracts.DomainEntry{d}, nil), reader}
}

func (s site) call(t *testing.T, name, params string) reasoning.Proposal {
	t.Helper()
	entry, ok := s.catalog.Capability("workshop." + name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	values := map[string]any{}
	if err := json.Unmarshal([]byte(params), &values); err != nil {
		t.Fatal(err)
	}
	return reasoning.Proposal{Entry: entry, Parameters: values}
}

func (s site) understand(t *testing.T, m *model, req intent.Request) intent.Understanding {
	t.Helper()
	req.Catalog, req.AnyRole, req.Now = s.catalog, true, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	u, err := llm.New(s.local, m, nil).Understand(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// What holds a model back: one row each of the table in rules.go.
func TestRules(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, c := range map[string]struct {
		says, tool, params string
		want               contracts.ReadingOutcome
		missing            string
		question           string
	}{
		"a read that fits the schema, the role and phase":    {"anything with a plug?", "list_tools", `{"kind":"power_tool"}`, contracts.ReadingAccepted, "", ""},
		"a gated write goes to its gate":                     {"I could do with the drill for 3 days from December 1", "reserve_tool", `{"tool":"drill","days":3,"from":"2026-12-01"}`, contracts.ReadingAccepted, "", ""},
		"an ungated write that the local reader reads alike": {"tag the drill: tool=drill tag=blue", "tag_tool", `{"tool":"drill","tag":"blue"}`, contracts.ReadingAccepted, "", ""},
		"an ungated write that it does not is confirmed":     {"blue would suit the drill", "tag_tool", `{"tool":"drill","tag":"blue"}`, contracts.ReadingUnclear, "", "Shall I do this"},
		"a write that is forbidden is asked about":           {"don't scrap the old saw", "scrap_tool", `{"tool":"old saw"}`, contracts.ReadingUnclear, "", "says not to do it"},
		"a write that is supposed is asked about":            {"what would happen if we scrap the old saw", "scrap_tool", `{"tool":"old saw"}`, contracts.ReadingUnclear, "", "asks what would happen"},
		"a write that is taken back is asked about":          {"scrap the old saw - just kidding", "scrap_tool", `{"tool":"old saw"}`, contracts.ReadingUnclear, "", "says not to do it"},
		"what is excepted is asked about":                    {"scrap everything except the old saw", "scrap_tool", `{"tool":"old saw"}`, contracts.ReadingUnclear, "", "leaves out"},
		"which thing, by the model, is asked for":            {"scrap it", "scrap_tool", `{"tool":"old saw"}`, contracts.ReadingAccepted, "tool", ""},
		"how much, by the model, is asked for":               {"reserve the drill from December 1", "reserve_tool", `{"tool":"drill","days":7,"from":"2026-12-01"}`, contracts.ReadingAccepted, "days", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := s.understand(t, &model{readings: []reasoning.Reading{{Proposals: []reasoning.Proposal{s.call(t, c.tool, c.params)}}}}, intent.Request{Message: c.says})
			if u.Outcome != c.want || len(u.Intents) != 1 || !strings.Contains(u.Question, c.question) {
				t.Fatalf("%s, %q, %d intents", u.Outcome, u.Question, len(u.Intents))
			}
			in := u.Intents[0]
			if got := strings.Join(in.Missing, " "); got != c.missing {
				t.Errorf("missing %q, want %q", got, c.missing)
			}
			if _, given := in.Parameters[c.missing]; given {
				t.Errorf("%s is not asked for: %v", c.missing, in.Parameters)
			}
		})
	}
}

// A draft of one plain call is that call to the rules; one with a condition is not.
func TestAnUngatedWriteOfADraftIsConfirmedUnlessTheLocalReaderReadsIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tag := contracts.DraftStep{ID: "a", Tool: "workshop.tag_tool", Params: map[string]any{"tool": "drill", "tag": "blue"}}
	waits := tag
	waits.When = "1 < 2"
	for name, c := range map[string]struct {
		says string
		step contracts.DraftStep
		want contracts.ReadingOutcome
	}{
		"read alike":       {"tag the drill: tool=drill tag=blue", tag, contracts.ReadingAccepted},
		"read otherwise":   {"blue would suit the drill", tag, contracts.ReadingUnclear},
		"with a condition": {"tag the drill: tool=drill tag=blue", waits, contracts.ReadingUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := s.understand(t, &model{readings: []reasoning.Reading{{Draft: &contracts.Draft{Steps: []contracts.DraftStep{c.step}}}}}, intent.Request{Message: c.says})
			if u.Outcome != c.want || u.Draft == nil || (u.Question != "") != (c.want == contracts.ReadingUnclear) {
				t.Errorf("%s, %q", u.Outcome, u.Question)
			}
		})
	}
}

// In a further round a write that a rule holds back is confirmed by the requester, with its
// values: they may be worked out of what was read. The other calls of the round go on.
func TestAFurtherRoundHoldsAWriteAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	read := []intent.Result{{ID: "n1", Ref: "workshop.list_tools", State: contracts.NodeCompleted, Summary: "2 tools: old saw, drill"}}
	for name, c := range map[string]struct{ says, params, held string }{
		"a value that stands nowhere": {"reserve the drill from December 1", `{"tool":"drill","days":7,"from":"2026-12-01"}`, "days stands nowhere"},
		"a value that was read":       {"reserve what is there for 3 days from December 1", `{"tool":"drill","days":3,"from":"2026-12-01"}`, ""},
		"words that forbid it":        {"don't reserve the drill for 3 days from December 1", `{"tool":"drill","days":3,"from":"2026-12-01"}`, "says not to do it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proposals := []reasoning.Proposal{s.call(t, "reserve_tool", c.params), s.call(t, "list_tools", `{}`)}
			u := s.understand(t, &model{readings: []reasoning.Reading{{Proposals: proposals}}}, intent.Request{Message: c.says, Results: read})
			if u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 2 || len(u.Intents[0].Missing) > 0 || len(u.Intents[0].Parameters) != 3 {
				t.Fatalf("%s %+v", u.Outcome, u.Intents)
			}
			if got := u.Held["i1"]; (got != "") != (c.held != "") || !strings.Contains(got, c.held) || u.Held["i2"] != "" {
				t.Errorf("held: %v", u.Held)
			}
		})
	}
}

// Long results are cut, so that the functions that come next are offered all the same.
func TestResultsLeaveRoomForFunctions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var read []intent.Result
	for i, size := range []int{9000, 14000, 200, 12000} {
		facts, err := contracts.CompactFacts(map[string]any{"text": strings.Repeat("word ", size/5)})
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, intent.Result{ID: "n" + strconv.Itoa(i), Ref: "workshop.list_tools", State: contracts.NodeCompleted, Summary: "tools", Facts: facts})
	}
	m := &model{readings: []reasoning.Reading{{Reply: "nothing is left"}}}
	s.understand(t, m, intent.Request{Message: "which tools are there", Results: read})
	sum := 0
	for _, told := range m.asked[0].Earlier {
		sum += len(told.Text.String())
	}
	if last := m.asked[0].Earlier[3].Text.String(); sum > 26<<10 || sum < 12<<10 || strings.Contains(last, "(cut)") || !strings.HasSuffix(last, `word "}`) {
		t.Errorf("%d bytes are told; the short one: %s", sum, last)
	}
}

// Values come in every form that models give them.
func TestValuesAreFitted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for given, want := range map[string]string{
		`{"tool":"drill","days":"3","from":"2026-12-01"}`:               `{"days":3,"from":"2026-12-01","tool":"drill"}`,
		`{"tool":"drill","days":3,"from":"December 1"}`:                 `{"days":3,"from":"2026-12-01","tool":"drill"}`,
		`{"tool":["drill"],"days":3,"from":"2026-12-01","notes":null}`:  `{"days":3,"from":"2026-12-01","tool":"drill"}`,
		`{"tool":"drill","days":3.0,"from":" 2026-12-01 ","notes":"x"}`: `{"days":3,"from":"2026-12-01","notes":"x","tool":"drill"}`,
	} {
		m := &model{readings: []reasoning.Reading{{Proposals: []reasoning.Proposal{s.call(t, "reserve_tool", given)}}}}
		u := s.understand(t, m, intent.Request{Message: "reserve the drill for 3 days from December 1, x"})
		raw, err := contracts.Canonical(u.Intents[0].Parameters)
		if err != nil || string(raw) != want || len(m.asked) != 1 {
			t.Errorf("%s became %s %v, asked %d times", given, raw, err, len(m.asked))
		}
	}
}

func TestAListForOneValueIsSeveralCalls(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	u := s.understand(t, &model{readings: []reasoning.Reading{{Proposals: []reasoning.Proposal{s.call(t, "scrap_tool", `{"tool":["old saw","drill"]}`)}}}}, intent.Request{Message: "scrap the old saw and the drill"})
	if len(u.Intents) != 2 || u.Intents[0].Parameters["tool"] != "old saw" || u.Intents[1].Parameters["tool"] != "drill" {
		t.Errorf("%+v", u.Intents)
	}
}

// What does not fit goes back to the model once; then it has given no reading.
func TestWhatDoesNotFitIsMendedOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wrong := reasoning.Reading{Raw: "raw", Proposals: []reasoning.Proposal{s.call(t, "reserve_tool", `{"tool":"drill","days":900,"from":"2026-12-01"}`)}}
	right := reasoning.Reading{Proposals: []reasoning.Proposal{s.call(t, "reserve_tool", `{"tool":"drill","days":9,"from":"2026-12-01"}`)}}
	m := &model{readings: []reasoning.Reading{wrong, right}}
	u := s.understand(t, m, intent.Request{Message: "reserve the drill for 9 days from December 1"})
	if len(m.asked) != 2 || m.asked[1].Wrong == nil || !strings.Contains(strings.Join(m.asked[1].Wrong.Faults, " "), "/days") || len(u.Intents) != 1 || len(u.Calls) != 2 {
		t.Errorf("%d questions, %+v", len(m.asked), u.Intents)
	}
	m = &model{readings: []reasoning.Reading{wrong}}
	if _, err := llm.New(s.local, m, nil).Understand(t.Context(), intent.Request{Message: "reserve the drill", Catalog: s.catalog, AnyRole: true}); err == nil || len(m.asked) != 2 {
		t.Errorf("%v after %d questions", err, len(m.asked))
	}
}

func TestDraftsAreCheckedByPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	draft := func(tool string) reasoning.Reading {
		return reasoning.Reading{Draft: &contracts.Draft{Steps: []contracts.DraftStep{
			{ID: "tools", Tool: "workshop.list_tools", Params: map[string]any{"kind": "Power Tool"}},
			{ID: "book", Tool: tool, Params: map[string]any{"tool": "${tools.facts.first}", "days": "2", "from": "2026-12-01"}, When: "${tools.facts.count} > 0"},
		}}}
	}
	m := &model{readings: []reasoning.Reading{draft("workshop.lend_tool"), draft("workshop.reserve_tool")}}
	u := s.understand(t, m, intent.Request{Message: "if there is a power tool, reserve the first one for 2 days from December 1"})
	if len(m.asked) != 2 || !strings.Contains(strings.Join(m.asked[1].Wrong.Faults, " "), "/steps/1/tool") {
		t.Fatalf("%d questions: %+v", len(m.asked), m.asked[1].Wrong)
	}
	if u.Draft == nil || u.Outcome != contracts.ReadingAccepted {
		t.Fatalf("%+v", u)
	}
	steps := u.Draft.Steps
	if steps[0].Params["kind"] != "power_tool" || steps[1].Params["days"] != 2.0 || steps[1].Params["tool"] != "${tools.facts.first}" || steps[1].Said.Values["days"] != contracts.FromUtterance {
		t.Errorf("%+v", steps)
	}
}

// A model that is not there leaves the message to the local reader, and that is said.
func TestWithoutAnAnswerTheLocalReaderStands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	adapter := intent.NewAdapter(s.local, llm.New(s.local, &model{fault: errors.New("it is not there")}, nil))
	u, err := adapter.Understand(t.Context(), intent.Request{Message: "scrap the old saw", Catalog: s.catalog, AnyRole: true})
	if err != nil || u.ModelFault == "" || len(u.Intents) != 1 || u.Intents[0].Source == llm.Source {
		t.Errorf("%+v %v", u, err)
	}
}

// The model is told what is open and what was found, and may only answer that.
func TestWhatIsOpenIsAnsweredChangedOrTakenBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	open := []intent.Open{
		{ID: "gate_1", Kind: intent.OpenGate, Prompt: "Reserve?", Ref: "workshop.reserve_tool", Values: map[string]any{"tool": "drill", "days": 2.0}},
		{ID: "gate_2", Kind: intent.OpenQuestion, Prompt: "Which tool?", Options: []string{"saw", "drill"}},
	}
	m := &model{readings: []reasoning.Reading{{Revise: &reasoning.Change{Target: "o1", Parameters: map[string]any{"days": "3"}}}}}
	u := s.understand(t, m, intent.Request{Message: "make that three", Open: open})
	if u.Revision == nil || u.Revision.ID != "gate_1" || u.Revision.Parameters["days"] != 3.0 {
		t.Errorf("%+v", u.Revision)
	}
	if told := strings.Join(m.asked[0].Waiting, "\n"); !strings.Contains(told, "o2") || !strings.Contains(told, "saw | drill") || !m.asked[0].OpenQuestion || !m.asked[0].OpenRequest {
		t.Errorf("%s", told)
	}
	u = s.understand(t, &model{readings: []reasoning.Reading{{HasAnswer: true, Answer: "saw"}}}, intent.Request{Message: "the saw", Open: open})
	if u.Answer == nil || u.Answer.ID != "gate_2" || u.Answer.Value != "saw" {
		t.Errorf("%+v", u.Answer)
	}
	target := "o1"
	u = s.understand(t, &model{readings: []reasoning.Reading{{Withdraw: &target}}}, intent.Request{Message: "forget the drill", Open: open})
	if u.Withdrawal == nil || u.Withdrawal.ID != "gate_1" {
		t.Errorf("%+v", u.Withdrawal)
	}
}
