package conversations

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval/conversation"
)

// player plays conversations on a stage.
type player struct {
	stage *stage
	names map[string]string
}

// talk is one running conversation.
type talk struct {
	p       player
	who     *client.Client
	session contracts.SessionResponse
	// The state before the last message: when each run changed, and the open questions.
	runs  map[string]time.Time
	asked map[string]string

	approved []conversation.Gate
}

// play plays the turns of an item. A message that the server rejects is part of the result; an error is
// one of the connection.
func (p player) play(ctx context.Context, item conversation.Item) (conversation.Played, error) {
	who, err := p.stage.person(ctx, item.As, item.Roles)
	if err != nil {
		return conversation.Played{}, err
	}
	t := &talk{p: p, who: who}
	for _, turn := range item.Turns {
		if err := t.turn(ctx, turn); err != nil {
			if ctx.Err() != nil {
				return conversation.Played{}, ctx.Err()
			}
			return conversation.Played{Refused: err.Error()}, nil
		}
	}
	return t.result(ctx)
}

const patience = 20 * time.Second

func (t *talk) turn(ctx context.Context, text string) (err error) {
	if text == conversation.TurnApprove {
		gates, err := t.p.approve(ctx, t.session.SessionID)
		t.approved = append(t.approved, gates...)
		if err != nil {
			return err
		}
		return t.settle(ctx)
	}
	if err := t.remember(ctx); err != nil {
		return err
	}
	opt := client.Opt{Wait: patience, IdempotencyKey: client.NewIdempotencyKey()}
	t.session, err = patient(ctx, func() (contracts.SessionResponse, error) {
		if t.session.SessionID == "" {
			return t.who.StartSession(ctx, contracts.StartSession{Message: text}, opt)
		}
		return t.who.Say(ctx, t.session.SessionID, text, opt)
	})
	if err != nil {
		return err
	}
	return t.settle(ctx)
}

// remember stores the state before a message.
func (t *talk) remember(ctx context.Context) error {
	t.runs, t.asked = map[string]time.Time{}, map[string]string{}
	for _, i := range t.session.Interrupts {
		if i.Status == contracts.InterruptOpen {
			t.asked[i.InterruptID] = i.Prompt
		}
	}
	for _, id := range t.session.RunIDs {
		run, err := t.who.Run(ctx, id, client.Opt{})
		if err != nil {
			return err
		}
		t.runs[id] = run.UpdatedAt
	}
	return nil
}

