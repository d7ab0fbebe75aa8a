package orchestrator

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// TokensOf is what models used for the messages and the runs of a session. What has
// ended says so in its verdict.
func TokensOf(ctx context.Context, runner *execution.Runner, turns []Turn, runs []execution.Run) (sum contracts.Tokens, err error) {
	for _, t := range turns {
		sum = sum.Add(contracts.SumTokens(t.Calls))
	}
	for _, run := range runs {
		switch {
		case run.Verdict != nil && run.Verdict.Tokens != nil:
			sum = sum.Add(*run.Verdict.Tokens)
		case !run.State.Terminal() && runner.Thinks():
			view, err := runner.View(ctx, run.ID)
			if err != nil {
				return sum, err
			}
			sum = sum.Add(view.Tokens)
		}
	}
	return sum, nil
}

// maxEarlier is how many messages before one a model is shown.
const maxEarlier = 3

// Earlier are the person's requests before one, oldest first, for a model that
// reads it.
func Earlier(turns []Turn, of Turn) []string {
	var out []string
	for _, t := range turns {
		if t.Kind == TurnRequest && t.TurnKey != of.TurnKey && t.CreatedAt.Before(of.CreatedAt) {
			out = append(out, t.Message)
		}
	}
	return out[max(0, len(out)-maxEarlier):]
}
