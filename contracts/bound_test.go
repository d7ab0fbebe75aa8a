package contracts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// What a call is bound to is sent, and is no parameter that somebody asked for; an
// edit keeps it unless it names it.
func TestWhatACallIsBoundTo(t *testing.T) {
	t.Parallel()
	a := contracts.Action{Parameters: map[string]any{"page": "p-1"}, Bound: map[string]any{"seen_sha256": "00ff"}}
	if diff := cmp.Diff(map[string]any{"page": "p-1", "seen_sha256": "00ff"}, a.Sent()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"page": "p-2", "seen_sha256": "00ff"}, a.Edit(map[string]any{"page": "p-2"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"seen_sha256": "11ee"}, a.Edit(map[string]any{"seen_sha256": "11ee"})); diff != "" {
		t.Error(diff)
	}
	plain, err := contracts.Hash(contracts.Action{Parameters: map[string]any{"page": "p-1"}})
	if err != nil {
		t.Fatal(err)
	}
	if bound, err := contracts.Hash(a); err != nil || bound == plain {
		t.Errorf("the hash leaves out what the action is bound to: %s, %v", bound, err)
	}
}
