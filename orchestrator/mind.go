package orchestrator

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// TokensOf returns what models used for the messages and runs of a session. A finished run has its
// tokens in its verdict.
func TokensOf(ctx context.Context, runner *execution.Runner, turns []Turn, runs []execution.Run) (sum contracts.Tokens, err error) {
	for _, t := range turns {
		sum = sum.Add(contracts.SumTokens(t.Calls))
	}
	for _, run := range runs {
		switch {
		case run.Verdict != nil && run.Verdict.Tokens != nil:
			sum = sum.Add(*run.Verdict.Tokens)
		case !run.State.Terminal() && runner.HasLanguageModel():
			view, err := runner.View(ctx, run.ID)
			if err != nil {
				return sum, err
			}
			sum = sum.Add(view.Tokens)
		}
	}
	return sum, nil
}
