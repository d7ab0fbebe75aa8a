package flowise_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// object is a JSON object.
type object = map[string]any

// exampleID is the chatflow that the manifest's examples refer to.
const exampleID = "7d4f0c1e-2b3a-4c5d-8e6f-0a1b2c3d4e5f"

// bench is a server with the domain in front of it, both over HTTP.
type bench struct {
	*testing.T
	server *sandbox.Server // nil for a real server
	base   string
	key    string
	config flowise.Config
	url    string
	// bases are the hashes to which changes were bound, by capability and key.
	bases map[string]string
}

// setup serves the domain for an in-memory server, with its data in files.
func setup(t *testing.T) *bench {
	t.Helper()
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	b := &bench{T: t, server: server, base: front.URL, key: server.Key()}
	b.open()
	return b
}

// real serves the domain for the server in the environment, if any.
func real(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, base: os.Getenv("FLOWISE_URL"), key: os.Getenv("FLOWISE_KEY")}
	if b.base == "" && os.Getenv("REQUIRE_FLOWISE") == "1" {
		t.Fatal("REQUIRE_FLOWISE is set, but FLOWISE_URL is not")
	}
	if b.base == "" {
		t.Skip("FLOWISE_URL names no server")
	}
	b.open()
	return b
}

func (b *bench) open() {
	b.Helper()
	dir := b.TempDir()
	data, err := flowise.OpenData(b.Context(), filepath.Join(dir, "data.db"))
	if err != nil {
		b.Fatal(err)
	}
	keys, err := sqlitestore.Open(b.Context(), filepath.Join(dir, "keys.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = data.Close(), keys.Close() })
	b.bases = map[string]string{}
	b.config = flowise.Config{
		Instances: []flowise.Instance{{ID: "dev", Endpoint: b.base, APIKey: b.key}}, Data: data, Keys: keys,
		BackoffMin: time.Millisecond, BackoffMax: 4 * time.Millisecond,
	}
	b.restart()
}

// restart serves the domain again, like a new process without the old memory.
func (b *bench) restart() {
	b.Helper()
	svc, err := flowise.New(b.config)
	if err != nil {
		b.Fatal(err)
	}
	b.url = domaintest.Serve(b, svc)
}

// direct calls the server directly, like a user of Flowise.
func (b *bench) direct(method, path string, body, out any) {
	b.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.Context(), method, b.base+"/api/v1"+path, bytes.NewReader(raw))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+b.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(out); err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s %s: %d %v", method, path, res.StatusCode, err)
	}
}

// in are the run and the idempotency key of a call.
type in struct{ run, key, instance string }

// execute calls a capability; only writes use the key.
//
// A change is bound to the current flow unless the test gives a base; a retry is bound to the base
// of the first call.
func (b *bench) execute(capability string, parameters object, at in) contracts.ToolResult {
	b.Helper()
	if _, says := parameters["base_sha256"]; !says && changes(capability) {
		parameters = maps.Clone(parameters)
		parameters["base_sha256"] = b.baseFor(capability, text(parameters["chatflow_id"]), at)
	}
	_, out := domaintest.Execute(b, b.url, capability, parameters, object{
		"run_id": cmp.Or(at.run, "run"), "node_id": "node", "attempt": 1, "idempotency_key": at.key, "instance": at.instance,
	})
	return out
}

// changes reports whether a capability changes an existing flow.
func changes(capability string) bool {
	return slices.Contains([]string{
		"apply_patch", "rename_chatflow", "rollback_chatflow", "delete_chatflow", "deploy_chatflow", "set_category",
		"set_model", "set_temperature", "set_prompt", "set_memory", "remove_memory", "add_tool", "remove_tool", "set_source",
		"add_moderation", "replace_node", "set_parameter", "copy_setting", "set_reply", "set_credential", "extend_prompt",
	}, capability)
}

// baseFor returns the base of a change.
func (b *bench) baseFor(capability, id string, at in) string {
	b.Helper()
	key := capability + " " + at.key
	if base, again := b.bases[key]; again {
		return base
	}
	out := b.execute("get_chatflow", object{"chatflow_id": id}, in{instance: at.instance})
	base := strings.Repeat("0", 64) // for a missing flow
	if out.OK {
		base = text(out.Facts["state_sha256"])
	}
	b.bases[key] = base
	return base
}

// facts calls a capability that must succeed.
func (b *bench) facts(capability string, parameters object, at in) object {
	b.Helper()
	out := b.execute(capability, parameters, at)
	if !out.OK {
		b.Fatalf("%s %v: %v %v", capability, parameters, out.Error, out.Error.Detail)
	}
	return out.Facts
}

// refused calls a capability that must be refused, without effect.
func (b *bench) refused(capability string, parameters object, at in) *contracts.ToolError {
	b.Helper()
	out := b.execute(capability, parameters, at)
	if out.OK || out.Error.EffectOf() != contracts.EffectNone {
		b.Fatalf("%s %v: %s %v", capability, parameters, out.Summary, out.Error)
	}
	return out.Error
}

// graph returns the artifact that holds a graph.
func (b *bench) graph(r contracts.ToolResult) string {
	b.Helper()
	var text string
	if err := json.Unmarshal(r.Artifacts["flow_data"], &text); err != nil {
		b.Fatalf("no graph: %v %v", err, r.Error)
	}
	return text
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// replyOps builds an agent flow that replies with a text.
func replyOps(reply string) []object {
	return []object{
		{"op_type": "AddNode", "node_name": "startAgentflow", "node_id": "startAgentflow_0"},
		{"op_type": "AddNode", "node_name": "directReplyAgentflow", "node_id": "directReplyAgentflow_0", "params": object{"directReplyMessage": reply}},
		{"op_type": "Connect", "source_node_id": "startAgentflow_0", "target_node_id": "directReplyAgentflow_0"},
	}
}

// setReply changes the reply of such a flow.
func setReply(reply string) []object {
	return []object{{"op_type": "SetParam", "node_id": "directReplyAgentflow_0", "param_name": "directReplyMessage", "value": reply}}
}
