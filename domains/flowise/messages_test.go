package flowise_test

import (
	"crypto/rand"
	"testing"
)

// TestMessagesAreDeletedAndTheFlowStays: messages up to the reviewed one are deleted; later ones
// and the flow stay.
func TestMessagesAreDeletedAndTheFlowStays(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Messages "+rand.Text(), "Pong")
		if refusal := b.refused("count_messages", object{"chatflow_id": id, "some": true}, in{}); refusal.Type != "precondition" {
			t.Errorf("nothing to delete: %v", refusal)
		}
		b.facts("predict_chatflow", object{"chatflow_id": id, "question": "first"}, in{})
		counted := b.facts("count_messages", object{"chatflow_id": id}, in{})
		matches, _ := counted["matches"].([]any)
		if counted["count"] != 2.0 || len(matches) != 1 {
			t.Fatalf("counted %v", counted)
		}
		until := text(matches[0].(object)["value"])
		if list := b.facts("list_conversations", object{"chatflow_id": id}, in{}); list["total"] != 2.0 || list["chats"] != 1.0 {
			t.Errorf("listed %v", list)
		}
		before := b.facts("get_chatflow", object{"chatflow_id": id}, in{})["state_sha256"]
		b.refused("delete_messages", object{"chatflow_id": id, "which": "all"}, in{key: "all" + id})
		done := b.facts("delete_messages", object{"chatflow_id": id, "which": "all", "until": until}, in{key: "some" + id})
		if done["deleted"] != 2.0 {
			t.Errorf("deleted %v", done)
		}
		if left := b.facts("count_messages", object{"chatflow_id": id}, in{}); left["count"] != 0.0 {
			t.Errorf("left %v", left)
		}
		if after := b.facts("get_chatflow", object{"chatflow_id": id}, in{})["state_sha256"]; after != before {
			t.Error("the flow itself was changed")
		}
		// Messages after the reviewed one stay.
		b.facts("predict_chatflow", object{"chatflow_id": id, "question": "second"}, in{})
		b.facts("delete_messages", object{"chatflow_id": id, "which": "all", "until": "2020-01-01T00:00:00.000Z"}, in{key: "old" + id})
		if left := b.facts("count_messages", object{"chatflow_id": id}, in{}); left["count"] != 2.0 {
			t.Errorf("a later message is gone: %v", left)
		}
	})
}
