package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// What is sent to a model provider can be seen where an operator wants that, without what is
// personal or secret, and a client is told what its message used. Off, nothing is kept.
func TestWhatIsSentToAModelCanBeSeen(t *testing.T) {
	t.Parallel()
	const words = `crate "k1" wants labelling, azure it should say; tell maria.silva@example.org, password: hunter2-77`
	read := calls("slow", map[string]any{"id": "k1"})
	read.Tokens = contracts.Tokens{In: 240, Out: 12}
	for name, kept := range map[string]bool{"kept": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, config := modelled(t, app.EngineOpenAI, says(scripted.Rule{Contains: "azure", Answer: read}), byModel)
			var cfg app.Config
			config(&cfg)
			args := []string{"--reasoning-engine", "openai", "--reasoning-model", "scripted", "--reasoning-base-url", cfg.Mind.Model.BaseURL}
			file := filepath.Join(t.TempDir(), "model.log")
			if kept {
				args = append(args, "--model-log", file)
			}
			p := startProcess(t, args...)
			p.register(stocked(t).registration())
			if said := p.chat(words, "0"); said.err != nil || said.usage != read.Tokens {
				t.Errorf("the answer is %+v", said)
			}
			if !kept {
				if _, err := os.Stat(file); !os.IsNotExist(err) {
					t.Errorf("something is kept: %v", err)
				}
				return
			}
			shown, problem, code := p.command(p.keys[1], "model", "log", file)
			if code != 0 || !strings.Contains(shown, "azure it should say") || !strings.Contains(shown, "240 + 12 tokens") {
				t.Errorf("exit %d: %s%s", code, shown, problem)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"maria.silva", "hunter2", p.keys[1]} {
				if strings.Contains(string(raw)+shown, secret) {
					t.Errorf("%q is in the log", secret)
				}
			}
		})
	}
}
