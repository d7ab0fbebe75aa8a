package orchestrator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

func TestHelpShowsWhatTheCallerMayAskFor(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, message := range []string{"help", "What can you do?"} {
		r := o.ask(message)
		if r.Status != contracts.SessionCompleted || len(r.RunIDs) != 0 {
			t.Fatalf("%q: status %s, runs %v", message, r.Status, r.RunIDs)
		}
		var items []string
		for _, b := range r.Answer.Blocks {
			items = append(items, b.Items...)
		}
		all := strings.Join(items, "\n")
		if !strings.Contains(all, "Such as: “") || !strings.Contains(all, "equests time off") {
			t.Errorf("%q is answered with:\n%s", message, all)
		}
	}
}

func TestAGreetingIsAnsweredInThreeLines(t *testing.T) {
	t.Parallel()
	r := newOffice(t).ask("hello")
	if len(r.RunIDs) != 0 || len(r.Answer.Blocks) != 3 || len(r.Answer.Blocks[1].Items) != 1 {
		t.Fatalf("%+v", r.Answer)
	}
	if line := r.Answer.Blocks[1].Items[0]; !strings.Contains(line, "“") {
		t.Errorf("no sentence to try: %q", line)
	}
}

func TestHelpLeavesOutWhatTheCallerMayNot(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	reader := ana
	reader.Scopes = access.Scopes{Classes: []contracts.SideEffectClass{contracts.ClassRead}}
	r, err := o.StartSession(t.Context(), reader, contracts.StartSession{Message: "help"}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Answer.Blocks {
		if strings.Contains(strings.Join(b.Items, "\n"), "equests time off") {
			t.Errorf("a key for reads is offered a write: %v", b.Items)
		}
	}
}

// A person who lacks a role is told which one, in their language, and nothing else about the
// capabilities. If their key does not reach the domain, they are told nothing.
func TestWhoLacksARoleIsToldWhich(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const say = "put in one day of sick leave for Ana Souza on 2026-05-07"
	if r := o.ask(say); r.Answer != nil && strings.Contains(text(r.Answer), "role") {
		t.Fatalf("nobody needs a role yet: %s", text(r.Answer))
	}
	o = newOffice(t)
	for i := range o.catalog.Domains[0].Capabilities {
		if meta := &o.catalog.Domains[0].Capabilities[i].Capability.Metadata; meta.SideEffectClass.Writes() {
			meta.AllowedRoles = []string{"payroll", "admin"}
		}
	}
	told := func(who access.Principal, language string) string {
		v, err := o.Chat(t.Context(), who, conversation.Input{Message: say, Language: language, Thread: &conversation.Thread{Conversation: who.ID + language}})
		if err != nil {
			t.Fatal(err)
		}
		return chat.Compose(v, chat.Frame{})
	}
	if got := told(ana, "en"); !strings.Contains(got, "a role that you do not have") || !strings.Contains(got, say) || !strings.Contains(got, "payroll / people:admin") || strings.Contains(got, "equests time off") {
		t.Errorf("ana is told\n%s", got)
	}
	if got := told(ana, "pt"); !strings.Contains(got, "um papel que você não tem") {
		t.Errorf("in Portuguese\n%s", got)
	}
	elsewhere, reader := ana, ana
	elsewhere.ID, elsewhere.Scopes = "eve", access.Scopes{Domains: []string{"other"}}
	reader.ID, reader.Scopes = "rea", access.Scopes{Classes: []contracts.SideEffectClass{contracts.ClassRead}}
	for _, who := range []access.Principal{elsewhere, reader} {
		if got := told(who, "en"); strings.Contains(got, "payroll") {
			t.Errorf("a key that does not reach it is told\n%s", got)
		}
	}
	holds := ana
	holds.ID, holds.Roles = "pay", append(slices.Clone(ana.Roles), "payroll")
	if got := told(holds, "en"); strings.Contains(got, "payroll") {
		t.Errorf("who has the role is told\n%s", got)
	}
}
