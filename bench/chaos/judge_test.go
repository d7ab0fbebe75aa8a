package main

import (
	"net/http"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// TestTheJudgeSeesWhatIsWrong simulates violations.
func TestTheJudgeSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	vault := newVault(1)
	t.Cleanup(vault.server.Close)
	write := func(capability, key, digest string) {
		vault.do(contracts.ExecuteRequest{
			Capability: capability, Parameters: map[string]any{"id": "x", "value": "1"},
			Context: contracts.ExecuteContext{IdempotencyKey: key, CapabilityDigest: digest},
		})
	}
	vault.approve("r1", "n1", "first")
	vault.approve("r1", "n2", "first")
	vault.approve("r1", "n3", "first")
	vault.approve("r1", "n6", "first")
	write("put_keyed", "r1/n1/1", "first")
	write("put_keyed", "r1/n1/1", "first") // recognised: applied once
	write("put_plain", "r1/n2/1", "first")
	write("put_plain", "r1/n2/1", "first")  // twice
	write("put_plain", "r1/n6/1", "second") // approved under the previous edition
	write("put_plain", "r1/n4/1", "first")  // nobody approved it
	var v verdict
	v.effects(vault, contracts.RunView{RunID: "r1", Nodes: []contracts.NodeView{
		{Node: contracts.Node{NodeID: "n1", Tool: "vault.put_keyed"}, State: contracts.NodeCompleted},
		{Node: contracts.Node{NodeID: "n2", Tool: "vault.put_plain"}, State: contracts.NodeCompleted},
		{Node: contracts.Node{NodeID: "n3", Tool: "vault.put_plain"}, State: contracts.NodeCompleted}, // reports completed, without an effect
		{Node: contracts.Node{NodeID: "n5", Tool: "vault.peek"}, State: contracts.NodeCompleted},
	}})
	if v.writes != 3 || len(v.twice) != 1 || len(v.missing) != 1 || len(vault.wild) != 2 {
		t.Errorf("%d writes, twice %v, missing %v, unapproved %v", v.writes, v.twice, v.missing, vault.wild)
	}
}

// TestAReadThatTheDomainFailsEachTimeEndsItsRun checks that such a run is no fault of the servers;
// a failed write is, and a read that was tried only once.
func TestAReadThatTheDomainFailsEachTimeEndsItsRun(t *testing.T) {
	t.Parallel()
	failed := func(tool string, tries int, kind string) contracts.RunView {
		return contracts.RunView{Nodes: []contracts.NodeView{
			{Node: contracts.Node{NodeID: "n1", Tool: "vault.peek"}, State: contracts.NodeCompleted},
			{Node: contracts.Node{NodeID: "n2", Tool: tool}, State: contracts.NodeFailed, Attempts: tries, Error: &contracts.ToolError{Type: kind}},
		}}
	}
	for name, test := range map[string]struct {
		view contracts.RunView
		want bool
	}{
		"a read":                     {failed("vault.peek", 3, contracts.ErrUpstream), true},
		"a read that timed out":      {failed("vault.peek", 3, contracts.ErrTimeout), true},
		"a read that was tried once": {failed("vault.peek", 1, contracts.ErrUpstream), false},
		"a read that was refused":    {failed("vault.peek", 3, contracts.ErrPrecondition), false},
		"a write":                    {failed("vault.put_plain", 3, contracts.ErrUpstream), false},
		"nothing":                    {contracts.RunView{}, false},
	} {
		if got := readsFailed(test.view); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestTheManifestHasItsWorkflows checks that the manifest has everything that its workflows use.
func TestTheManifestHasItsWorkflows(t *testing.T) {
	t.Parallel()
	one, two := manifest(1), manifest(2)
	if len(one.Workflows) != 2 || len(one.Workflows[0].Steps) != 4 || len(one.Workflows[1].Steps) != 5 || len(one.Workflows[1].Budgets) != 1 {
		t.Fatalf("workflows: %+v", one.Workflows)
	}
	if slices.Equal(one.Capabilities[2].Metadata.Locks, two.Capabilities[2].Metadata.Locks) {
		t.Error("an edition is as the one before")
	}
}

// TestACutWireEndsWhatGoesThroughIt also checks that a mended wire works again.
func TestACutWireEndsWhatGoesThroughIt(t *testing.T) {
	t.Parallel()
	vault := newVault(1)
	t.Cleanup(vault.server.Close)
	w, err := newWire(t.Context(), "tcp", vault.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.close() })
	get := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.address()+"/health", http.NoBody)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	w.sever()
	if err := get(); err == nil {
		t.Error("it was cut, and an answer came")
	}
	w.mend()
	if err := get(); err != nil {
		t.Error(err)
	}
}
