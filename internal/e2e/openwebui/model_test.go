package openwebui_test

import (
	"encoding/json"
	"testing"

	"github.com/manifold-run/manifold/internal/model/scripted"
)

const (
	whoHasMost = "who of Ana Souza and Bruno Lima has more vacation left?"
	onlyIfMany = "if Bruno Lima has more than 10 vacation days left, book him off on December 14"
	alertAt    = "alert me when PETR4 goes above 81"
)

// modelRules are what the model of the second server does.
func modelRules() []scripted.Rule {
	balances := func(name string) scripted.Call {
		return scripted.Call{Name: "workday.get_time_off_balances", Arguments: map[string]any{"worker": name}}
	}
	words, _ := json.Marshal(map[string]any{"sentences": []string{"Bruno Lima has more: 20.5 days of vacation are left, Ana Souza has 16."}})
	return []scripted.Rule{
		{System: "You word the answer", Contains: whoHasMost, Answer: scripted.Answer{JSON: words}},
		{Contains: whoHasMost, Answer: scripted.Answer{Calls: []scripted.Call{balances("Ana Souza"), balances("Bruno Lima")}}},
		{Contains: onlyIfMany, Answer: scripted.Answer{Calls: []scripted.Call{{Name: "plan", Arguments: map[string]any{"steps": []any{
			map[string]any{"id": "left", "tool": "workday-get_time_off_balances", "params": map[string]any{"worker": "Bruno Lima"}},
			map[string]any{"id": "book", "tool": "workday-request_time_off", "params": map[string]any{"worker": "Bruno Lima", "days": 1, "start": "2026-12-14"}, "when": "${left.facts.balances[0].quantity} > 10"},
		}}}}}},
		{Contains: alertAt, Answer: scripted.Answer{Calls: []scripted.Call{{Name: "finance.set_price_alert", Arguments: map[string]any{"symbol": "PETR4", "above": 81}}}}},
		{Contains: "make that 85", Answer: scripted.Answer{Calls: []scripted.Call{{Name: "revise", Arguments: map[string]any{"target": "o1", "params": map[string]any{"above": 85}}}}}},
	}
}

// TestPageOfAWordedAnswer: the model's sentence stands above the table.
func TestPageOfAWordedAnswer(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("modelled.manifold")
	b.say(whoHasMost)
	b.sees("Bruno Lima has more: 20.5 days of vacation are left")
	b.sees("Family Care Plan")
	b.shoot("answer")
}

// TestPageOfAPlanWithACondition: what the write waits for stands in the plan and above its gate.
func TestPageOfAPlanWithACondition(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("modelled.manifold")
	b.say(onlyIfMany)
	b.sees("Risk:")
	b.sees("Bruno Lima")
	b.shoot("gate")
}

// TestPageOfACorrectionAtTheGate: words change the open gate, and both values are seen.
func TestPageOfACorrectionAtTheGate(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("modelled.manifold")
	b.say(alertAt)
	b.sees("Risk:")
	b.press(card, "Decide later")
	b.sees("It stays open.")
	b.say("make that 85")
	b.until("a second gate", "document.body.innerText.split('Risk:').length > 2")
	b.shoot("1-corrected")
	b.press(card, "Approve")
	b.sees("is approved")
	eventually(t, "the corrected alert", func() bool { return s.alerts(t)[85] == 1 })
	if n := s.alerts(t)[81]; n != 0 {
		t.Errorf("%d alerts of what was corrected", n)
	}
	b.shoot("2-approved")
}
