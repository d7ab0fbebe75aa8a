package openwebui_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

func TestPageOfAReadWithStarterAndStatus(t *testing.T) {
	s := onStage(t)
	arrived, release := s.market.hold(t)
	b := s.browse(t, ana)
	b.open("manifold-finance")
	b.sees("Prices of listed stocks and alerts on them.")
	b.sees("trading at")
	b.shoot("1-starters")
	b.press("button", "what is PETR4")
	await(t, arrived)
	b.until("see the status of a step", "document.querySelector('[aria-label=\"Toggle status history\"]')?.innerText.includes('Latest price')")
	b.shoot("2-status")
	release()
	b.sees("Petrobras")
	b.sees("Done")
	b.until("see a table", "document.querySelector('#messages-container table')")
	c := &chat{person: b.person, id: b.chatID()}
	eventually(t, "the chat has its title", func() bool { return strings.HasPrefix(c.kept().Title, "what is PETR4") })
	b.shoot("3-answer")
	if !b.misses("[//]") || !b.misses("manifold ses_") {
		t.Errorf("the marker shows:\n%s", b.text())
	}
	before := len(s.runs(t, ana))
	b.until("regenerate", click(".regenerate-response-button")+" || (e => e ? (e.click(), true) : false)(document.querySelector('.regenerate-response-button'))")
	eventually(t, "there are two answers", func() bool {
		answers := 0
		for _, m := range c.messages() {
			if m.Role == "assistant" && m.Done && strings.Contains(m.text(), "Petrobras") {
				answers++
			}
		}
		return answers == 2
	})
	if n := len(s.runs(t, ana)); n != before {
		t.Errorf("%d runs more", n-before)
	}
}

// The page hears of its chat's id only in the reply to the message. A machine
// that is busy is played by keeping that reply back.
func TestPageOfAFirstAnswerThatComesAtOnce(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("manifold")
	b.until("the reply to the message is late", `(() => {
		const real = window.fetch
		globalThis.fetch = async (...args) => {
			const reply = await real(...args)
			if (String(args[0]?.url ?? args[0]).endsWith("/api/chat/completions")) await new Promise(done => setTimeout(done, 1000))
			return reply
		}
		return true
	})()`)
	b.say("who am I")
	b.sees("Your roles:")
	b.shoot("1-answer")
	b.say("thanks") // a second message can be written: the first answer is done
	b.sees("You are welcome.")
}

func TestPageOfSeveralSteps(t *testing.T) {
	s := onStage(t)
	arrived, release := s.market.hold(t)
	b := s.browse(t, ana)
	b.open("manifold")
	b.say("price of VALE3 and ITUB4")
	await(t, arrived)
	b.sees("0 out of 2 tasks completed")
	b.shoot("1-checklist")
	release()
	b.sees("Itaú Unibanco")
	b.sees("Done")
	b.until("the checklist goes with its end", "!document.body.innerText.includes('tasks completed')")
}

func TestPageOfACard(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("manifold")
	b.say("alert me when PETR4 goes above 71")
	b.sees("Nothing is done; it stays open and the chat goes on")
	b.shoot("1-card")
	if !b.misses("[//]") || !b.misses("manifold ses_") {
		t.Errorf("the marker shows:\n%s", b.text())
	}
	b.press(card, "Approve")
	b.sees("is approved")
	b.sees("verified: read back and as asked")
	b.shoot("2-approved")
	if b.count(chips) != 0 {
		t.Errorf("what is decided is offered again:\n%s", b.text())
	}
	if n := s.alerts(t)[71]; n != 1 {
		t.Errorf("%d alerts", n)
	}
	var answer struct {
		Status  string
		Answers map[string]struct{ Type, Label string }
	}
	asked := s.relay.of(b.chatID())
	for _, a := range asked {
		for _, m := range a.Body.Messages {
			if text, ok := m.Content.(string); ok && m.Role == "tool" {
				if err := json.Unmarshal([]byte(text), &answer); err != nil {
					t.Errorf("the answer of the card: %q", text)
				}
			}
		}
	}
	if answer.Status != "answered" || answer.Answers["decision"].Label != "Approve" || answer.Answers["decision"].Type != "option" {
		t.Errorf("the answer of the card: %+v", answer)
	}
}

