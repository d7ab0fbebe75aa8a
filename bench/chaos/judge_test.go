package main

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// TestTheJudgeSeesWhatIsWrong plays what must never happen.
func TestTheJudgeSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	vault := newVault(1)
	t.Cleanup(vault.server.Close)
	write := func(capability, key string) {
		vault.do(contracts.ExecuteRequest{
			Capability: capability, Parameters: map[string]any{"id": "x", "value": "1"},
			Context: contracts.ExecuteContext{IdempotencyKey: key},
		})
	}
	vault.approve("r1", "n1")
	vault.approve("r1", "n2")
	vault.approve("r1", "n3")
	write("put_keyed", "r1/n1/1")
	write("put_keyed", "r1/n1/1") // recognised: once
	write("put_plain", "r1/n2/1")
	write("put_plain", "r1/n2/1") // twice
	write("put_plain", "r1/n4/1") // nobody approved it
	var v verdict
	v.effects(vault, contracts.RunView{RunID: "r1", Nodes: []contracts.NodeView{
		{Node: contracts.Node{NodeID: "n1", Tool: "vault.put_keyed"}, State: contracts.NodeCompleted},
		{Node: contracts.Node{NodeID: "n2", Tool: "vault.put_plain"}, State: contracts.NodeCompleted},
		{Node: contracts.Node{NodeID: "n3", Tool: "vault.put_plain"}, State: contracts.NodeCompleted}, // says so, and did nothing
		{Node: contracts.Node{NodeID: "n5", Tool: "vault.peek"}, State: contracts.NodeCompleted},
	}})
	if v.writes != 3 || len(v.twice) != 1 || len(v.missing) != 1 || len(vault.wild) != 1 {
		t.Errorf("%d writes, twice %v, missing %v, unapproved %v", v.writes, v.twice, v.missing, vault.wild)
	}
}
