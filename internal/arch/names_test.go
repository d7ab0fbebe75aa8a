package arch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

const bakery = `{"domain": "pastry", "capabilities": [{"name": "bake_bread"}, {"name": "validate"}, {"name": "compile_ops"}, {"name": "taste"}]}`

const goDomain = `package bakery

import "github.com/manifold-run/manifold/domainkit"

const capabilitySell = "sell_cake"

var list = []contracts.Capability{{Name: "slice_bread"}}

func add(svc *domainkit.Service) {
	domainkit.Add(svc, "knead_dough", nil)
	domainkit.Add[In, Out](svc, "proof_dough", nil)
	domainkit.Raw(svc, domainkit.Capability{Name: capabilitySell}, nil)
	_ = domainkit.Config{Domain: "boulangerie"}
	other.Add(svc, "not_counted", nil)
	_ = Person{Name: "jane_doe"}
}
`

func TestVocabulary(t *testing.T) {
	t.Parallel()
	tree := load(t, map[string]string{
		"domains/bakery/manifest.json":          bakery,
		"domains/bakery/other.json":             `{"capabilities": "none", "name": "some_thing"}`,
		"domains/bakery/bakery.go":              goDomain,
		"domains/bakery/bakery_test.go":         `package bakery; var c = Capability{Name: "only_tested"}`,
		"domains/bakery/testdata/manifest.json": `{"capabilities": [{"name": "only_tested"}]}`,
		"examples/ferry/ferry.py":               `M = {"domain": "harbour", "capabilities": [{"name": "book_ferry", "schema": {}}, {"name": "sail"}]}`,
		"examples/tram/tram.mjs":                `export const caps = [{ name: 'stop_tram' }];`,
		"examples/README.md":                    "the examples",
		"planner/a.go":                          `package planner; var c = Capability{Name: "of_the_core"}`,
	})
	got, err := arch.ReadVocabulary(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := arch.Vocabulary{
		Domains:      []string{"bakery", "boulangerie", "ferry", "harbour", "pastry", "tram"},
		Capabilities: []string{"bake_bread", "book_ferry", "knead_dough", "proof_dough", "sell_cake", "slice_bread", "stop_tram"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("vocabulary (-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path, src string
		want      string // part of the only finding; "" for none
	}{
		"a domain in code":                      {"planner/a.go", "package p\n\nvar x = \"bakery\"\n", `planner/a.go:3: the core names the domain "bakery"`},
		"a domain in a comment":                 {"execution/a.go", "// Package p is not for the Bakery.\npackage p\n", `execution/a.go:1: the core names the domain "bakery"`},
		"a domain inside a camelCase name":      {"internal/expr/a.go", "package p\n\nvar isBakery bool\n", `the domain "bakery"`},
		"a domain inside a snake_case name":     {"internal/expr/a.go", "package p\n\nvar x = \"my_bakery\"\n", `the domain "bakery"`},
		"a domain in an embedded file":          {"intent/words.txt", "bread\nbakery\n", `intent/words.txt:2: the core names the domain "bakery"`},
		"a domain in a sub-room":                {"orchestrator/registry/a.go", "package p // bakery\n", `the domain "bakery"`},
		"a domain as the manifest calls it":     {"planner/a.go", "package p // pastry\n", `the domain "pastry"`},
		"a capability in code":                  {"planner/a.go", "package p\n\nvar x = \"bake_bread\"\n", `planner/a.go:3: the core names the capability "bake_bread"`},
		"a longer word is not the capability":   {"planner/a.go", "package p\n\nvar x = \"bake_breads\"\n", ""},
		"a capability that is an ordinary word": {"planner/a.go", "package p // taste\n", ""},
		"a word of the lifecycle":               {"planner/a.go", "package p // compile_ops, validate\n", ""},
		"tests of the core may name it":         {"planner/a_test.go", "package p // bakery, bake_bread\n", ""},
		"test data of the core may name it":     {"contracts/testdata/m.json", `{"domain": "bakery"}`, ""},
		"the demo may name it":                  {"cmd/demo/a.go", "package p // bakery\n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := load(t, map[string]string{"domains/bakery/manifest.json": bakery, tt.path: tt.src})
			findings, err := arch.CheckNames(tree, arch.Rooms())
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(lines(findings), "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want one finding with %q", got, tt.want)
			}
		})
	}
}
