package orchestratortest

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// unproven is a store without seals and log; its chains are those of its runs.
type unproven struct{ runs execution.Store }

func (u unproven) Chains(ctx context.Context, after string, limit int) ([]string, error) {
	runs, err := u.runs.ListRuns(ctx, execution.RunFilter{Brief: true})
	chains := []string{execution.LockChain, execution.AdminChain}
	for _, r := range runs.Items {
		chains = append(chains, r.ID)
	}
	slices.Sort(chains)
	chains = slices.DeleteFunc(chains, func(c string) bool {
		entries, _ := u.runs.Ledger(ctx, c, 0, 0)
		return c <= after || len(entries) == 0
	})
	return chains[:min(limit, len(chains))], err
}

func (unproven) CheckRows(context.Context, func(scope, message string)) (int, error) { return 0, nil }

func (unproven) SealVersion(context.Context, string) (int64, error) { return 0, nil }

func (unproven) Unlogged(context.Context, int) ([]audit.Leaf, error) { return nil, nil }

func (unproven) Grow(context.Context, int64, []audit.Leaf, [][]byte, audit.Root) error { return nil }

func (unproven) LastRoot(context.Context) (audit.Root, error) { return audit.Root{}, nil }

func (unproven) Leaves(context.Context, int64, int) ([]audit.Leaf, error) { return nil, nil }

func (unproven) Hashes(context.Context, int64, int) ([][]byte, error) { return nil, nil }

func (unproven) HashesAt(context.Context, []int64) ([][]byte, error) { return nil, nil }

func (unproven) LeafOf(_ context.Context, chain string, _ int64) (audit.Leaf, int64, error) {
	return audit.Leaf{}, 0, contracts.Errorf(contracts.CodeNotFound, "chain %q is not logged", chain)
}
