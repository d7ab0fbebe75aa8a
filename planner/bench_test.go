package planner_test

import (
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

// benchRequest asks for n books, one of them by name.
func benchRequest(b *testing.B, n int) planner.Request {
	b.Helper()
	isbns := []any{"Middlemarch"}
	for i := 1; i < n; i++ {
		isbns = append(isbns, fmt.Sprintf("978%04d", i))
	}
	params := map[string]any{"isbns": isbns, "notify": true}
	if n == 1 {
		params = map[string]any{"isbn": "9780001"}
	}
	return planner.Request{
		Goal:    "find books",
		Intents: []contracts.Intent{{ID: "i1", Domain: "library", Capability: "find_book", Parameters: params}},
		Catalog: catalogOf(b, scenario{Domains: []string{"library", "post"}}, nil),
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{1, 200} {
		b.Run(fmt.Sprintf("items=%d", n), func(b *testing.B) {
			req := benchRequest(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := planner.Compile(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	req := benchRequest(b, 200)
	result, err := planner.Compile(req)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := planner.Validate(result.Plan, req.Catalog); err != nil {
			b.Fatal(err)
		}
	}
}
