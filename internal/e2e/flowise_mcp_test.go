package e2e_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise/flowisetest"
	"github.com/manifold-run/manifold/examples/finance"
)

// TestAFlowUsesManifoldAsAnMCPServer plays the flow of examples/flowise-mcp on a real
// Flowise: its agent reads, starts a run with a write, cannot approve it, and sees that
// it is done once a person has.
func TestAFlowUsesManifoldAsAnMCPServer(t *testing.T) {
	t.Parallel()
	endpoint, key := flowiseServers()["a real one"](t)
	s := startSite(t)
	prices, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.register(contracts.Registration{Domain: "finance", URL: domaintest.Serve(t, prices)})
	_, person := s.person("fay", "operator")
	f := flowWithManifold(t, endpoint, key, s.url, person)

	if got := f.uses("ask", `{"message": "what is the price of Apple?"}`); !strings.Contains(got, "AAPL") {
		t.Errorf("the read: %s", got)
	}
	started := f.uses("run_start", `{"goal": "set a price alert for AAPL at 350"}`)
	run := regexp.MustCompile(`run_[0-9a-z]{10,}`).FindString(started)
	if run == "" || !strings.Contains(started, "approve") {
		t.Fatalf("the write: %s", started)
	}
	gate := s.gates(run, 1)[0]
	if !strings.Contains(started, gate.Code) {
		t.Errorf("the code %s is not told: %s", gate.Code, started)
	}
	f.uses("ask", `{"message": "approve `+gate.Code+`"}`) // words decide nothing here
	if got := f.uses("run_status", `{"run_id": "`+run+`"}`); !strings.Contains(got, "awaiting_approval") {
		t.Errorf("before the approval: %s", got)
	}
	s.approve(gate)
	s.ended(run)
	if got := f.uses("run_status", `{"run_id": "`+run+`"}`); !strings.Contains(got, "completed") {
		t.Errorf("after the approval: %s", got)
	}
	if got := f.uses("ask", `{"message": "list my price alerts"}`); !strings.Contains(got, "350") {
		t.Errorf("what was done: %s", got)
	}
}

// mcpFlow is a flow on a Flowise whose model does what it is told.
type mcpFlow struct {
	t             *testing.T
	endpoint, key string
	id            string
}

// flowWithManifold imports the flow as its README says: with an address, a key in a variable,
// and the credential of a model.
func flowWithManifold(t *testing.T, endpoint, key, manifold, person string) mcpFlow {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "examples", "flowise-mcp", "chatflow.json"))
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(&flowisetest.OpenAI{})
	t.Cleanup(model.Close)
	f := mcpFlow{t: t, endpoint: endpoint, key: key}
	variable := "manifoldkey" + strings.ToLower(rand.Text()[:8]) // the server may be shared
	f.removed("/variables/", f.post("/variables", map[string]any{"name": variable, "value": person, "type": "static"}))
	credential := f.post("/credentials", map[string]any{"name": variable, "credentialName": "openAIApi", "plainDataObj": map[string]any{"openAIApiKey": "sk-1"}})
	f.removed("/credentials/", credential)
	var flow map[string]any
	text := strings.NewReplacer("http://127.0.0.1:8080", manifold, "$vars.manifoldkey", "$vars."+variable).Replace(string(raw))
	if err := json.Unmarshal([]byte(text), &flow); err != nil {
		t.Fatal(err)
	}
	for _, n := range flow["nodes"].([]any) {
		data := n.(map[string]any)["data"].(map[string]any)
		if data["name"] == "chatOpenAI" {
			data["credential"] = credential
			data["inputs"].(map[string]any)["basepath"] = model.URL + "/v1"
		}
	}
	f.id = f.post("/chatflows", map[string]any{"name": "Desk " + variable, "type": "CHATFLOW", "flowData": asJSON(flow)})
	f.removed("/chatflows/", f.id)
	return f
}

// uses has the agent use a tool, and gives what the tool said.
func (f mcpFlow) uses(tool, arguments string) string {
	f.t.Helper()
	var said struct {
		Text      string `json:"text"`
		UsedTools []struct {
			Tool       string `json:"tool"`
			ToolOutput string `json:"toolOutput"`
		} `json:"usedTools"`
	}
	f.call(http.MethodPost, "/prediction/"+f.id, map[string]any{"question": "USE_TOOL " + tool + " " + arguments}, &said)
	if len(said.UsedTools) != 1 || said.UsedTools[0].Tool != tool {
		f.t.Fatalf("%s %s: it used %+v and says %s", tool, arguments, said.UsedTools, said.Text)
	}
	return said.UsedTools[0].ToolOutput
}

func (f mcpFlow) post(path string, body any) (id string) {
	f.t.Helper()
	var row struct{ ID string }
	f.call(http.MethodPost, path, body, &row)
	return row.ID
}

func (f mcpFlow) removed(path, id string) {
	f.t.Cleanup(func() {
		if req, err := http.NewRequest(http.MethodDelete, f.endpoint+"/api/v1"+path+id, nil); err == nil {
			req.Header.Set("Authorization", "Bearer "+f.key)
			if res, err := http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
			}
		}
	})
}

func (f mcpFlow) call(method, path string, body, out any) {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.endpoint+"/api/v1"+path, bytes.NewReader([]byte(asJSON(body))))
	if err != nil {
		f.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close() // it was only read
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(raw, out) != nil {
		f.t.Fatalf("%s %s: %s %v: %s", method, path, res.Status, err, raw)
	}
}
