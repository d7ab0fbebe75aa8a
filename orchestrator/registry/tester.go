package registry

import (
	"context"
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

// NewSentenceTester returns a Tester that uses an intent adapter. The adapter should not be shared:
// tests of candidates would evict the index of the live catalog. The results are cached, if cache
// is not nil: they depend only on the catalog and the program.
func NewSentenceTester(a *local.Reader, cache local.ModelCache) Tester {
	return sentenceTester{a, cache}
}

type sentenceTester struct {
	adapter *local.Reader
	cache   local.ModelCache
}

func (s sentenceTester) RunTests(ctx context.Context, catalog *contracts.Catalog, domain string) ([]TestFailure, error) {
	id := "tests of " + domain + " in " + catalog.Snapshot
	if out, ok := s.cached(ctx, id, catalog); ok {
		return out, nil
	}
	var out []TestFailure
	for _, f := range local.RunRoutingTests(ctx, s.adapter, catalog, domain) {
		out = append(out, TestFailure{Index: f.Index, Say: f.Say, Message: f.Problem, Taken: f.Taken})
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if data, err := json.Marshal(out); err == nil && s.cache != nil && catalog.Snapshot != "" {
		s.cache.Store(ctx, id, data)
	}
	return out, nil
}

func (s sentenceTester) cached(ctx context.Context, id string, catalog *contracts.Catalog) (out []TestFailure, ok bool) {
	if s.cache == nil || catalog.Snapshot == "" {
		return nil, false
	}
	data := s.cache.Load(ctx, id)
	return out, data != nil && json.Unmarshal(data, &out) == nil
}
