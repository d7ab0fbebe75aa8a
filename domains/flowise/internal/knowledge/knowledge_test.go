package knowledge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

func shipped(t *testing.T) *knowledge.Snapshot {
	t.Helper()
	s, err := knowledge.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestShippedSnapshotIsOfARealServer(t *testing.T) {
	t.Parallel()
	s := shipped(t)
	if got := s.Flowise(); got != "3.1.1" {
		t.Errorf("Flowise() = %q, want 3.1.1", got)
	}
	if got := len(s.Names()); got != 298 {
		t.Errorf("%d nodes, want 298", got)
	}
	agent, ok := s.Node("toolAgent")
	if !ok {
		t.Fatal("toolAgent is unknown")
	}
	tools, _ := agent.Input("tools")
	prompt, _ := agent.Input("systemMessage")
	if !tools.IsAnchor() || !tools.List || prompt.IsAnchor() || !prompt.Optional {
		t.Errorf("toolAgent: tools %+v, systemMessage %+v", tools, prompt)
	}
	if string(prompt.Default) != `"You are a helpful AI assistant."` {
		t.Errorf("default of systemMessage = %s", prompt.Default)
	}
	store, _ := s.Node("memoryVectorStore")
	if len(store.Outputs) != 2 || store.Outputs[0].Name != "retriever" {
		t.Errorf("outputs of memoryVectorStore = %+v", store.Outputs)
	}
}

func TestShippedSnapshotIsEncodedAsItWouldBeAgain(t *testing.T) {
	t.Parallel()
	s := shipped(t)
	encoded, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := knowledge.Parse(encoded)
	if err != nil {
		t.Fatal(err)
	}
	repeated, err := again.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(encoded) != string(repeated) || s.Fingerprint() != again.Fingerprint() {
		t.Error("encoding twice gives two results")
	}
	for _, key := range []string{`"filePath":`, `"icon":`, `"placeholder":`, `"codeExample":`} {
		if strings.Contains(string(encoded), key) {
			t.Errorf("the snapshot holds %s", key)
		}
	}
}

func TestDerivedNodeKeepsFactsAndDropsProse(t *testing.T) {
	t.Parallel()
	d, err := knowledge.DeriveNode(json.RawMessage(`{
		"loadMethods": {}, "label": "X", "name": "x", "version": 1.5, "type": "X", "category": "C",
		"icon": "/srv/x.svg", "filePath": "/srv/x.js", "description": "prose", "baseClasses": ["X"],
		"credential": {"label": "Key", "name": "credential", "type": "credential", "credentialNames": ["k"], "description": "prose"},
		"inputs": [
			{"label": "P", "name": "p", "type": "string", "placeholder": "prose", "default": {"description": "a value"}, "future": 1},
			{"label": "A", "name": "a", "type": "array", "optional": {"p": "y"}, "array": [{"label": "I", "name": "i", "type": "Tool", "hint": "prose"}]}
		]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"label":"X","name":"x","version":1.5,"type":"X","category":"C","baseClasses":["X"],` +
		`"credential":{"label":"Key","name":"credential","type":"credential","credentialNames":["k"]},` +
		`"inputs":[{"label":"P","name":"p","type":"string","default":{"description":"a value"},"future":1},` +
		`{"label":"A","name":"a","type":"array","optional":{"p":"y"},"array":[{"label":"I","name":"i","type":"Tool"}]}]}`
	if diff := cmp.Diff(want, string(d.Raw)); diff != "" {
		t.Errorf("Raw (-want +got):\n%s", diff)
	}
	if got := string(d.Inputs[0].Raw); !strings.HasSuffix(got, `"future":1}`) {
		t.Errorf("Raw of the parameter = %s, want what the server added too", got)
	}
	if d.Inputs[0].Optional || !d.Inputs[1].Optional || !d.Inputs[1].Array[0].IsAnchor() {
		t.Errorf("inputs = %+v", d.Inputs)
	}
}

func TestFingerprintFollowsContentOnly(t *testing.T) {
	t.Parallel()
	derive := func(nodes ...string) *knowledge.Snapshot {
		raw := make([]json.RawMessage, len(nodes))
		for i, n := range nodes {
			raw[i] = json.RawMessage(n)
		}
		s, err := knowledge.Derive("1", raw)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := derive(`{"name":"a","version":1}`, `{"name":"b","version":1}`)
	if got := derive(`{"version":1,"name":"b","icon":"i"}`, `{"name":"a","version":1.0}`); got.Fingerprint() != base.Fingerprint() {
		t.Error("order, prose and spelling of numbers change the fingerprint")
	}
	newer, err := knowledge.DeriveNode(json.RawMessage(`{"name":"b","version":2}`))
	if err != nil {
		t.Fatal(err)
	}
	repaired, err := base.With(newer)
	if err != nil {
		t.Fatal(err)
	}
	if repaired.Fingerprint() == base.Fingerprint() {
		t.Error("a new version keeps the fingerprint")
	}
	if b, _ := base.Node("b"); b.Version != 1 {
		t.Error("With changes the snapshot it was called on")
	}
}

func TestBrokenSnapshotsAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		encoded string
		want    contracts.Code
	}{
		"empty":              {"", contracts.CodeInvalid},
		"of another format":  {`{"format":2}`, contracts.CodeUnsupported},
		"with a broken line": {"{\"format\":1}\n{\"name\":", contracts.CodeInvalid},
		"with a list":        {"{\"format\":1}\n[1]", contracts.CodeInvalid},
		"with a broken type": {"{\"format\":1}\n{\"name\":7}", contracts.CodeInvalid},
		"without a name":     {"{\"format\":1}\n{\"label\":\"A\"}", contracts.CodeInvalid},
		"with a node twice":  {"{\"format\":1}\n{\"name\":\"a\"}\n{\"name\":\"a\"}", contracts.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := knowledge.Parse([]byte(tc.encoded)); contracts.CodeOf(err) != tc.want {
				t.Errorf("Parse = %v, want code %s", err, tc.want)
			}
		})
	}
}
