package e2e_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

var builtFlowise = sync.OnceValues(func() (string, error) {
	program := filepath.Join(tools, "flowise-domain")
	out, err := exec.Command("go", "build", raceFlag, "-o", program, "../../domains/flowise/cmd/flowise-domain").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build flowise-domain: %w\n%s", err, out)
	}
	return program, nil
})

// flowiseProgram is the program of the domain for one server, which can be killed
// and started again on its data.
type flowiseProgram struct {
	url  string
	args []string
	key  string
	cmd  *exec.Cmd // nil while it does not run
}

// flowiseDomain runs the program of the domain for one server, and returns its URL.
func flowiseDomain(t *testing.T, endpoint, key string) string {
	t.Helper()
	return newFlowiseProgram(t, endpoint, key).url
}

func newFlowiseProgram(t *testing.T, endpoint, key string, flags ...string) *flowiseProgram {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &flowiseProgram{url: "http://" + addr, key: key, args: append([]string{
		"--listen", addr, "--url", endpoint, "--data", filepath.Join(dir, "data.db"), "--keys", filepath.Join(dir, "keys.db"),
	}, flags...)}
	t.Cleanup(p.kill)
	if err := p.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// start runs the program until it is healthy. It may be called by any goroutine.
func (p *flowiseProgram) start(ctx context.Context) error {
	program, err := builtFlowise()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, p.args...)
	cmd.Env = append(os.Environ(), "FLOWISE_INSTANCES=", "FLOWISE_KEY="+p.key)
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd = cmd
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for ; ctx.Err() == nil; <-ticker.C {
		if p.healthy(ctx) {
			return nil
		}
	}
	return errors.New("the domain does not get healthy")
}

func (p *flowiseProgram) healthy(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/health", http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

// kill ends the program like a power cut would.
func (p *flowiseProgram) kill() {
	if p.cmd != nil {
		_, _ = p.cmd.Process.Kill(), p.cmd.Wait()
		p.cmd = nil
	}
}

// overHTTP makes one request; status 0 is no answer.
func overHTTP(t *testing.T, method, url, key, body string) (status int, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer
}

// exampleFlow makes what the examples of the manifest speak of: a chatflow with
// an earlier version, and a pattern.
func exampleFlow(t *testing.T, domain, endpoint, key string) {
	t.Helper()
	const id = "7d4f0c1e-2b3a-4c5d-8e6f-0a1b2c3d4e5f"
	execute := func(capability, parameters string) contracts.ToolResult {
		_, answer := overHTTP(t, http.MethodPost, domain+"/execute", "", `{"capability":"`+capability+`","parameters":`+parameters+
			`,"context":{"run_id":"run","node_id":"n","attempt":1,"idempotency_key":"`+rand.Text()+`"}}`)
		var out contracts.ToolResult
		if err := json.Unmarshal(answer, &out); err != nil || !out.OK {
			t.Fatalf("%s: %v %s", capability, err, answer)
		}
		return out
	}
	made := execute("compile_flow", `{"ops":[{"op_type":"AddNode","node_name":"startAgentflow"},
		{"op_type":"AddNode","node_name":"directReplyAgentflow","params":{"directReplyMessage":"Pong"}},
		{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"directReplyAgentflow_0"}]}`)
	body := `{"id":"` + id + `","name":"Support Bot","type":"AGENTFLOW","flowData":` + string(made.Artifacts["flow_data"]) + `}`
	if status, answer := overHTTP(t, http.MethodPost, endpoint+"/api/v1/chatflows", key, body); status != http.StatusOK {
		t.Fatalf("save the example: %d %s", status, answer)
	}
	base, _ := execute("get_chatflow", `{"chatflow_id":"`+id+`"}`).Facts["sha256"].(string)
	execute("apply_patch", `{"chatflow_id":"`+id+`","base_sha256":"`+base+`","ops":[{"op_type":"SetParam","node_id":"directReplyAgentflow_0","param_name":"directReplyMessage","value":"Ping"}]}`)
	execute("save_pattern", `{"chatflow_id":"`+id+`"}`)
}

// TestTheProgramsMakeAFlowThatAnswers uses nothing but the programs, as people
// do: the check of the domain, its registration, a sentence, an approval, and
// the answer of the new flow.
func TestTheProgramsMakeAFlowThatAnswers(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			domain := flowiseDomain(t, endpoint, key)
			exampleFlow(t, domain, endpoint, key)
			p := startProcess(t)
			admin, rita, otto := p.keys[0], p.keys[1], p.keys[2]
			says := func(code int, key string, args ...string) string {
				t.Helper()
				out, errs, got := p.command(key, args...)
				if got != code {
					t.Fatalf("manifold %v ended with %d, want %d\n%s%s", args, got, code, out, errs)
				}
				return out
			}

			if out := says(0, "", "domain", "check", domain, "--allow-writes"); !strings.Contains(out, "0 errors") {
				t.Errorf("the check says\n%s", out)
			}
			says(0, admin, "domain", "add", "flowise", domain)
			name := "Doorbell " + rand.Text()[:6] // the real server may be shared
			says(3, rita, "ask", `create a chatflow called "`+name+`" that replies "Pong"`)
			var gates []contracts.Interrupt
			if err := json.Unmarshal([]byte(says(0, otto, "gates", "--json")), &gates); err != nil || len(gates) != 1 {
				t.Fatalf("%v %d gates", err, len(gates))
			}
			says(0, otto, "approve", gates[0].Code, "--sha256", gates[0].ActionSHA256)
			if view := p.ended(gates[0].RunID); view.State != contracts.RunCompleted {
				t.Fatalf("the run is %s", view.State)
			}
			if out := says(0, rita, "ask", `ask the chatflow "`+name+`": "Hello"`); !strings.Contains(out, "Pong") {
				t.Errorf("the new flow answers\n%s", out)
			}
			made := removeFlows(t, endpoint, key, name)
			if len(made) != 1 || !strings.Contains(made[0], "Pong") {
				t.Errorf("there are %d such flows: %v", len(made), made)
			}
		})
	}
}

// removeFlows deletes the flows of a name, and returns their graphs.
func removeFlows(t *testing.T, endpoint, key, name string) (graphs []string) {
	t.Helper()
	_, answer := overHTTP(t, http.MethodGet, endpoint+"/api/v1/chatflows", key, "")
	var rows []struct{ ID, Name, FlowData string }
	if err := json.Unmarshal(answer, &rows); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, row := range rows {
		if row.Name == name {
			graphs = append(graphs, row.FlowData)
			overHTTP(t, http.MethodDelete, endpoint+"/api/v1/chatflows/"+row.ID, key, "")
		}
	}
	return graphs
}
