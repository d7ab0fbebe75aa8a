package conversations

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/eval/conversation"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

func ask(tools []scripted.Tool, texts ...string) scripted.Asked {
	a := scripted.Asked{Tools: tools}
	for _, t := range texts {
		a.Turns = append(a.Turns, scripted.Turn{Role: "user", Text: t})
	}
	return a
}

func tools(names ...string) []scripted.Tool {
	var out []scripted.Tool
	for _, n := range names {
		out = append(out, scripted.Tool{Name: n, Description: "Does " + n + "."})
	}
	return out
}

func lamps() conversation.Item {
	return conversation.Item{
		ID: "lamps", Turns: []string{"dim Lila and Otto by 2 on December 14"},
		Expectation: conversation.Expectation{
			Expect: conversation.OutcomeDo, Capability: "home.dim_lamp",
			Params: map[string]any{"lamp": []any{"L-1", "L-2"}, "steps": 2.0, "day": "2026-12-14"},
		},
	}
}

// TestDialects: a perfect model expresses the same request in each dialect.
func TestDialects(t *testing.T) {
	t.Parallel()
	surface := map[string]string{"L-1": "Lila", "L-2": "Otto"}
	one := func(lamp string) map[string]any {
		return map[string]any{"lamp": lamp, "steps": 2.0, "day": "2026-12-14"}
	}
	said := func(lamp string) map[string]any {
		return map[string]any{"lamp": lamp, "steps": "2", "day": "14 Dec"}
	}
	dim := func(arguments map[string]any) scripted.Call {
		return scripted.Call{Name: "home.dim_lamp", Arguments: arguments}
	}
	for name, want := range map[string][]scripted.Call{
		dialectList:     {dim(map[string]any{"lamp": []any{"L-1", "L-2"}, "steps": 2.0, "day": "2026-12-14"})},
		dialectParallel: {dim(one("L-1")), dim(one("L-2"))},
		dialectWords:    {dim(said("Lila")), dim(said("Otto"))},
		dialectPlan: {{Name: toolPlan, Arguments: map[string]any{"steps": []any{
			map[string]any{"id": "s1", "tool": "home.dim_lamp", "params": one("L-1")},
			map[string]any{"id": "s2", "tool": "home.dim_lamp", "params": one("L-2")},
		}}}},
	} {
		p := perfect{&script{items: []conversation.Item{lamps()}}, conversation.DefaultRules(), dialect{name: name, surface: surface}}
		got := p.Answer(ask(tools("home-dim_lamp", toolPlan), lamps().Turns[0]))
		if diff := cmp.Diff(want, got.Calls); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAPerfectModelAnswersByWhatIsExpected(t *testing.T) {
	t.Parallel()
	item := func(e conversation.Expectation, turns ...string) conversation.Item {
		return conversation.Item{ID: turns[0], Turns: turns, Expectation: e}
	}
	lend := conversation.Expectation{Expect: conversation.OutcomeDo, Capability: "shop.lend", Params: map[string]any{"to": "Mia", "days": 4.0}}
	named := lend
	named.Reply = "four"
	answering := item(lend, "lend it to Mia", "4 days")
	answering.Tags = []string{conversation.TagAnswer}
	all := []string{"shop-lend", toolAsk, toolReply, toolWithdraw, toolAnswer, toolPlan}
	for name, c := range map[string]struct {
		item     conversation.Item
		tools    []string
		want     string // function, "" for a refusal
		argument any
	}{
		"a question":                         {item(conversation.Expectation{Expect: conversation.OutcomeAsk, For: "shop.lend"}, "lend it"), all, toolAsk, "Does shop-lend: which one do you mean?"},
		"small talk":                         {item(conversation.Expectation{Expect: conversation.OutcomeAnswer}, "hi"), all, toolReply, "You are welcome."},
		"a withdrawal":                       {item(conversation.Expectation{Expect: conversation.OutcomeAnswer, Closes: true}, "lend", "never mind"), all, toolWithdraw, nil},
		"the value that answers":             {answering, all, toolAnswer, 4.0},
		"the value that the set names":       {item(named, "lend it to Mia", "4 days"), all, toolAnswer, "four"},
		"a call where no answer is offered":  {answering, []string{"shop-lend"}, "shop.lend", nil},
		"an id that stands nowhere":          {item(conversation.Expectation{Expect: conversation.OutcomeDo, Capability: "shop.lend", Params: map[string]any{"loan_id": "*"}}, "undo"), all, "", nil},
		"the plan that only a draft can say": {item(conversation.Expectation{Expect: conversation.OutcomeDo, Capability: "shop.lend", Plan: json.RawMessage(`{"value": 7}`)}, "x"), all, toolPlan, 7.0},
	} {
		p := perfect{&script{items: []conversation.Item{c.item}}, conversation.DefaultRules(), dialect{name: dialectList}}
		got := p.Answer(ask(tools(c.tools...), c.item.Turns...))
		if c.want == "" {
			if got.Fault != scripted.FaultRefusal || p.seen().Declined != 1 {
				t.Errorf("%s: %+v is to be declined", name, got)
			}
			continue
		}
		if len(got.Calls) != 1 || got.Calls[0].Name != c.want {
			t.Errorf("%s: %+v, want a call of %s", name, got, c.want)
			continue
		}
		arguments := got.Calls[0].Arguments
		if value := first(arguments["question"], arguments["text"], arguments["value"]); value != c.argument {
			t.Errorf("%s: %v, want %v", name, value, c.argument)
		}
	}
}

func first(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// TestATurnIsFoundByWhatWasSaidBefore: several conversations may have the same message.
func TestATurnIsFoundByWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	s := &script{items: []conversation.Item{
		{ID: "alone", Turns: []string{"the second one"}},
		{ID: "lamps", Turns: []string{"which lamps are there", "the second one"}},
		{ID: "doors", Turns: []string{"which doors are there", conversation.TurnApprove, "the second one"}},
	}}
	for name, c := range map[string]struct {
		asked scripted.Asked
		id    string
		turn  int
	}{
		"the first turn":         {ask(nil, "which doors are there"), "doors", 0},
		"alone":                  {ask(nil, "the second one"), "alone", 0},
		"after a turn":           {ask(nil, "which lamps are there", "the second one"), "lamps", 1},
		"after another turn":     {ask(nil, "which doors are there", "the second one"), "doors", 2},
		"with words around":      {ask(nil, "which doors are there", "Today is Friday.\nthe second one"), "doors", 2},
		"history in the prompt":  {scripted.Asked{System: "Earlier: which lamps are there", Turns: ask(nil, "the second one").Turns}, "lamps", 1},
		"words that nobody said": {ask(nil, "the third one"), "", 0},
	} {
		at, ok := s.find(c.asked)
		if ok != (c.id != "") || at.item.ID != c.id || at.turn != c.turn {
			t.Errorf("%s: found %q, turn %d, want %q, turn %d", name, at.item.ID, at.turn, c.id, c.turn)
		}
	}
	if d := s.items[0].At(3); d != nil {
		t.Errorf("a turn that is not there expects %+v", d)
	}
}

// TestATrapWritesAlways: a trap writes for any message, with values from it.
func TestATrapWritesAlways(t *testing.T) {
	t.Parallel()
	model := &trap{script: &script{}}
	model.know(map[string]bool{"shop.lend": true})
	offered := tools("shop-list", "shop-lend")
	offered[1].Schema = json.RawMessage(`{"required":["to","days","kind","gift","tags","on"],"properties":{"to":{"type":"string"},"days":{"type":["integer","null"]},
		"kind":{"enum":["lamp","door"]},"gift":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},"on":{"type":"string"},"left":{"type":"string"}}}`)
	got := model.Answer(ask(offered, `never lend a door to Mia "the small one" for 12 days`))
	want := []scripted.Call{{Name: "shop-lend", Arguments: map[string]any{
		"to": "the small one", "days": 12.0, "kind": "door", "gift": true, "tags": []any{"Mia"}, "on": "Mia",
	}}}
	if diff := cmp.Diff(want, got.Calls); diff != "" {
		t.Error(diff)
	}
	if got := model.Answer(ask(offered[:1], "never")); got.Fault != scripted.FaultRefusal {
		t.Errorf("without a write to offer: %+v", got)
	}
}

func TestARecordingIsPlayedBackByTheIDOfAConversation(t *testing.T) {
	t.Parallel()
	s := &script{items: []conversation.Item{{ID: "lamps", Turns: []string{"which lamps", "dim it"}}}}
	r := &recorded{s, map[string]recordedAnswer{
		"lamps#1": {Calls: []scripted.Call{{Name: "home.list"}}},
		"lamps":   {Calls: []scripted.Call{{Name: "home.dim"}}, TokensIn: 5, TokensOut: 2},
	}}
	offered := tools("home-list", "home-dim")
	for text, want := range map[string]string{"which lamps": "home.list", "which doors": ""} {
		if got := r.Answer(ask(offered, text)); want == "" && got.Fault == "" || want != "" && got.Calls[0].Name != want {
			t.Errorf("%q gets %+v, want %q", text, got, want)
		}
	}
	if got := r.Answer(ask(offered, "which lamps", "dim it")); got.Calls[0].Name != "home.dim" || got.Tokens.In != 5 {
		t.Errorf("the last turn gets %+v", got)
	}
	if f := s.seen(); f.Requests != 3 || f.Declined != 1 {
		t.Errorf("figures %+v", f)
	}
}
