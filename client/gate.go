package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/manifold-run/manifold/contracts"
)

// GatesFilter selects interrupts; empty fields select all.
type GatesFilter struct {
	SessionID string
	RunID     string
	Status    contracts.InterruptStatus
	Type      contracts.InterruptType
	Limit     int
}

// Gates lists the interrupts that the caller may see, oldest first; a limit of 0 returns all of
// them.
func (c *Client) Gates(ctx context.Context, f GatesFilter) ([]contracts.Interrupt, error) {
	q := url.Values{}
	setText(q, "session_id", f.SessionID)
	setText(q, "run_id", f.RunID)
	setText(q, "status", string(f.Status))
	setText(q, "type", string(f.Type))
	return list[contracts.Interrupt](ctx, c.wire, "/v1/gates", q, f.Limit)
}

// Gate returns one interrupt by its id or code.
func (c *Client) Gate(ctx context.Context, idOrCode string) (contracts.Interrupt, error) {
	var out contracts.Interrupt
	err := c.wire.do(ctx, request{method: http.MethodGet, path: path("v1", "gates", idOrCode)}, &out)
	return out, err
}

// Decide decides or answers an interrupt by its id or code.
func (c *Client) Decide(ctx context.Context, idOrCode string, body contracts.Resume, opt Opt) (contracts.Interrupt, error) {
	var out contracts.Interrupt
	err := c.wire.do(ctx, keyed(request{method: http.MethodPost, path: path("v1", "gates", idOrCode, "decision"), body: body, opt: opt}), &out)
	return out, err
}

// Approve approves the action that the gate shows, identified by its hash.
func (c *Client) Approve(ctx context.Context, gate contracts.Interrupt, comment string, opt Opt) (contracts.Interrupt, error) {
	return c.Decide(ctx, gate.InterruptID, contracts.Resume{
		Decision: contracts.DecisionApprove, ActionSHA256: gate.ActionSHA256, Comment: comment,
	}, opt)
}

// Reject rejects the action that the gate shows, identified by its hash.
func (c *Client) Reject(ctx context.Context, gate contracts.Interrupt, comment string, opt Opt) (contracts.Interrupt, error) {
	return c.Decide(ctx, gate.InterruptID, contracts.Resume{
		Decision: contracts.DecisionReject, ActionSHA256: gate.ActionSHA256, Comment: comment,
	}, opt)
}

// Answer answers an interrupt that is not a gate.
func (c *Client) Answer(ctx context.Context, gate contracts.Interrupt, response any, opt Opt) (contracts.Interrupt, error) {
	return c.Decide(ctx, gate.InterruptID, contracts.Resume{Response: response}, opt)
}

// Locks lists the resource locks that are held.
func (c *Client) Locks(ctx context.Context) ([]contracts.LockView, error) {
	return list[contracts.LockView](ctx, c.wire, "/v1/locks", nil, 0)
}

// BreakLock releases a lock by force.
func (c *Client) BreakLock(ctx context.Context, key string) (contracts.LockView, error) {
	var out contracts.LockView
	err := c.wire.do(ctx, request{method: http.MethodPost, path: "/v1/locks/break", body: contracts.LockKey{Key: key}}, &out)
	return out, err
}
