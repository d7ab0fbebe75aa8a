package execution

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// Replayed is the result of playing a run again from its plan and ledger.
type Replayed struct {
	RunID   string             `json:"run_id"`
	Entries int                `json:"entries"`
	State   contracts.RunState `json:"state"`
	// Differences name the nodes whose replayed state is not the stored one;
	// none means that the ledger explains the run.
	Differences []string `json:"differences,omitempty"`
}

// Replay plays plan and ledger again without calling any domain and compares
// the node states with the stored ones. A broken chain is an error.
func (r *Runner) Replay(ctx context.Context, runID string) (Replayed, error) {
	s, err := r.store.LoadRun(ctx, runID)
	if err != nil {
		return Replayed{}, err
	}
	entries, err := r.store.Ledger(ctx, runID)
	if err != nil {
		return Replayed{}, err
	}
	if err := VerifyRun(s.Run, entries); err != nil {
		return Replayed{}, err
	}
	g := newGraph()
	if err := g.add(s.Run.Plan.Nodes...); err != nil {
		return Replayed{}, err
	}
	g.sweep()
	for _, e := range entries {
		if err := r.replayEntry(ctx, g, e); err != nil {
			return Replayed{}, fmt.Errorf("replay entry %d: %w", e.Seq, err)
		}
	}
	return compare(g, s, len(entries)), nil
}

func (r *Runner) replayEntry(ctx context.Context, g *graph, e contracts.LedgerEntry) error {
	switch e.Kind {
	case contracts.LedgerOutcome:
		var o outcome
		if err := r.payload(ctx, e, &o); err != nil {
			return err
		}
		v, ok := g.byID[e.NodeID]
		if !ok {
			return fmt.Errorf("node %s is not in the plan", e.NodeID)
		}
		g.settle(v, o.State)
	case contracts.LedgerDecision:
		return r.replaySearch(ctx, g, e)
	case contracts.LedgerExpand:
		var expanded struct {
			Nodes []contracts.Node `json:"nodes"`
		}
		if err := r.payload(ctx, e, &expanded); err != nil {
			return err
		}
		if err := g.add(expanded.Nodes...); err != nil {
			return err
		}
		return g.expand(g.byID[e.NodeID], expanded.Nodes)
	default:
	}
	return nil
}

// replaySearch takes a search back that was made again.
func (r *Runner) replaySearch(ctx context.Context, g *graph, e contracts.LedgerEntry) error {
	var answer struct {
		Response any `json:"response"`
	}
	if err := r.payload(ctx, e, &answer); err != nil {
		return err
	}
	v, ok := g.byID[e.NodeID]
	if _, again := wordsOf(answer.Response); !ok || !again {
		return nil
	}
	search, param := searchBefore(v.spec, func(id string) (contracts.Node, bool) {
		n, ok := g.byID[id]
		if !ok {
			return contracts.Node{}, false
		}
		return n.spec, true
	})
	if param != "" && g.byID[search.NodeID].state == contracts.NodeCompleted {
		g.reopen(g.byID[search.NodeID])
	}
	return nil
}

func (r *Runner) payload(ctx context.Context, e contracts.LedgerEntry, into any) error {
	body, err := r.store.Blob(ctx, e.PayloadSHA256)
	if err != nil {
		return err
	}
	if contracts.HashBytes(body) != e.PayloadSHA256 {
		return contracts.Errorf(contracts.CodeConflict, "the payload of entry %d was changed after it was written", e.Seq)
	}
	return contracts.Decode(body, into)
}

// compare leaves out states that are on their way: only what has ended is in
// the ledger.
func compare(g *graph, s Snapshot, entries int) Replayed {
	out := Replayed{RunID: s.Run.ID, Entries: entries, State: g.runState(s.Run.CancelRequestedAt != nil)}
	for _, rec := range s.Nodes {
		v, ok := g.byID[rec.NodeID]
		switch {
		case !ok:
			out.Differences = append(out.Differences, rec.NodeID+" is stored but not explained by the ledger")
		case rec.State.Terminal() != v.state.Terminal(), rec.State.Terminal() && rec.State != v.state:
			out.Differences = append(out.Differences, fmt.Sprintf("%s is %s, but replays as %s", rec.NodeID, rec.State, v.state))
		}
	}
	return out
}
