package runs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/planner"
)

// Replanner asks a reader for the next steps of a run.
type Replanner struct {
	reader   intent.Reader
	catalogs orchestrator.Catalogs
	now      func() time.Time
}

var _ execution.Replanner = (*Replanner)(nil)

// NewRounds returns a Replanner that uses the reader of a model.
func NewRounds(reader intent.Reader, catalogs orchestrator.Catalogs, now func() time.Time) *Replanner {
	if now == nil {
		now = time.Now
	}
	return &Replanner{reader: reader, catalogs: catalogs, now: now}
}

// Replan returns a plan of the next calls, a question, or neither if nothing is left to do.
func (r *Replanner) Replan(ctx context.Context, req execution.ReplanRequest) (execution.ReplanReply, error) {
	catalog := r.catalogs.Catalog()
	u, err := r.reader.Understand(ctx, intent.Request{
		Message: asked(req), Catalog: catalog, Roles: req.Plan.Owner.Roles, Phase: req.Plan.Phase, Now: r.now(), Results: results(req.Facts),
		Running: req.Plan.Nodes,
	})
	reply := execution.ReplanReply{Calls: u.Calls}
	if err != nil {
		return reply, err
	}
	if u.Outcome == contracts.ReadingUnclear {
		reply.Question = &execution.ReplanQuestion{Prompt: u.Question, Options: u.Options}
		return reply, nil
	}
	if len(u.Intents) == 0 && u.Draft == nil {
		return reply, nil
	}
	result, err := planner.Compile(planner.Request{
		Goal: req.Goal, Intents: u.Intents, Draft: u.Draft, More: u.More && !req.Last, Catalog: catalog, Owner: req.Plan.Owner,
		Instances: req.Plan.Instances, Budgets: req.Plan.Budgets, DryRun: req.Plan.DryRun, Unattended: req.Plan.Unattended, Phase: req.Plan.Phase,
		Running: &planner.Running{Nodes: req.Plan.Nodes},
	})
	switch {
	case err != nil:
		return reply, err
	case len(result.Questions) > 0:
		q := result.Questions[0]
		reply.Question = &execution.ReplanQuestion{Prompt: q.Prompt}
		for _, o := range q.Options {
			reply.Question.Options = append(reply.Question.Options, o.Label)
		}
		return reply, nil
	}
	reply.Plan, reply.Held = &result.Plan, u.Held
	return reply, nil
}

// asked returns the full text of the request if the run has it, else the goal, which is shortened.
func asked(req execution.ReplanRequest) string {
	var said []string
	for _, n := range req.Plan.Nodes {
		if n.Utterance != nil && n.Utterance.Text != "" && !slices.Contains(said, n.Utterance.Text) {
			said = append(said, n.Utterance.Text)
		}
	}
	return cmp.Or(strings.Join(said, "\n"), req.Goal)
}

func results(facts []execution.ReplanFact) []intent.Result {
	out := make([]intent.Result, 0, len(facts))
	for _, f := range facts {
		out = append(out, intent.Result{ID: f.NodeID, Ref: f.Tool, State: f.State, Summary: f.Summary, Facts: f.Facts})
	}
	return out
}
