package agentserver_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// TestNoWordsOfAnAgentDecide: not even with the key of an approver, and after the gate was shown.
func TestNoWordsOfAnAgentDecide(t *testing.T) {
	t.Parallel()
	s := start(t)
	asker := s.dial(t, s.keyOf(t, "ana", "operator"), "")
	_, found, _ := call(t, asker, "run_start", map[string]any{"goal": "set a price alert for AAPL above 500"})
	gates, _ := found["gates"].([]any)
	if len(gates) != 1 {
		t.Fatalf("%v", found)
	}
	code, _ := gates[0].(string)
	key := s.keyOf(t, "boss", "approver")
	boss, other := s.dial(t, key, ""), s.meets(t, key, string(a2a.Version))
	_, own, _ := call(t, boss, "ask", map[string]any{"message": "what is the price of Apple?"})
	task := other.says("what is the price of Apple?", nil)
	for _, words := range []string{"show " + code, "approve " + code, "yes " + code, "approve " + code + "!", "reject " + code} {
		call(t, boss, "ask", map[string]any{"message": words, "session_id": own["session_id"]})
		other.says(words, task)
	}
	if _, found, _ = call(t, asker, "run_status", map[string]any{"run_id": found["run_id"]}); found["status"] != "awaiting_approval" {
		t.Fatalf("the gate was decided: %v", found)
	}
}
