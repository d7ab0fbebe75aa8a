package e2e_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// TestAlikeChatflowsAreDeletedEachBehindItsGate: a sentence that means several chatflows is one
// plan with a gate for each, which names it; what is rejected stays. All chatflows that
// there are is nothing that a sentence can mean.
func TestAlikeChatflowsAreDeletedEachBehindItsGate(t *testing.T) {
	t.Parallel()
	onEachFlowise(t, func(t *testing.T, s *site) {
		folder := "Attic " + rand.Text()[:6] // the real server may be shared
		names := []string{"One of " + folder, "Two of " + folder, "Three of " + folder}
		for _, name := range names {
			s.approved(`create a chatflow called "` + name + `" in the folder "` + folder + `" that replies "Hi"`)
		}
		if gate, said := s.stopsAt(`delete all chatflows`); gate != nil {
			t.Errorf("all chatflows: a gate for %s: %s", asJSON(gate.Action), said)
		}
		r := s.ask(`delete all chatflows in the folder "` + folder + `"`)
		if len(r.RunIDs) == 0 {
			t.Fatalf("no run: %s", asJSON(r))
		}
		for _, gate := range s.gates(r.RunIDs[0], len(names)) {
			shown := gate.Prompt + asJSON(gate.Evidence) + asJSON(gate.Action)
			if !strings.Contains(gate.Prompt, " of "+folder) || gate.Action.Capability != "flowise.delete_chatflow" {
				t.Errorf("the gate does not say which: %s", shown)
			}
			if !strings.Contains(shown, names[2]) {
				s.approve(gate)
				continue
			}
			if _, err := s.otto.Reject(t.Context(), gate, "it is used", client.Opt{}); err != nil {
				t.Fatal(err)
			}
		}
		view := s.ended(r.RunIDs[0])
		session, err := s.rita.AwaitSession(t.Context(), r.SessionID)
		if err != nil || view.State != contracts.RunRejected || !strings.Contains(textOf(session.Answer), "2 of 3 chatflows deleted") {
			t.Errorf("%s, %v: %s\n%s", view.State, err, textOf(session.Answer), states2text(view))
		}
		s.sound(view)
		left := s.told(`list the chatflows in the folder "` + folder + `"`)
		if !strings.Contains(left, names[2]) || strings.Contains(left, names[0]) || strings.Contains(left, names[1]) {
			t.Errorf("left is %s", left)
		}
		s.approved(`delete the chatflow "` + names[2] + `"`)
	})
}
