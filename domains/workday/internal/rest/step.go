package rest

import (
	"context"
	"net/url"
)

// Steps reads and decides steps of events as the user of its client.
type Steps struct{ c *Client }

// NewSteps returns Steps that use c.
func NewSteps(c *Client) Steps { return Steps{c} }

// Awaited returns the steps that await the user of the client.
func (s Steps) Awaited(ctx context.Context) ([]Step, error) {
	page, err := list[Step](ctx, s.c, s.c.cfg.Paths.Process+"/eventSteps", nil, 500)
	return page.Items, err
}

// Step returns one step.
func (s Steps) Step(ctx context.Context, id string) (Step, error) {
	var out Step
	err := s.c.get(ctx, s.path(id), nil, &out)
	return out, err
}

// Approve approves a step.
func (s Steps) Approve(ctx context.Context, step, comment string) error {
	return s.act(ctx, step, "approve", map[string]any{"id": step, "comment": comment})
}

// Deny denies a step, and thereby the request.
func (s Steps) Deny(ctx context.Context, step, comment string) error {
	return s.act(ctx, step, "deny", map[string]any{"id": step, "comment": comment})
}

// Targets returns the people to whom a step can be sent back.
func (s Steps) Targets(ctx context.Context, step string) ([]Ref, error) {
	page, err := list[Ref](ctx, s.c, s.c.cfg.Paths.Process+"/values/sendBack/to/", url.Values{"eventStep": {step}}, 100)
	return page.Items, err
}

// SendBack sends a step back to a person, to be changed and submitted again.
func (s Steps) SendBack(ctx context.Context, step, to, reason string) error {
	return s.act(ctx, step, "sendBack", map[string]any{"id": step, "reason": reason, "to": Ref{ID: to}})
}

func (s Steps) act(ctx context.Context, step, action string, in any) error {
	var out Ref // the answer repeats the id
	return s.c.post(ctx, s.path(step)+"/"+action, in, &out)
}

func (s Steps) path(id string) string {
	return s.c.cfg.Paths.Process + "/eventSteps/" + url.PathEscape(id)
}
