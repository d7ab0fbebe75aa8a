package executiontest

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func gate(id, code string) contracts.Interrupt {
	return contracts.Interrupt{
		InterruptID: id, Code: code, Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen,
		SessionID: "session of r1", RunID: "r1", NodeID: "n1", Prompt: "Change it?", ActionSHA256: "hash of " + id,
		Action:    &contracts.Action{Capability: "alpha.change", Parameters: map[string]any{"to": "blue"}},
		CreatedAt: day(), Requesters: []string{"ana"}, Quorum: 1,
	}
}

func intent(run, node string, n int) execution.Intent {
	key := fmt.Sprintf("%s/%s/%d", run, node, n)
	return execution.Intent{
		RunID: run, NodeID: node, N: n, Key: key, Nonce: "nonce of " + key, Capability: "alpha.change",
		Parameters: []byte(`{"to":"blue"}`), Principal: contracts.Principal{ID: "ana"}, Deadline: day(), CreatedAt: day(),
	}
}
