package gateview_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

func TestASheetShowsWordsAndNoDigests(t *testing.T) {
	t.Parallel()
	digest, id := strings.Repeat("4cb6b6a4", 8), "a1c18954e9ac385ae2b4797f57984d89"
	gate := contracts.Interrupt{
		Prompt: "Create chatflow in Flowise? name: Greeter",
		Evidence: []contracts.EvidenceItem{
			{NodeID: "n2", Path: "worker.value", Value: id},
			{NodeID: "n2", Path: "worker.label", Value: "Ana Souza"},
			{NodeID: "n4", Path: "graph.value", Value: digest},
			{NodeID: "n4", Path: "graph.label", Value: "from the starter reply"},
			{NodeID: "n6", Path: "credential.value", Value: ""},
			{NodeID: "n6", Path: "credential.label", Value: "none to choose"},
		},
		Action: &contracts.Action{
			Parameters: map[string]any{"worker_id": id, "graph_sha256": digest, "base_sha256": "sha256:" + digest, "name": "Greeter", "credential": "", "note": ""},
			Utterance:  &contracts.Utterance{Values: map[string]contracts.Provenance{"credential": contracts.FromLookup}},
		},
	}
	want := []gateview.Row{
		{Parameter: "graph_sha256", Name: "graph", Value: digest, Label: "from the starter reply", Opaque: true},
		{Parameter: "name", Name: "name", Value: "Greeter"},
		{Parameter: "note", Name: "note", Value: ""},
		{Parameter: "worker_id", Name: "worker", Value: id, Label: "Ana Souza", Opaque: true},
	}
	if diff := cmp.Diff(want, gateview.Of(gate)); diff != "" {
		t.Error(diff)
	}
	if got := gateview.Asks(gate); got != "Create chatflow in Flowise?" {
		t.Errorf("it asks %q", got)
	}
}

func TestWhatIsADigest(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		strings.Repeat("a", 64): true, "sha256:" + strings.Repeat("0", 64): true, strings.Repeat("A1", 20): true,
		strings.Repeat("x", 64): false, "a1c18954e9ac385ae2b4797f57984d89": false, "": false, "shoes: " + strings.Repeat("a", 3): false,
	} {
		if got := gateview.IsDigest(value); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
	if gateview.IsDigest(64) {
		t.Error("a number is no digest")
	}
}
