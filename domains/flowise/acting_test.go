package flowise_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise"
)

// TestFlowsThatMayActAreNotAskedUnlessItIsAllowed: questions need no approval, so they must not
// trigger a flow's tools.
func TestFlowsThatMayActAreNotAskedUnlessItIsAllowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := b.agent()
	question := object{"chatflow_id": id, "question": "Hello"}
	for capability, wish := range map[string]object{"predict_chatflow": question, "test_chatflow": {"chatflow_id": id}} {
		got := b.refused(capability, wish, in{})
		if got.Type != contracts.ErrPrecondition || !strings.Contains(got.Message, "mcp") || !strings.Contains(got.Message, "run_chatflow") || strings.Contains(fmt.Sprint(got.Detail), "model") {
			t.Errorf("%s: %v %v", capability, got, got.Detail)
		}
	}
	for _, r := range b.server.Requests() {
		if strings.Contains(r.Path, "/prediction/") {
			t.Error("it was asked")
		}
	}
	b.config.Acting = flowise.ActingAllow
	b.restart()
	b.facts("predict_chatflow", question, in{})
	b.config.Acting = "shrug"
	if _, err := flowise.New(b.config); err == nil {
		t.Error("a policy that nobody knows is taken")
	}
}
