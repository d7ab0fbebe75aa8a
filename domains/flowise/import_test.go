package flowise_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withExports configures a folder with various exported files.
func (b *bench) withExports() {
	b.Helper()
	b.config.Folder = filepath.Join("testdata", "exports")
	b.restart()
}

// imported imports a file as proposed.
func (b *bench) imported(parameters object) object {
	b.Helper()
	shown := b.proposed("import_chatflow", parameters)
	with := object{"base_sha256": text(shown["base_sha256"]), "graph_sha256": shown["graph_sha256"]}
	maps.Copy(with, parameters)
	return b.facts("import_chatflow", with, in{key: "import " + b.Name() + text(shown["graph_sha256"]) + text(with["base_sha256"])})
}

// TestFilesOfEveryShapeAreImported: files of the canvas, the dashboard, the API and people become
// flows with their names, and answer.
func TestFilesOfEveryShapeAreImported(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		parameters object
		name       string
		kind       string
		answer     string
	}{
		"saved from the canvas":           {object{"file": "Welcome Agents.json"}, "Welcome", "AGENTFLOW", "Hello"},
		"dashboard of 3, an Agentflow":    {object{"file": "ExportData-3.json", "flow": "Greets"}, "Greets", "AGENTFLOW", "Hello"},
		"dashboard of 3, a Chatflow":      {object{"file": "ExportData-3.json", "flow": "echo"}, "Echo", "CHATFLOW", "echo: Hi"},
		"dashboard of 2":                  {object{"file": "ExportData-2.json"}, "Echo of 2", "CHATFLOW", "echo: Hi"},
		"database of 1":                   {object{"file": "database-1"}, "Echo of 1", "CHATFLOW", "echo: Hi"},
		"a row of the API":                {object{"file": "api-row.json"}, "Echo row", "CHATFLOW", "echo: Hi"},
		"a page of the API":               {object{"file": "api-page.json", "as": "Echo again"}, "Echo again", "CHATFLOW", "echo: Hi"},
		"a template with prose":           {object{"file": "Template.json"}, "Template", "AGENTFLOW", "Hello"},
		"by hand, only what has a name":   {object{"file": "handmade.json"}, "handmade", "AGENTFLOW", "By hand"},
		"the graph as text within a text": {object{"file": "flowData text.json"}, "flowData text", "AGENTFLOW", "Hello"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, b *bench) {
				t.Helper()
				b.withExports()
				if b.server == nil {
					tt.parameters["as"] = tt.name + " " + t.Name() // the server has flows of other tests
					tt.name = text(tt.parameters["as"])
				}
				made := b.imported(tt.parameters)
				now := b.facts("get_chatflow", object{"chatflow_id": made["chatflow_id"]}, in{})
				if now["name"] != tt.name || now["type"] != tt.kind {
					t.Errorf("it is %v, a %v", now["name"], now["type"])
				}
				answer := b.facts("predict_chatflow", object{"chatflow_id": made["chatflow_id"], "question": "Hi"}, in{})
				if answer["answer"] != tt.answer {
					t.Errorf("it answers %v", answer)
				}
			})
		})
	}
}

// TestAnImportSaysWhatIsMissing: an invalid file is refused before a gate, with what it is or with
// the fault of each node.
func TestAnImportSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.withExports()
	tests := map[string]struct {
		parameters object
		want       []string
	}{
		"a file that was cut off":       {object{"file": "cut.json"}, []string{"cut off", "line 1, column 260"}},
		"a custom tool":                 {object{"file": "tool.json"}, []string{`custom tool "get_weather"`}},
		"a flow of n8n":                 {object{"file": "n8n.json"}, []string{"flow of n8n"}},
		"a flow of Langflow":            {object{"file": "langflow.json"}, []string{"flow of Langflow"}},
		"an export without flows":       {object{"file": "tools only.json"}, []string{"no flow in the file", "1 of Tool"}},
		"several flows, none is named":  {object{"file": "ExportData-3.json"}, []string{"2 flows", `"Greets"`, `"Echo"`}},
		"a flow that is not among them": {object{"file": "ExportData-3.json", "flow": "Other"}, []string{`no flow called "Other"`, `"Echo"`}},
		"kinds that there are not":      {object{"file": "invented kinds.json"}, []string{`there is no kind of node "chatInput"`, "1: the node does not say which kind it is"}},
		"nodes of the old Agentflow":    {object{"file": "old in new.json"}, []string{"supervisor_0 is a supervisor, a node of the old Agentflow", "put a conditionAgentAgentflow"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := b.execute("propose", object{"write": "import_chatflow", "parameters": tt.parameters}, in{})
			if out.OK {
				t.Fatalf("it was proposed: %s", out.Summary)
			}
			for _, want := range tt.want {
				if !strings.Contains(out.Error.Message, want) {
					t.Errorf("%q does not say %q", out.Error.Message, want)
				}
			}
		})
	}
}

// TestAnImportFindsItsCredentials: exports have none. The only one of a type is bound; if there are
// several, the gate says so; and a second import keeps the binding that was made meanwhile.
func TestAnImportFindsItsCredentials(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.withExports()
	file := object{"file": "handmade chain.json"}
	if shown := b.proposed("import_chatflow", file); !strings.Contains(text(shown["does"]), "still open: chatOpenAI_0 needs a credential of type openAIApi") {
		t.Errorf("without a credential: %v", shown["does"])
	}
	first := b.server.AddCredential("Team", "openAIApi")
	made := b.imported(file)
	id := text(made["chatflow_id"])
	bound := func() string {
		var graph struct {
			Nodes []struct {
				Data struct{ Credential string }
			}
		}
		if err := json.Unmarshal([]byte(b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))), &graph); err != nil {
			t.Fatal(err)
		}
		return graph.Nodes[0].Data.Credential
	}
	if bound() != first {
		t.Fatalf("the only credential is not bound: %q", bound())
	}
	second := b.server.AddCredential("Other", "openAIApi")
	b.facts("apply_patch", object{"chatflow_id": id, "ops": []object{
		{"op_type": "BindCredential", "node_id": "chatOpenAI_0", "credential_id": second},
		{"op_type": "SetParam", "node_id": "chatOpenAI_0", "param_name": "temperature", "value": 0.1},
	}}, in{key: "other"})
	b.imported(file)
	if bound() != second {
		t.Errorf("the import took the credential away: %q", bound())
	}
}

// TestOldNodesInANewAgentflowAreDiagnosed: the diagnosis names the node and its replacement.
func TestOldNodesInANewAgentflowAreDiagnosed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	raw, err := os.ReadFile(filepath.Join("testdata", "exports", "old in new.json"))
	if err != nil {
		t.Fatal(err)
	}
	var export struct {
		AgentFlowV2 []struct{ Name, Type, FlowData string }
	}
	if err := json.Unmarshal(raw, &export); err != nil {
		t.Fatal(err)
	}
	var row struct{ ID string }
	one := export.AgentFlowV2[0]
	b.direct("POST", "/chatflows", object{"name": one.Name, "type": one.Type, "flowData": one.FlowData}, &row)
	found := b.facts("diagnose_chatflow", object{"chatflow_id": row.ID}, in{})
	if verdict := text(found["verdict"]); !strings.Contains(verdict, "supervisor_0") || !strings.Contains(verdict, "conditionAgentAgentflow") {
		t.Errorf("%v", found)
	}
}
