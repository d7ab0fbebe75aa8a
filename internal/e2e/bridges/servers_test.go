package bridges_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
	"github.com/manifold-run/manifold/internal/sample"
)

// changing are names of tools that change something, whatever else they say.
var changing = regexp.MustCompile(`^(browser_)?(create|delete|update|set|clear|push|merge|approve|unapprove|publish|upload|fork|protect|mark|write|edit|move|add|click|type|drop|fill|evaluate|run)([_-]|$)|_(set|delete|clear)$`)

// TestPublicServers are classified, tool by tool: nothing is a read because a server
// says so, and where it is trusted nothing that changes something is.
func TestPublicServers(t *testing.T) {
	dir := packages(t)
	t.Setenv("GITLAB_PERSONAL_ACCESS_TOKEN", "none") // it lists its tools without asking GitLab
	servers := []struct {
		name    string
		command []string
		least   int
	}{
		{"filesystem", []string{"mcp-server-filesystem", t.TempDir()}, 10},
		{"memory", []string{"mcp-server-memory"}, 9},
		{"everything", []string{"mcp-server-everything"}, 10},
		{"gitlab", []string{"mcp-gitlab"}, 41},
		{"playwright", []string{"playwright-mcp", "--caps=vision,pdf,testing,devtools,storage,network,config"}, 41},
	}
	for _, i := range sample.Of(t, len(servers), 5) {
		server := servers[i]
		t.Run(server.name, func(t *testing.T) {
			for _, trusted := range []bool{false, true} {
				source, err := mcp.New(mcp.Config{
					Command: append([]string{filepath.Join(dir, "node_modules", ".bin", server.command[0])}, server.command[1:]...),
					Env:     mcp.Environment("GITLAB_PERSONAL_ACCESS_TOKEN"),
				})
				if err != nil {
					t.Fatal(err)
				}
				found := judged(t, source, bridge.Overlay{Trusted: trusted})
				reads := 0
				for _, f := range found {
					if f.Served() && f.Class == "" || !f.Served() && f.Why == "" {
						t.Errorf("%s is neither classified nor left out: %+v", f.Operation, f)
					}
					if f.Class != contracts.ClassRead {
						continue
					}
					if reads++; !trusted || changing.MatchString(f.Operation) {
						t.Errorf("trusted %t: %s is a read: %s", trusted, f.Operation, f.Why)
					}
				}
				t.Logf("trusted %t: %d tools, %d reads", trusted, len(found), reads)
				if len(found) < server.least || trusted && reads == 0 {
					t.Errorf("%d tools, %d reads", len(found), reads)
				}
			}
		})
	}
}

// TestPublicServersBySentence: reads are answered, and a write waits for a person, is
// done, and is read back.
func TestPublicServersBySentence(t *testing.T) {
	dir, files := packages(t), t.TempDir()
	overlay, err := filepath.Abs("../../../examples/bridges/files.overlay.yaml")
	if err != nil {
		t.Fatal(err)
	}
	memory := filepath.Join(files, "memory.jsonl")
	if err := os.WriteFile(memory, []byte(`{"type":"entity","name":"Ana","entityType":"person","observations":["drinks green tea"]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MEMORY_FILE_PATH", memory)
	_, c := serve(t, strings.Join([]string{
		domain(t, dir, "files", contracts.BridgeOverlay{OverlayFile: overlay}, "mcp-server-filesystem", files),
		domain(t, dir, "memory", contracts.BridgeOverlay{Overlay: json.RawMessage(`{"select":{"names":["search_nodes"]},"tools":{
			"search_nodes":{"metadata":{"side_effect_class":"read","intent_hints":{"examples":["search my notes for \"tea\"","what do my notes say about \"Ana\""]}}}}}`)}, "mcp-server-memory"),
		domain(t, dir, "everything", contracts.BridgeOverlay{Overlay: json.RawMessage(`{"select":{"names":["echo"]},"tools":{
			"echo":{"metadata":{"side_effect_class":"read","intent_hints":{"examples":["echo \"hello\"","echo the message \"good morning\""]}}}}}`)}, "mcp-server-everything"),
	}, ","))
	file := filepath.Join(files, "todo.txt")
	run := say(t, c, `write "buy milk" to the file `+file, 1)
	if text, err := os.ReadFile(file); err != nil || string(text) != "buy milk" || run.Verdict == nil || run.Verdict.Status != contracts.VerdictVerified {
		t.Errorf("%q, %v, verdict %+v", text, err, run.Verdict)
	}
	for message, answer := range map[string]string{
		"read the file " + file:         "buy milk",
		`search my notes for "tea"`:     "green tea",
		`echo the message "to and fro"`: "Echo: to and fro",
	} {
		run := say(t, c, message, 0)
		if raw, err := json.Marshal(run.Nodes); err != nil || !strings.Contains(string(raw), answer) {
			t.Errorf("%q: %v: %s", message, err, raw)
		}
	}
}

// domain is an entry of the bootstrap file for a server of the packages.
func domain(t *testing.T, dir, name string, overlay contracts.BridgeOverlay, command ...string) string {
	t.Helper()
	command[0] = filepath.Join(dir, "node_modules", ".bin", command[0])
	raw, err := json.Marshal(map[string]any{"domain": name, "mcp": contracts.MCPServer{Command: command, Env: []string{"MEMORY_FILE_PATH"}, BridgeOverlay: overlay}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
