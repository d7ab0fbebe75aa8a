package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// person requests one run after the other, approves its writes, and settles unknown outcomes by the
// domain's records, each time at any server.
type person struct {
	site   *site
	chance *rand.Rand
}

// seen is what a person knows of an acknowledged run.
type seen struct {
	id      string
	view    contracts.RunView
	asked   int // unknown outcomes
	again   int // gates because of a change since the approval
	trouble error
}

// insist retries what a server could not do at the moment, at any server.
func insist[T any](ctx context.Context, p *person, do func(*client.Client) (T, error)) (T, error) {
	return insistAs(ctx, p, p.site.clients, do)
}

func insistAs[T any](ctx context.Context, p *person, servers []*client.Client, do func(*client.Client) (T, error)) (T, error) {
	for {
		got, err := do(servers[p.chance.IntN(len(servers))])
		switch contracts.CodeOf(err) {
		case contracts.CodeUnavailable, contracts.CodeRateLimited:
		default:
			return got, err
		}
		if pause(ctx, 200*time.Millisecond) != nil {
			return got, fmt.Errorf("out of time: %w", err)
		}
	}
}

// ask requests a plan and its run.
func (p *person) ask(ctx context.Context, n int) (string, error) {
	var intents []contracts.Intent
	add := func(name string, params map[string]any) {
		intents = append(intents, contracts.Intent{
			ID: fmt.Sprintf("i%d", len(intents)+1), Confidence: 1, Source: "caller", Domain: domainName, Capability: name, Parameters: params,
		})
	}
	switch p.chance.IntN(8) {
	case 0, 1:
		add("careful", map[string]any{"id": fmt.Sprintf("c%d", n), "value": fmt.Sprint(n)})
		return p.request(ctx, n, intents)
	case 2, 3:
		add("tuned", map[string]any{"id": fmt.Sprintf("t%d", n), "value": fmt.Sprint(n)})
		return p.request(ctx, n, intents)
	}
	for i := range 1 + p.chance.IntN(3) {
		add("peek", map[string]any{"id": fmt.Sprintf("r%d-%d", n, i)})
	}
	for i := range 1 + p.chance.IntN(3) {
		add("put_"+kinds()[p.chance.IntN(len(kinds()))].name, map[string]any{"id": fmt.Sprintf("w%d-%d", n, i), "value": fmt.Sprint(n)})
	}
	return p.request(ctx, n, intents)
}

// request requests the plan and the run of intents, again if the plan has changed in between.
func (p *person) request(ctx context.Context, n int, intents []contracts.Intent) (string, error) {
	preview, err := insist(ctx, p, func(c *client.Client) (contracts.PlanPreview, error) {
		return c.Plan(ctx, contracts.PlanRequest{Goal: fmt.Sprintf("run %d", n), Intents: intents})
	})
	if err != nil {
		return "", err
	}
	key := client.NewIdempotencyKey()
	response, err := insist(ctx, p, func(c *client.Client) (contracts.SessionResponse, error) {
		return c.RunPlan(ctx, contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{IdempotencyKey: key})
	})
	if contracts.CodeOf(err) == contracts.CodeConflict {
		return p.request(ctx, n, intents)
	}
	if err != nil {
		return "", err
	}
	if len(response.RunIDs) == 0 {
		return "", fmt.Errorf("lost: session %s was acknowledged and has no run", response.SessionID)
	}
	return response.RunIDs[0], nil
}

// see attends one run until its end.
func (p *person) see(ctx context.Context, id string) seen {
	s := seen{id: id}
	for ctx.Err() == nil {
		open, err := insist(ctx, p, func(c *client.Client) ([]contracts.Interrupt, error) {
			return c.Gates(ctx, client.GatesFilter{RunID: id, Status: contracts.InterruptOpen})
		})
		for _, gate := range open {
			if s.trouble = p.decide(ctx, gate); s.trouble != nil {
				return s
			}
			if gate.Type == contracts.InterruptOutcomeUnknown {
				s.asked++
			}
			if strings.Contains(gate.Reason, string(contracts.CodeStaleApproval)) {
				s.again++
			}
		}
		if err == nil {
			s.view, err = insist(ctx, p, func(c *client.Client) (contracts.RunView, error) {
				return c.Run(ctx, id, client.Opt{Wait: time.Second})
			})
		}
		if err != nil {
			s.trouble = err
			return s
		}
		if s.view.State.Terminal() {
			return s
		}
	}
	s.trouble = fmt.Errorf("stuck as %s", s.view.State)
	return s
}

// says returns the answer to a question of a workflow.
func (p *person) says(gate contracts.Interrupt) any {
	sendsBack := p.chance.IntN(4) == 0 && !strings.Contains(gate.NodeID, "#") // once: the workflow limits it
	switch {
	case gate.Type == contracts.InterruptBudgetExceeded:
		return map[string]any{"raise": 10.0}
	case gate.Type == contracts.InterruptResultReview && sendsBack:
		return map[string]any{"decision": "iterate", "feedback": "better"}
	case gate.Type == contracts.InterruptResultReview:
		return "accept"
	case sendsBack && slices.Contains(gate.Answers, "reject"):
		return "reject"
	}
	return "approve"
}

// decide approves, settles an unknown outcome, or answers a question of a workflow, sometimes by
// sending it back. A conflict may be the lost response to the same decision.
func (p *person) decide(ctx context.Context, gate contracts.Interrupt) error {
	who := p.site.approvers
	if !gate.Type.IsGate() {
		who = p.site.clients
	}
	says := p.says(gate)
	_, err := insistAs(ctx, p, who, func(c *client.Client) (contracts.Interrupt, error) {
		if gate.Type == contracts.InterruptOutcomeUnknown {
			truth := contracts.AnswerNotApplied
			if p.site.vault.applied(gate.RunID, gate.NodeID) > 0 {
				truth = contracts.AnswerApplied
			}
			return c.Answer(ctx, gate, truth, client.Opt{})
		}
		if !gate.Type.IsGate() {
			return c.Answer(ctx, gate, says, client.Opt{})
		}
		if gate.Action != nil {
			p.site.vault.approve(gate.RunID, gate.NodeID, gate.Action.CapabilityDigest)
		}
		return c.Approve(ctx, gate, "", client.Opt{})
	})
	if contracts.CodeOf(err) == contracts.CodeConflict {
		return nil
	}
	if err != nil {
		return fmt.Errorf("decide %s of %s: %w", gate.Code, gate.RunID, err)
	}
	return nil
}
