package conversation

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// tableFor is the time during which messages can refer to a displayed table.
const tableFor = 30 * time.Minute

// answerFromTable answers from the last table without a new call. It returns false if there is no
// table.
func (r *classifier) answerFromTable(ctx context.Context, s sessionContext, o chat.TableOrder, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	table, err := r.lastTable(ctx, s)
	if err != nil || table == nil {
		return t, false, err
	}
	t.Kind, t.Command = orchestrator.TurnCommand, "table"
	block, note := answer.Rework(*table, o)
	t.Answer = &contracts.Answer{}
	if note != "" {
		t.Answer.Blocks = append(t.Answer.Blocks, contracts.Block{Kind: contracts.BlockText, Text: note})
	}
	if block != nil {
		t.Answer.Blocks = append(t.Answer.Blocks, *block)
	}
	return t, true, nil
}

// lastTable returns the last displayed table, or nil.
func (r *classifier) lastTable(ctx context.Context, s sessionContext) (*contracts.Block, error) {
	for _, t := range slices.Backward(s.turns) {
		if s.now.Sub(t.CreatedAt) > tableFor {
			return nil, nil //nolint:nilnil // there is none
		}
		shown := t.Answer
		if shown == nil && t.RunID != "" && t.Kind == orchestrator.TurnRequest {
			run, err := r.runner.View(ctx, t.RunID)
			if contracts.CodeOf(err) == contracts.CodeNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			shown = answer.Compose(r.catalogs.Catalog(), run)
		}
		if shown == nil {
			continue
		}
		if at := slices.IndexFunc(shown.Blocks, func(b contracts.Block) bool { return b.Kind == contracts.BlockTable }); at >= 0 {
			return &shown.Blocks[at], nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}
