package registry

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/intent/routing"
)

// Sentences makes a Tester of an intent adapter. It should be an adapter of
// its own: trying candidates would push the index of the live catalog out of
// a shared one.
func Sentences(a *local.Reader) Tester { return sentenceTester{a} }

type sentenceTester struct{ adapter *local.Reader }

func (s sentenceTester) RunTests(ctx context.Context, catalog *contracts.Catalog, domain string) ([]TestFailure, error) {
	var out []TestFailure
	for _, f := range routing.Run(ctx, s.adapter, catalog, domain) {
		out = append(out, TestFailure{Index: f.Index, Say: f.Say, Message: f.Problem, Taken: f.Taken})
	}
	return out, ctx.Err()
}
