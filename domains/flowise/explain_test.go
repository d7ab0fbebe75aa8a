package flowise_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise"
)

// TestAFlowIsExplainedByItsParts by name; so are flows in a list by a part that they use.
func TestAFlowIsExplainedByItsParts(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		key, _ := b.newCredential("openAIApi")
		name := "Explained " + rand.Text()
		id := text(b.facts("create_chatflow", object{"name": name, "ops": chatOps(key)}, in{key: rand.Text()})["chatflow_id"])
		said := text(b.facts("explain_chatflow", object{"chatflow_id": id}, in{})["text"])
		for _, part := range []string{"Tool Agent", "gpt-4o", "Be helpful", "Calculator", "Buffer Memory"} {
			if !strings.Contains(said, part) {
				t.Errorf("%q does not name %s", said, part)
			}
		}
		if facts := b.facts("get_chatflow", object{"chatflow_id": id}, in{}); !strings.Contains(text(facts["does"]), "Tool Agent") {
			t.Errorf("get_chatflow says %v", facts["does"])
		}
		for uses, want := range map[string]bool{"memory": true, "calculator": true, "gpt-4o": true, "Pinecone": false} {
			found := strings.Contains(b.execute("list_chatflows", object{"uses": uses, "query": name}, in{}).Summary, name)
			if found != want {
				t.Errorf("that it uses %s: %v", uses, found)
			}
		}
	})
}

// TestAFlowThatDoesNotAnswerIsDiagnosedAndMended: cause, place, fix, and the automatic fix if no
// input is needed.
func TestAFlowThatDoesNotAnswerIsDiagnosedAndMended(t *testing.T) {
	t.Parallel()
	b := setup(t)
	broken := append(chatOps("")[:4:4], chatOps("")[5:]...)
	made := b.execute("compile_flow", object{"ops": broken, "type": "CHATFLOW"}, in{})
	id := b.server.AddFlow("Broken", "CHATFLOW", b.graph(made))
	found := b.facts("diagnose_chatflow", object{"chatflow_id": id}, in{})
	causes, _ := found["causes"].([]any)
	first, _ := causes[0].(object)
	if found["valid"] != false || first["where"] != "chatOpenAI_0" || first["category"] != "CREDENTIAL" || first["fix"] == "" {
		t.Fatalf("%v", found)
	}
	b.refused("repair_chatflow", object{"chatflow_id": id, "base_sha256": strings.Repeat("0", 64)}, in{key: "stale"})
	if refusal := b.refused("propose", object{"write": "repair_chatflow", "parameters": object{"chatflow_id": id}}, in{}); !strings.Contains(refusal.Message, "credential") {
		t.Errorf("without a credential: %v", refusal)
	}
	b.newCredential("openAIApi")
	shown := b.proposed("repair_chatflow", object{"chatflow_id": id})
	b.facts("repair_chatflow", object{"chatflow_id": id, "base_sha256": shown["base_sha256"]}, in{key: "mend"})
	if after := b.facts("diagnose_chatflow", object{"chatflow_id": id}, in{}); after["valid"] != true {
		t.Errorf("after mending: %v", after)
	}
	// A flow that answers is reported as such.
	if well := b.facts("diagnose_chatflow", object{"chatflow_id": b.create("Well", "Pong")}, in{}); well["answers"] != true {
		t.Errorf("%v", well)
	}
}

// TestAMissingConnectionIsMended: if only one node is suitable, no input is needed, and the
// diagnosis has the op.
func TestAMissingConnectionIsMended(t *testing.T) {
	t.Parallel()
	b := setup(t)
	credential, _ := b.newCredential("openAIApi")
	without := append(chatOps(credential)[:6:6], chatOps(credential)[7:]...) // the memory is not connected
	made := b.execute("compile_flow", object{"ops": without, "type": "CHATFLOW"}, in{})
	id := b.server.AddFlow("Apart", "CHATFLOW", b.graph(made))
	found := b.facts("diagnose_chatflow", object{"chatflow_id": id}, in{})
	causes, _ := found["causes"].([]any)
	first, _ := causes[0].(object)
	ops, _ := first["ops"].([]any)
	if found["valid"] != false || len(ops) != 1 || !strings.Contains(text(found["verdict"]), "repair the chatflow") {
		t.Fatalf("%v", found)
	}
	if op, _ := ops[0].(object); op["op_type"] != "Connect" || op["source_node_id"] != "bufferMemory_0" || op["target_node_id"] != "toolAgent_0" {
		t.Errorf("%v", op)
	}
	shown := b.proposed("repair_chatflow", object{"chatflow_id": id})
	b.facts("repair_chatflow", object{"chatflow_id": id, "base_sha256": shown["base_sha256"]}, in{key: "mend"})
	if after := b.facts("diagnose_chatflow", object{"chatflow_id": id}, in{}); after["valid"] != true {
		t.Errorf("after mending: %v", after)
	}
}

// TestHealthShowsNoKeyThatAServerRepeats: health is public.
func TestHealthShowsNoKeyThatAServerRepeats(t *testing.T) {
	t.Parallel()
	const secret = "sk-proj-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA"
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"statusCode":400,"message":"no such key: Bearer ` + secret + `"}`))
	}))
	t.Cleanup(front.Close)
	b := setup(t)
	b.config.Instances = []flowise.Instance{{ID: "dev", Endpoint: front.URL, APIKey: "k"}}
	svc, err := flowise.New(b.config)
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range svc.Health(t.Context()).Checks {
		if strings.Contains(check.Detail, secret) {
			t.Errorf("%s: %s", name, check.Detail)
		}
	}
}
