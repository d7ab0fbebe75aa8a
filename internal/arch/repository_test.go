package arch_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/manifold-run/manifold/internal/arch"
)

// TestRepository applies every rule to this repository.
func TestRepository(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("this test must run inside the module: %v", err)
	}
	tree, err := arch.Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range rules() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, err := check(tree)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				t.Error(f)
			}
		})
	}
}

// rules returns the checks with the rooms of this repository.
func rules() map[string]func(*arch.Tree) ([]arch.Finding, error) {
	plain := func(check func(*arch.Tree) []arch.Finding) func(*arch.Tree) ([]arch.Finding, error) {
		return func(tree *arch.Tree) ([]arch.Finding, error) { return check(tree), nil }
	}
	return map[string]func(*arch.Tree) ([]arch.Finding, error){
		"a room imports only what it may": func(tree *arch.Tree) ([]arch.Finding, error) { return arch.CheckImports(tree, arch.Rooms()) },
		"every room has code":             plain(func(tree *arch.Tree) []arch.Finding { return arch.CheckRooms(tree, arch.Rooms()) }),
		"the core names no domain":        func(tree *arch.Tree) ([]arch.Finding, error) { return arch.CheckNames(tree, arch.Rooms()) },
		"no file is too long":             plain(arch.CheckSizes),
		"no folder is too long":           plain(func(tree *arch.Tree) []arch.Finding { return arch.CheckRoomSizes(tree, arch.RoomRatchets()) }),
		"no top-level folder is too long": plain(func(tree *arch.Tree) []arch.Finding {
			return arch.CheckSums(tree, arch.SumRatchets(), arch.MaxPackages)
		}),
		"no type has too many methods":         func(tree *arch.Tree) ([]arch.Finding, error) { return arch.CheckMethods(tree, arch.MethodRatchets()) },
		"nothing refers to one machine":        plain(arch.CheckLeaks),
		"ARCHITECTURE.md speaks of every room": plain(func(tree *arch.Tree) []arch.Finding { return arch.CheckDiagram(tree, arch.Rooms()) }),
		"the map leads where it says": plain(func(tree *arch.Tree) []arch.Finding {
			return append(arch.CheckMap(tree, "ARCHITECTURE.md"), arch.CheckMap(tree, "CONTRIBUTING.md")...)
		}),
		"every decision is listed in the index": plain(arch.CheckDecisions),
		"every dependency was decided":          plain(arch.CheckDependencies),
	}
}
