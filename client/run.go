package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Plan returns a preview of a plan without running it.
func (c *Client) Plan(ctx context.Context, body contracts.PlanRequest, opt ...Opt) (contracts.PlanPreview, error) {
	body.Intents = slices.Clone(body.Intents)
	for i := range body.Intents {
		if body.Intents[i].Parameters == nil { // the server expects an object, not null
			body.Intents[i].Parameters = map[string]any{}
		}
	}
	if body.Draft != nil && body.Draft.Steps == nil { // the server expects a list, not null
		body.Draft = &contracts.Draft{Steps: []contracts.DraftStep{}, More: body.Draft.More}
	}
	var out contracts.PlanPreview
	err := c.wire.do(ctx, request{method: http.MethodPost, path: "/v1/plans", body: body, harmless: true, opt: slices.Concat(opt, []Opt{{}})[0]}, &out)
	return out, err
}

// RunPlan runs exactly the previewed plan. If opt has no idempotency key, one is generated.
func (c *Client) RunPlan(ctx context.Context, body contracts.RunPlan, opt Opt) (contracts.SessionResponse, error) {
	return c.session(ctx, keyed(request{method: http.MethodPost, path: "/v1/runs", body: body, opt: opt}))
}

// RunsFilter selects runs; empty fields select all. Everybody includes the runs of all callers.
type RunsFilter struct {
	SessionID string
	State     contracts.RunState
	Before    time.Time
	// ScoreBelow selects runs that ended with a lower outcome score; 0 selects all.
	ScoreBelow float64
	// Held selects the runs that are in quarantine after a restore.
	Held      bool
	Limit     int
	Everybody bool
	// Timing includes how long each run has waited for people.
	Timing bool
}

// Runs lists runs, newest first.
func (c *Client) Runs(ctx context.Context, f RunsFilter) ([]contracts.RunSummary, error) {
	q := url.Values{}
	setText(q, "session_id", f.SessionID)
	setText(q, "state", string(f.State))
	setTime(q, "before", f.Before)
	if f.Held {
		q.Set("held", "true")
	}
	if f.ScoreBelow > 0 {
		q.Set("score_below", strconv.FormatFloat(f.ScoreBelow, 'f', -1, 64))
	}
	if f.Everybody {
		q.Set("all", "true")
	}
	if f.Timing {
		q.Set("timing", "true")
	}
	return list[contracts.RunSummary](ctx, c.wire, "/v1/runs", q, f.Limit)
}

func (c *Client) run(ctx context.Context, r request) (contracts.RunView, error) {
	var out contracts.RunView
	err := c.wire.do(ctx, r, &out)
	return out, err
}

// Run returns one run. It waits at most opt.Wait while the run is running.
func (c *Client) Run(ctx context.Context, id string, opt Opt) (contracts.RunView, error) {
	return c.run(ctx, request{method: http.MethodGet, path: path("v1", "runs", id), opt: opt})
}

// AwaitRun waits until a run has ended or waits for a person or a timer.
func AwaitRun(ctx context.Context, c *Client, id string) (contracts.RunView, error) {
	for {
		view, err := c.Run(ctx, id, Opt{Wait: longPoll})
		if err != nil || view.State.Terminal() || view.State == contracts.RunWaiting {
			return view, err
		}
	}
}

// CancelRun requests the cancellation of a run.
func (c *Client) CancelRun(ctx context.Context, id string) (contracts.RunView, error) {
	return c.run(ctx, request{method: http.MethodPost, path: path("v1", "runs", id, "cancel")})
}

// ReleaseRun releases a run from the quarantine after a restore.
func (c *Client) ReleaseRun(ctx context.Context, id string) (contracts.RunView, error) {
	return c.run(ctx, request{method: http.MethodPost, path: path("v1", "runs", id, "release")})
}

// RunEvents returns the events of a run with sequence numbers above after, in order.
func (c *Client) RunEvents(ctx context.Context, id string, after int64, limit int) ([]contracts.Event, error) {
	return c.wire.events(ctx, path("v1", "runs", id, "events"), after, limit)
}

// Ledger returns the hash chain of a run.
func (c *Client) Ledger(ctx context.Context, id string) ([]contracts.LedgerEntry, error) {
	return list[contracts.LedgerEntry](ctx, c.wire, path("v1", "runs", id, "ledger"), nil, 0)
}

// RunByDomain returns the state of a run, grouped by domain.
func RunByDomain(ctx context.Context, c *Client, id string) (contracts.DomainState, error) {
	var out contracts.DomainState
	err := c.wire.do(ctx, request{method: http.MethodGet, path: path("v1", "runs", id, "state")}, &out)
	return out, err
}

// Replay replays a run from its plan and ledger, without calling domains.
func (c *Client) Replay(ctx context.Context, id string) (contracts.ReplayReport, error) {
	var out contracts.ReplayReport
	err := c.wire.do(ctx, request{method: http.MethodPost, path: path("v1", "runs", id, "replay")}, &out)
	return out, err
}

// Compensate starts a run that undoes one write of a run. Without a node it undoes all writes of an
// ended run, the last first.
func (c *Client) Compensate(ctx context.Context, id, nodeID string, opt Opt) (contracts.SessionResponse, error) {
	of := path("v1", "runs", id, "compensate")
	if nodeID != "" {
		of = path("v1", "runs", id, "nodes", nodeID, "compensate")
	}
	return c.session(ctx, request{method: http.MethodPost, path: of, opt: opt})
}

// NodeData returns the raw output of a node.
func (c *Client) NodeData(ctx context.Context, id, nodeID string) ([]byte, error) {
	return c.wire.raw(ctx, request{method: http.MethodGet, path: path("v1", "runs", id, "nodes", nodeID, "data")})
}

// Artifact returns an artifact that a node of the run refers to, by its SHA-256 with or without
// the prefix "sha256:".
func (c *Client) Artifact(ctx context.Context, id, sha256 string) ([]byte, error) {
	return c.wire.raw(ctx, request{method: http.MethodGet, path: path("v1", "runs", id, "artifacts", strings.TrimPrefix(sha256, "sha256:"))})
}

// AuditVerify verifies the hash chain of one run, or of all runs if runID is "".
func (c *Client) AuditVerify(ctx context.Context, runID string) (contracts.AuditReport, error) {
	var out contracts.AuditReport
	err := c.wire.do(ctx, request{method: http.MethodPost, path: "/v1/audit/verify", body: contracts.AuditRequest{RunID: runID}}, &out)
	return out, err
}

// AuditRoot returns the latest signed root.
func (c *Client) AuditRoot(ctx context.Context) (contracts.AuditRoot, error) {
	var out contracts.AuditRoot
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/v1/audit/root"}, &out)
	return out, err
}

// AuditProof returns the inclusion proof of an entry in a run's ledger, or in the ledgers "acts"
// and "locks".
func (c *Client) AuditProof(ctx context.Context, runID string, seq int64) (contracts.AuditProof, error) {
	var out contracts.AuditProof
	query := url.Values{"run_id": {runID}, "seq": {strconv.FormatInt(seq, 10)}}
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/v1/audit/proof", query: query}, &out)
	return out, err
}

// AuditConsistency returns the proof that the current log extends the log of size from.
func (c *Client) AuditConsistency(ctx context.Context, from int64) (contracts.AuditConsistency, error) {
	var out contracts.AuditConsistency
	query := url.Values{"from": {strconv.FormatInt(from, 10)}}
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/v1/audit/consistency", query: query}, &out)
	return out, err
}