// settle waits until nothing changes any more: an open gate of an earlier message must not hide that a
// new run is still running.
func (t *talk) settle(ctx context.Context) error {
	last := ""
	for range 200 {
		s, err := t.who.Session(ctx, t.session.SessionID, client.Opt{Wait: 10 * time.Second})
		if err != nil {
			return err
		}
		t.session = s
		now, err := t.still(ctx)
		if err != nil || now != "" && now == last {
			return err
		}
		last = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// still returns a fingerprint of the session's state, "" while something runs.
func (t *talk) still(ctx context.Context) (string, error) {
	if t.session.Status == contracts.SessionRunning {
		return "", nil
	}
	for _, id := range t.session.RunIDs {
		run, err := t.who.Run(ctx, id, client.Opt{})
		if err != nil || run.State == contracts.RunRunning {
			return "", err
		}
	}
	body, err := json.Marshal([]any{t.session.Status, t.session.RunIDs, t.session.Interrupts, t.session.Answer})
	return string(body), err
}

// result returns the runs that the last message has started or continued, by comparison with the
// remembered state.
func (t *talk) result(ctx context.Context) (conversation.Played, error) {
	out := conversation.Played{Session: t.session, AskedBefore: t.asked, Approved: t.approved, Names: map[string]string{}}
	maps.Copy(out.Names, t.p.names)
	var moved []contracts.RunView
	for _, id := range t.session.RunIDs {
		run, err := t.who.Run(ctx, id, client.Opt{})
		if err != nil {
			return out, err
		}
		for _, n := range run.Nodes {
			conversation.CollectNames(n.Facts, out.Names)
		}
		at, before := t.runs[id]
		switch {
		case !before:
			out.Runs = append(out.Runs, run)
		case !at.Equal(run.UpdatedAt) && !slices.Contains([]contracts.RunState{contracts.RunCancelled, contracts.RunCancelling, contracts.RunRejected}, run.State):
			moved = append(moved, run)
		default:
			out.Old = append(out.Old, run)
		}
	}
	if len(out.Runs) > 0 {
		out.Old = append(out.Old, moved...)
	} else {
		out.Runs = moved
	}
	return out, nil
}

// patient repeats a call that the server has rejected for its rate limit.
func patient[T any](ctx context.Context, do func() (T, error)) (T, error) {
	for range 10 {
		got, err := do()
		if contracts.CodeOf(err) != contracts.CodeRateLimited {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return do()
}

// approve approves the open writes of a session and returns their gates.
func (p player) approve(ctx context.Context, session string) ([]conversation.Gate, error) {
	approver, err := p.stage.named(keyApprover)
	if err != nil {
		return nil, err
	}
	gates, err := approver.Gates(ctx, client.GatesFilter{SessionID: session, Status: contracts.InterruptOpen, Type: contracts.InterruptWriteApproval})
	if err != nil {
		return nil, err
	}
	var out []conversation.Gate
	for _, g := range gates {
		if _, err := approver.Approve(ctx, g, "", client.Opt{Wait: 10 * time.Second}); err != nil {
			return out, fmt.Errorf("approve %s: %w", g.Code, err)
		}
		out = append(out, conversation.Gate{RunID: g.RunID, Node: g.NodeID})
	}
	return out, nil
}

// seed performs one action without a message: it runs a plan from data, and the approver approves it.
func (p player) seed(ctx context.Context, who *client.Client, a conversation.Action) error {
	domain, name, _ := cut(a.Capability)
	params := a.Params
	if params == nil {
		params = map[string]any{}
	}
	plan, err := patient(ctx, func() (contracts.PlanPreview, error) {
		return who.Plan(ctx, contracts.PlanRequest{Intents: []contracts.Intent{{ID: "i1", Domain: domain, Capability: name, Parameters: params, Confidence: 1}}})
	})
	if err != nil {
		return err
	}
	if plan.PlanHash == "" {
		return contracts.Errorf(contracts.CodeInvalid, "the plan asks: %s", plan.Message)
	}
	s, err := patient(ctx, func() (contracts.SessionResponse, error) {
		return who.RunPlan(ctx, contracts.RunPlan{PlanHash: plan.PlanHash}, client.Opt{Wait: 15 * time.Second})
	})
	if err != nil {
		return err
	}
	return p.finish(ctx, who, s.SessionID)
}

// finish approves everything that a session waits for until it has ended.
func (p player) finish(ctx context.Context, who *client.Client, id string) error {
	for range 40 {
		s, err := who.Session(ctx, id, client.Opt{Wait: 5 * time.Second})
		if err != nil {
			return err
		}
		switch s.Status {
		case contracts.SessionRunning:
		case contracts.SessionPendingInterrupt:
			if _, err := p.approve(ctx, id); err != nil {
				return err
			}
		default:
			return p.ended(ctx, who, s)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return contracts.Errorf(contracts.CodeInternal, "it does not end")
}

func (p player) ended(ctx context.Context, who *client.Client, s contracts.SessionResponse) error {
	for _, id := range s.RunIDs {
		run, err := who.Run(ctx, id, client.Opt{})
		if err != nil {
			return err
		}
		if run.State != contracts.RunCompleted && run.State != contracts.RunDegraded {
			return contracts.Errorf(contracts.CodeInternal, "its run is %s", run.State)
		}
		for _, n := range run.Nodes {
			collectRows(n.Facts, p.names)
		}
	}
	return nil
}

// collectRows adds the names of ids from rows with an id and a name.
func collectRows(value any, names map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		if name, ok := value["name"].(string); ok {
			for key, v := range value {
				if id, ok := v.(string); ok && (key == "id" || len(key) > 3 && key[len(key)-3:] == "_id") {
					names[id] = name
				}
			}
		}
		for _, v := range value {
			collectRows(v, names)
		}
	case []any:
		for _, v := range value {
			collectRows(v, names)
		}
	}
}