func TestPageOfACardThatIsPutAway(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("manifold")
	b.say("alert me when PETR4 goes above 72")
	b.press(card, "Cancel")
	b.sees("Follow up") // the answer is done: no card is open, and the chips are there
	b.sees("It stays open.")
	if !b.misses("Submit answers") {
		t.Errorf("the card comes again:\n%s", b.text())
	}
	b.shoot("1-chips")
	b.press(chips, "Approve")
	b.sees("is approved")
	if n := s.alerts(t)[72]; n != 1 {
		t.Errorf("%d alerts", n)
	}
	b.sees("verified: read back and as asked")
	b.say("alert me when VALE3 goes above 73")
	b.press(card, "Decide later")
	b.sees("It stays open.")
	b.until("the chips are there", "document.querySelectorAll(\""+chips+"\").length >= 2")
	c := &chat{person: b.person, id: b.chatID()}
	var gate stored
	for _, m := range c.messages() {
		if strings.Contains(m.text(), "VALE3") && m.Role == "assistant" {
			gate = m
		}
	}
	b.say("approve " + code(t, gate))
	b.sees("al-")
	eventually(t, "the typed words approve", func() bool { return s.alerts(t)[73] == 1 })
	b.shoot("2-typed")
}

func TestPageOfSomebodyWhoMayOnlyAsk(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, bob)
	b.open("manifold")
	b.say("alert me when ITUB4 goes above 74")
	b.sees("Somebody else has to approve it")
	b.until("the chips are there", "document.querySelector(\""+chips+"\")")
	if !b.misses("Submit answers") || b.count(chips) != 2 {
		t.Errorf("Bob is offered to approve:\n%s", b.text())
	}
	b.shoot("1-asked")
	b.press(chips, "Withdraw")
	b.sees("is withdrawn")
	if n := s.alerts(t)[74]; n != 0 {
		t.Errorf("%d alerts", n)
	}
}

func TestPageOfAPlan(t *testing.T) {
	s := onStage(t)
	b := s.browse(t, ana)
	b.open("manifold")
	monday := time.Now().AddDate(0, 0, 14)
	for monday.Weekday() != time.Monday {
		monday = monday.AddDate(0, 0, 1)
	}
	b.say("request 2 days off for Ana Souza from " + monday.Format(time.DateOnly))
	b.sees("Risk:")
	b.sees("Submit answers")
	b.shoot("1-gate")
	b.press(card, "Decide later")
	b.sees("It stays open.")
	b.press("#messages-container *", "Plan: 5 steps")
	b.until("the plan is drawn", "document.querySelector('#messages-container svg[id^=mermaid], #messages-container svg[aria-roledescription]')")
	b.shoot("2-plan")
}

func TestClosingTheTabKeepsTheRunGoing(t *testing.T) {
	s := onStage(t)
	arrived, release := s.market.hold(t)
	b := s.browse(t, ana)
	b.open("manifold")
	b.say("price of MSFT in EUR")
	await(t, arrived)
	id := b.chatID()
	b.close()
	release()
	c := &chat{person: s.signIn(t, ana), id: id}
	eventually(t, "the answer is kept", func() bool {
		for _, m := range c.messages() {
			if m.Role == "assistant" && m.Done && strings.Contains(m.text(), "MSFT") {
				return true
			}
		}
		return false
	})
	again := s.browse(t, ana)
	again.visit("/c/" + id)
	again.sees("Microsoft")
	again.shoot("reopened")
}

func TestStopOnThePageKeepsTheRunGoing(t *testing.T) {
	s := onStage(t)
	arrived, release := s.market.hold(t)
	b := s.browse(t, ana)
	b.open("manifold")
	b.say("price of NVDA")
	await(t, arrived)
	b.until("stop", click("button[aria-label='Stop']"))
	b.until("it has stopped", "!document.querySelector('button[aria-label=\"Stop\"]')")
	release()
	eventually(t, "the run ends all the same", func() bool {
		return slices.ContainsFunc(s.runs(t, ana), func(r contracts.RunSummary) bool {
			return strings.Contains(r.Goal, "NVDA") && r.State == contracts.RunCompleted
		})
	})
	b.say("status")
	b.sees("Nvidia")
	b.shoot("status")
}

func await(t *testing.T, arrived <-chan struct{}) {
	t.Helper()
	select {
	case <-arrived:
	case <-time.After(patience):
		t.Fatal("the domain was not asked")
	}
}
