package openwebui_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func TestModelsComeWithStarters(t *testing.T) {
	s := onStage(t)
	for _, who := range []string{ana, bob} {
		var list struct {
			Data []struct {
				ID, Name string
				Info     struct {
					Meta struct {
						Description string `json:"description"`
						Suggestions []struct {
							Content string `json:"content"`
						} `json:"suggestion_prompts"`
					} `json:"meta"`
				} `json:"info"`
			} `json:"data"`
		}
		s.signIn(t, who).send("GET", "/api/models", nil, &list)
		var ids []string
		for _, m := range list.Data {
			ids = append(ids, m.ID)
			if m.Name == "" || m.Info.Meta.Description == "" || len(m.Info.Meta.Suggestions) == 0 {
				t.Errorf("%s: %+v has nothing to begin with", who, m)
			}
		}
		want := []string{
			"manifold", "manifold-communication", "manifold-finance", "manifold-workday",
			"modelled.manifold", "modelled.manifold-communication", "modelled.manifold-finance", "modelled.manifold-workday",
		}
		if !slices.Equal(slices.Sorted(slices.Values(ids)), want) {
			t.Errorf("%s: models %q", who, ids)
		}
	}
}

func TestAReadAndItsBackgroundTasks(t *testing.T) {
	s := onStage(t)
	before := len(s.runs(t, ana))
	c := s.signIn(t, ana).newChat()
	m := c.say("price of VALE3 and ITUB4")
	if !strings.Contains(m.text(), "| VALE3.SA |") || !strings.Contains(m.text(), "| ITUB4.SA |") || m.Error != nil {
		t.Errorf("the answer: %s", describe(m))
	}
	if n := len(m.Statuses); n < 2 || !m.Statuses[n-1].Done || m.Statuses[0].Done {
		t.Errorf("the statuses: %s", describe(m))
	}
	if m.Output[0].Type != "reasoning" || len(m.Usage) == 0 {
		t.Errorf("no reasoning, or no usage: %+v %+v", m.Output, m.Usage)
	}
	eventually(t, "all background tasks are asked for", func() bool {
		return slices.Equal(slices.Sorted(maps.Keys(s.relay.tasks(c.id))), []string{"follow_up_generation", "tags_generation", "title_generation"})
	})
	eventually(t, "title and tags are taken", func() bool {
		k := c.kept()
		return strings.HasPrefix(k.Title, "price of VALE3") && slices.Contains(k.Meta.Tags, "manifold")
	})
	if n := len(s.runs(t, ana)) - before; n != 1 {
		t.Errorf("%d runs for one question", n)
	}
}

func TestAWriteIsApprovedByTextOrChip(t *testing.T) {
	s := onStage(t)
	p := s.signIn(t, ana)
	for name, c := range map[string]struct {
		price string
		above float64
		reply func(gate stored) string
	}{
		"by a word":         {"51", 51, func(stored) string { return "approve" }},
		"by word and code":  {"52", 52, func(m stored) string { return "freigeben " + code(t, m) }},
		"by the first chip": {"53", 53, func(m stored) string { return m.FollowUps[0] }},
	} {
		t.Run(name, func(t *testing.T) {
			chat := p.newChat()
			gate := chat.say("alert me when PETR4 goes above " + c.price)
			eventually(t, "the chips are kept", func() bool { gate = chat.messages()[gate.ID]; return len(gate.FollowUps) > 0 })
			if want := []string{"Approve " + code(t, gate), "Reject " + code(t, gate)}; !slices.Equal(gate.FollowUps, want) {
				t.Errorf("chips %q, not %q", gate.FollowUps, want)
			}
			if n := s.alerts(t)[c.above]; n != 0 {
				t.Errorf("%d alerts before anybody approved", n)
			}
			done := chat.say(c.reply(gate))
			if n := s.alerts(t)[c.above]; n != 1 || !strings.Contains(done.text(), "is approved") || !strings.Contains(done.text(), "verified") {
				t.Errorf("%d alerts, %s", n, describe(done))
			}
			// The same message again, as by a click on "regenerate", does nothing again.
			again := chat.regenerate()
			if n := s.alerts(t)[c.above]; n != 1 || !strings.Contains(again.text(), "is approved") {
				t.Errorf("regenerated: %d alerts, %s", n, describe(again))
			}
		})
	}
}

func TestRegenerateRunsNothingAgain(t *testing.T) {
	s := onStage(t)
	c := s.signIn(t, ana).newChat()
	first := c.say("price of ITUB4")
	before := len(s.runs(t, ana))
	again := c.regenerate()
	if again.ID == first.ID || again.text() != first.text() {
		t.Errorf("first %s\nagain %s", describe(first), describe(again))
	}
	asked := s.relay.of(c.id)
	if n := len(s.runs(t, ana)); n != before {
		t.Errorf("%d runs more, of %d requests", n-before, len(asked))
	}
}

func TestPeopleDoNotSeeEachOthersGates(t *testing.T) {
	s := onStage(t)
	bobs, eves := s.signIn(t, bob).newChat(), s.signIn(t, "eve@example.com").newChat()
	gate := bobs.say("alert me when VALE3 goes above 61")
	if !strings.Contains(gate.text(), "Somebody else has to approve it") {
		t.Errorf("Bob may only ask: %s", describe(gate))
	}
	for _, words := range []string{"list gates", "approve", "approve " + code(t, gate), "reject " + code(t, gate)} {
		if m := eves.say(words); strings.Contains(m.text(), "PETR4") || strings.Contains(m.text(), "VALE3") || strings.Contains(m.text(), "is approved") || strings.Contains(m.text(), "is rejected") || strings.Contains(m.text(), "is withdrawn") {
			t.Errorf("Eve says %q and sees %s", words, describe(m))
		}
	}
	if m := bobs.say("approve " + code(t, gate)); strings.Contains(m.text(), "is approved") {
		t.Errorf("Bob approves without the right to: %s", describe(m))
	}
	if n := s.alerts(t)[61]; n != 0 {
		t.Errorf("%d alerts before an approver came", n)
	}
	anas := s.signIn(t, ana).newChat()
	if m := anas.say("list gates"); !strings.Contains(m.text(), code(t, gate)) {
		t.Errorf("Ana may approve, and does not see it: %s", describe(m))
	}
	if m := anas.say("approve " + code(t, gate)); !strings.Contains(m.text(), "Nothing is approved yet") || !strings.Contains(m.text(), "VALE3") {
		t.Errorf("Ana has only seen a list, and is not shown what she approves: %s", describe(m))
	}
	anas.say("approve " + code(t, gate))
	eventually(t, "what Ana approved is done", func() bool { return s.alerts(t)[61] == 1 })
	if m := bobs.say("status"); !strings.Contains(m.text(), "al-") {
		t.Errorf("Bob does not see what became of it: %s", describe(m))
	}
	for _, r := range s.runs(t, "eve@example.com") {
		t.Errorf("Eve has a run: %+v", r)
	}
	if open := s.runsIn(t, bob, contracts.RunWaiting); open != 0 {
		t.Errorf("%d of Bob's runs wait", open)
	}
}

// code finds the code of the gate that an answer shows.
func code(t *testing.T, m stored) string {
	t.Helper()
	found := regexp.MustCompile("approve ([2-9A-HJ-NP-Z]{5})`").FindStringSubmatch(m.text())
	if found == nil {
		t.Fatalf("no gate in %s", describe(m))
	}
	return found[1]
}
