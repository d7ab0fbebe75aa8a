package arch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

func TestDiagram(t *testing.T) {
	t.Parallel()
	rooms := []arch.Room{{Dir: "planner"}, {Dir: "domains/*"}, {Dir: "internal/app"}}
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"every room is there":   {map[string]string{"ARCHITECTURE.md": "planner/ `domains/*`\ninternal/app"}, nil},
		"one is missing":        {map[string]string{"ARCHITECTURE.md": "planner/ domains/"}, []string{"ARCHITECTURE.md: does not mention the room internal/app"}},
		"part of another word":  {map[string]string{"ARCHITECTURE.md": "replanner planners domains internal/app"}, []string{"ARCHITECTURE.md: does not mention the room planner"}},
		"there is no such file": {nil, []string{"ARCHITECTURE.md: there is no such file"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(arch.CheckDiagram(load(t, tt.files), rooms))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	tree := load(t, map[string]string{
		"docs/adr/README.md":        "- [One](0001-one.md)\n",
		"docs/adr/0001-one.md":      "",
		"docs/adr/0002-two.md":      "",
		"docs/adr/Third thought.md": "",
		"docs/other.md":             "",
	})
	want := []string{
		"docs/adr/0002-two.md: is not linked in docs/adr/README.md",
		"docs/adr/Third thought.md: a decision is named 0000-in-lower-case.md",
	}
	if diff := cmp.Diff(want, lines(arch.CheckDecisions(tree))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got := arch.CheckDecisions(load(t, nil)); len(got) != 1 {
		t.Errorf("without an index: got %q, want one finding", lines(got))
	}
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	gomod := `module example.com/m

go 1.26.0

require example.com/alone v1.0.0

require (
	example.com/decided v1.0.0
	example.com/decided/v2 v2.0.0
	example.com/passing v0.0.0 // indirect
)
`
	tree := load(t, map[string]string{"go.mod": gomod, "docs/adr/0001-dependencies.md": "| `example.com/decided` |"})
	want := []string{
		"go.mod:5: no decision in docs/adr names example.com/alone: why it, who keeps it, what it weighs",
		"go.mod:9: no decision in docs/adr names example.com/decided/v2: why it, who keeps it, what it weighs",
	}
	if diff := cmp.Diff(want, lines(arch.CheckDependencies(tree))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
