package flowise_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// withStaging adds a second server to the bench.
func (b *bench) withStaging() *sandbox.Server {
	b.Helper()
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		b.Fatal(err)
	}
	front := httptest.NewServer(server)
	b.Cleanup(front.Close)
	b.config.Instances[0].Default = true
	b.config.Instances = append(b.config.Instances, flowise.Instance{ID: "staging", Endpoint: front.URL, APIKey: server.Key()})
	b.restart()
	return server
}

// promote proposes a promotion and executes it as shown.
func (b *bench) promote(id, key string) object {
	b.Helper()
	shown := b.proposed("promote_chatflow", object{"chatflow_id": id, "to": "staging"})
	return b.facts("promote_chatflow", object{
		"chatflow_id": id, "to": "staging", "base_sha256": text(shown["base_sha256"]), "graph_sha256": shown["graph_sha256"],
	}, in{key: key})
}

// TestAPromotionMapsByNameAndIsBound: a flow is copied to another server with the credentials of
// the same names. Missing ones are named before the gate. A second promotion changes the existing
// copy, and an edit there between gate and write is not overwritten.
func TestAPromotionMapsByNameAndIsBound(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		staging := b.withStaging()
		here, called := b.newCredential("openAIApi")
		id := text(b.facts("create_chatflow", object{"name": "Promoted " + called, "ops": chatOps(here)}, in{key: "new" + called})["chatflow_id"])
		out := b.execute("propose", object{"write": "promote_chatflow", "parameters": object{"chatflow_id": id, "to": "staging"}}, in{})
		if out.OK || !strings.Contains(out.Error.Message, called) {
			t.Fatalf("a credential that is not there: %v", out)
		}
		staging.AddCredential("another", "openAIApi") // in-memory servers generate the same ids in the same order
		there := staging.AddCredential(called, "openAIApi")

		made := b.promote(id, "first"+id)
		if made["instance"] != "staging" || made["previous_version"] != "" {
			t.Fatalf("%v", made)
		}
		copied := text(made["chatflow_id"])
		graph := b.graph(b.execute("load_flow", object{"chatflow_id": copied}, in{instance: "staging"}))
		if !strings.Contains(graph, there) || strings.Contains(graph, here) {
			t.Error("it does not use the credential of the same name there")
		}
		out = b.execute("propose", object{"write": "promote_chatflow", "parameters": object{"chatflow_id": id, "to": "staging"}}, in{})
		if out.OK || !strings.Contains(out.Error.Message, "nothing would change") {
			t.Errorf("the same again: %v", out)
		}
		// A change here is promoted to the existing copy.
		b.facts("set_prompt", object{"chatflow_id": id, "prompt": "Be brief"}, in{key: "prompt" + id})
		shown := b.proposed("promote_chatflow", object{"chatflow_id": id, "to": "staging"})
		if lines := strings.Join(linesOf(shown), "; "); lines != "toolAgent_0.systemMessage: Be helpful → Be brief" {
			t.Errorf("it shows %q", lines)
		}
		parameters := object{"chatflow_id": id, "to": "staging", "base_sha256": text(shown["base_sha256"]), "graph_sha256": shown["graph_sha256"]}
		b.facts("apply_patch", object{"chatflow_id": copied, "ops": []object{{"op_type": "SetParam", "node_id": "chatOpenAI_0", "param_name": "temperature", "value": "0.1"}}},
			in{key: "there" + id, instance: "staging"})
		if refusal := b.refused("promote_chatflow", parameters, in{key: "stale" + id}); refusal.Type != "domain.concurrent_edit" {
			t.Errorf("an edit there: %v", refusal)
		}
		changed := b.promote(id, "second"+id)
		if changed["chatflow_id"] != copied || changed["previous_version"] == "" {
			t.Errorf("it made another flow: %v", changed)
		}
		// A changed flow is restored; a new one is deleted.
		b.facts("withdraw_chatflow", object{"chatflow_id": copied, "instance": "staging", "version": changed["previous_version"], "base_sha256": changed["sha256"]}, in{key: "back" + id})
		now := b.facts("get_chatflow", object{"chatflow_id": copied}, in{instance: "staging"})
		if graph := b.graph(b.execute("load_flow", object{"chatflow_id": copied}, in{instance: "staging"})); !strings.Contains(graph, "0.1") {
			t.Error("the promotion was not taken back")
		}
		b.facts("withdraw_chatflow", object{"chatflow_id": copied, "instance": "staging", "version": "", "base_sha256": now["sha256"]}, in{key: "gone" + id})
		if b.facts("find_chatflow", object{"chatflow_id": copied}, in{instance: "staging"})["found"] != false {
			t.Error("the new flow is still there")
		}
	})
}

// TestAPromotionNeedsTheVariablesThere: a variable missing on the other server is named before
// anything is written.
func TestAPromotionNeedsTheVariablesThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.withStaging()
	id := b.create("With a variable", "Hello from {{$vars.office}}")
	out := b.execute("propose", object{"write": "promote_chatflow", "parameters": object{"chatflow_id": id, "to": "staging"}}, in{})
	if out.OK || !strings.Contains(out.Error.Message, "staging has no variable office") {
		t.Errorf("%v", out)
	}
}
