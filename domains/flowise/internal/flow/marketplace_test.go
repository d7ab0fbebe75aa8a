package flow_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// sample is a real flow that is part of a Flowise installation.
type sample struct {
	name string
	kind flow.Kind
	data []byte
}

// marketplace reads the samples of the Flowise in FLOWISE_MARKETPLACES (the folder) or FLOWISE_DIR
// (the installation). They are not part of this repository, so without one the test is skipped.
func marketplace(t *testing.T) []sample {
	t.Helper()
	dir := os.Getenv("FLOWISE_MARKETPLACES")
	if install := os.Getenv("FLOWISE_DIR"); dir == "" && install != "" {
		dir = filepath.Join(install, "node_modules", "flowise", "marketplaces")
	}
	if dir == "" {
		absent(t, "FLOWISE_MARKETPLACES names no marketplaces folder of an installed Flowise")
	}
	folders := map[string]flow.Kind{"chatflows": flow.Chatflow, "agentflowsv2": flow.Agentflow, "agentflows": flow.Multiagent}
	var out []sample
	for folder, kind := range folders {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := folder + "/" + strings.TrimSuffix(filepath.Base(file), ".json")
			out = append(out, sample{name: name, kind: kind, data: data})
		}
	}
	if len(out) != 51 {
		t.Fatalf("found %d samples in %s, want 51", len(out), dir)
	}
	return out
}

// shipped is parsed once and immutable.
var shipped = sync.OnceValues(knowledge.Shipped)

func definitions(tb testing.TB) *knowledge.Snapshot {
	tb.Helper()
	defs, err := shipped()
	if err != nil {
		tb.Fatal(err)
	}
	return defs
}

func TestMarketplaceRoundTrip(t *testing.T) {
	t.Parallel()
	defs := definitions(t)
	for _, s := range marketplace(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			g, err := flow.Decompile(s.data)
			if err != nil {
				t.Fatal(err)
			}
			if got := flow.KindOf(g); got != s.kind {
				t.Errorf("kind: got %s, want %s", got, s.kind)
			}
			r, err := flow.Compile(g, nil, defs, flow.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if string(r.FlowData) != string(s.data) {
				t.Error("without an op the bytes changed")
			}
			if !r.Diff.Empty() {
				t.Errorf("without an op there is a difference:\n%s", r.Diff)
			}
		})
	}
}

func TestMarketplaceValidates(t *testing.T) {
	t.Parallel()
	defs := definitions(t)
	for _, s := range marketplace(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			report := flow.Validate(s.data, defs, flow.Check{Kind: s.kind, Template: true})
			for _, f := range report.Errors() {
				t.Error(f)
			}
		})
	}
}
