package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner"
)

// TestHostileSizes checks that a request of any size gets a clear error soon.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	many := func(n int) []any {
		items := make([]any, n)
		for i := range items {
			items[i] = fmt.Sprintf("978%04d", i)
		}
		return items
	}
	deep := any("x")
	for range 100 {
		deep = []any{deep}
	}
	count := contracts.Intent{Domain: "library", Capability: "count_loans"}
	find := func(params map[string]any) contracts.Intent {
		return contracts.Intent{Domain: "library", Capability: "find_book", Parameters: params}
	}
	offers := func(params map[string]any) contracts.Intent {
		return contracts.Intent{Domain: "library", Capability: "compare_offers", Parameters: params}
	}
	tests := map[string]struct {
		intents []contracts.Intent
		code    contracts.Code
		says    string
	}{
		"too many intents": {make([]contracts.Intent, 101), contracts.CodeBudgetExceeded, "at most 100"},
		"as many intents as possible": {
			func() (out []contracts.Intent) {
				for range 100 {
					out = append(out, count)
				}
				return out
			}(), "", "",
		},
		"a list beyond its own schema": {
			[]contracts.Intent{find(map[string]any{"isbns": many(501)})}, contracts.CodeInvalid, "/intents/0/parameters/isbns",
		},
		"a list beyond what can be planned": {
			[]contracts.Intent{offers(map[string]any{"titles": many(2001), "shop": "north"})}, contracts.CodeInvalid, "at most 2000",
		},
		"a product beyond what can be planned": {
			[]contracts.Intent{offers(map[string]any{"titles": many(1500), "shops": []any{"north", "south"}})},
			contracts.CodeBudgetExceeded, "2000 steps",
		},
		"branches that together are too many": {
			[]contracts.Intent{
				offers(map[string]any{"titles": many(1500), "shop": "north"}), offers(map[string]any{"titles": many(600), "shop": "east"}),
			},
			contracts.CodeBudgetExceeded, "2000 steps",
		},
		"dependencies that multiply": {
			[]contracts.Intent{
				{Domain: "knot", Capability: "write", Parameters: map[string]any{"vs": many(900)}},
				{Domain: "knot", Capability: "read", Parameters: map[string]any{"vs": many(900)}},
			},
			contracts.CodeBudgetExceeded, "wait for each other",
		},
		"a parameter that nests too deep": {
			[]contracts.Intent{find(map[string]any{"isbn": deep})}, contracts.CodeInvalid, "nests deeper than 64",
		},
	}
	catalog := catalogOf(t, scenario{Domains: []string{"library"}}, map[string]string{"domain knot": knot})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := planner.Compile(planner.Request{Intents: tt.intents, Catalog: catalog})
			if contracts.CodeOf(err) != tt.code {
				t.Fatalf("got %v, want the code %q", err, tt.code)
			}
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q does not say %q", err, tt.says)
			}
		})
	}
}

// knot has a write and a read that share a join, so that each of the reads waits for each of the
// writes.
const knot = `{"schema_version":"1","domain":"knot","version":"1","capabilities":[
	{"name":"write","schema":{"type":"object","properties":{"v":{},"vs":{"type":"array"}}},
	 "metadata":{"join_key":"k","decomposition":{"array_params":[{"param_name":"vs","single_param_name":"v"}]}}},
	{"name":"read","schema":{"type":"object","properties":{"v":{},"vs":{"type":"array"}}},
	 "metadata":{"side_effect_class":"read","join_key":"k","decomposition":{"array_params":[{"param_name":"vs","single_param_name":"v"}]}}}]}`
