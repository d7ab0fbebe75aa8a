package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
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
