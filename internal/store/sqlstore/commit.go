package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
)

// Commit applies one transition under the lease. It returns an error of code lease_lost if the
// lease has been lost.
func (s *RunStore) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	p, err := stored.Prepare(t, s.now())
	if err != nil {
		return execution.Committed{}, err
	}
	var done execution.Committed
	c := changeOf(p)
	c.apply = func(ctx context.Context, g *group) error {
		r, err := g.held(t.Lease)
		if err != nil {
			return err
		}
		done, err = g.apply(ctx, r, p)
		return err
	}
	if err := s.write(ctx, "commit run "+t.Lease.RunID, c); err != nil {
		return execution.Committed{}, err
	}
	return done, nil
}

// changeOf returns the change with the rows that a transition needs, without its apply.
func changeOf(p *stored.Transition) change {
	c := change{
		runs: []string{p.Lease.RunID}, nonces: p.Consume, gates: len(p.Gates) > 0,
		locks: len(p.Release) > 0, blobs: len(p.Blobs)+len(p.Names) > 0,
	}
	for _, g := range p.Gates {
		if g.SessionID != "" {
			c.sessions = append(c.sessions, g.SessionID)
		}
	}
	return c
}

// CreateRun inserts a run with its first transition.
func (s *RunStore) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	c, err := creation(run, ttl, first, s.now())
	if err != nil {
		return err
	}
	return s.write(ctx, "create run "+run.ID, c)
}

// creation returns the change that inserts a run.
func creation(run execution.Run, ttl time.Duration, first execution.Transition, now time.Time) (change, error) {
	plan, err := stored.Encode(run.Plan)
	if err != nil {
		return change{}, err
	}
	first.Lease.RunID = run.ID
	p, err := stored.Prepare(first, now)
	if err != nil {
		return change{}, err
	}
	p.Names = append(p.Names, stored.NamedIn(plan)...)
	c := changeOf(p)
	c.sessions = append(c.sessions, run.SessionID)
	c.apply = func(ctx context.Context, g *group) error {
		if _, taken := g.runs[run.ID]; taken {
			return contracts.Errorf(contracts.CodeConflict, "there is a run %q already", run.ID)
		}
		r := newHead(run, ttl, g.now, plan)
		if _, err := g.apply(ctx, r, p); err != nil {
			return err
		}
		g.runs[r.id] = r
		return nil
	}
	return c, nil
}

// newHead returns the row of a new run.
func newHead(run execution.Run, ttl time.Duration, now time.Time, plan string) *head {
	created := cmp.Or(stored.Nanos(run.CreatedAt), stored.Nanos(now))
	goal, domains := searchable(run.Plan)
	r := &head{
		id: run.ID, session: run.SessionID, owner: run.Owner, state: string(run.State), epoch: run.Epoch,
		wakeSeq: run.WakeSeq, handledSeq: run.HandledSeq, updatedAt: cmp.Or(stored.Nanos(run.UpdatedAt), created), format: cmp.Or(run.Format, execution.Format),
		born: &runInsert{requester: run.Plan.Owner.Subject(), createdAt: created, plan: plan, goal: goal, domains: domains},
	}
	if r.owner != "" {
		r.epoch, r.leaseUntil = max(r.epoch, 1), stored.Nanos(now.Add(ttl))
	}
	return r
}

// apply adds a transition to the group. r is the current row of its run.
func (g *group) apply(ctx context.Context, r *head, t *stored.Transition) (execution.Committed, error) {
	if err := g.judge(r, t); err != nil {
		return execution.Committed{}, err
	}
	if err := g.addRows(r, t); err != nil {
		return execution.Committed{}, err
	}
	var woken []string
	for _, node := range t.Release {
		freed, err := g.release(ctx, r.id, node)
		if err != nil {
			return execution.Committed{}, err
		}
		woken = append(woken, freed...)
	}
	instead, parked, err := g.rest(ctx, r, t)
	if err != nil {
		return execution.Committed{}, err
	}
	woken = append(woken, instead...)
	slices.Sort(woken)
	return execution.Committed{Parked: parked, WakeSeq: r.wakeSeq, Woken: slices.Compact(woken)}, nil
}

// judge rejects a transition that is not based on the stored state.
func (g *group) judge(r *head, t *stored.Transition) error {
	if len(t.Intents) > 0 && r.cancelledAt != 0 {
		return contracts.Errorf(contracts.CodeConflict, "run %s is being cancelled: no write begins any more", r.id)
	}
	seen := map[string]bool{}
	for _, nonce := range t.Consume {
		if i, ok := g.intents[nonce]; !ok || i.runID != r.id || i.consumed || seen[nonce] {
			return contracts.Errorf(contracts.CodeConflict, "run %s has no outcome %s to consume", r.id, nonce)
		}
		seen[nonce] = true
	}
	seq, last := r.ledgerSeq, r.ledgerHead
	for _, e := range t.Ledger {
		if e.Seq != seq+1 || e.PrevHash != last {
			return contracts.Errorf(contracts.CodeConflict, "ledger entry %d of run %s does not follow entry %d", e.Seq, r.id, seq)
		}
		seq, last = e.Seq, e.Hash
	}
	return nil
}

// addRows adds the rows of a transition. If it fails, it has added nothing.
func (g *group) addRows(r *head, t *stored.Transition) error {
	notices := make([][]orchestrator.WebhookDelivery, len(t.Gates))
	for i := range t.Gates {
		gate := &t.Gates[i]
		gate.SessionID = cmp.Or(gate.SessionID, r.session)
		var err error
		if notices[i], err = orchestrator.NoticesOf(*gate, g.sessions[gate.SessionID].webhook); err != nil {
			return err
		}
	}
	for i, gate := range t.Gates {
		g.addGate(gate, t.GateRows[i], notices[i])
	}
	for i, n := range t.Nodes {
		if r.born != nil && !r.changed { // the first transition of the run, which has no nodes yet
			g.bornNodes = append(g.bornNodes, r.id, n.NodeID, t.NodeRows[i])
			continue
		}
		g.nodes.put(r.id, n.NodeID, t.NodeRows[i])
	}
	for i, in := range t.Intents {
		g.intentRows = append(g.intentRows, r.id, in.NodeID, int64(in.N), in.Key, in.Nonce, in.Operation, "", false, t.IntentRows[i])
	}
	for _, nonce := range t.Consume {
		g.intents[nonce].consumed = true
		g.consumed = append(g.consumed, nonce)
	}
	for _, pack := range t.EventRows {
		pack.SessionID = cmp.Or(pack.SessionID, r.session)
		g.events = append(g.events, pack)
	}
	for i, e := range t.Ledger {
		g.ledger = append(g.ledger, r.id, e.Seq, t.LedgerRows[i])
		r.ledgerSeq, r.ledgerHead = e.Seq, e.Hash
	}
	if pack := stored.PackPayloads(t.Payloads); pack != nil {
		g.payloads = append(g.payloads, r.id, t.Ledger[0].Seq, pack)
	}
	for _, b := range t.Blobs {
		hash := stored.BareHash(b.SHA256)
		g.addBlob(hash, b.Kind, stored.BytesOf(b.Body))
		g.addNames(r.id, hash)
	}
	g.addNames(r.id, t.Names...)
	for _, d := range t.Data {
		g.data.put(r.id, d.NodeID, stored.Nanos(d.ExpiresAt), stored.BytesOf(d.Body))
	}
	return nil
}

// addGate adds a gate and its webhook deliveries.
func (g *group) addGate(i contracts.Interrupt, body string, notices []orchestrator.WebhookDelivery) {
	reader, created := stored.ReaderOf(i), stored.Nanos(i.CreatedAt)
	g.gates = append(g.gates, i.InterruptID, i.SessionID, i.RunID, strings.ToUpper(i.Code), string(i.Type), string(i.Status), int64(0), g.sessions[i.SessionID].owner,
		listOf(reader.Roles), reader.Domain, reader.Class, body, created)
	for _, d := range notices {
		at := stored.Nanos(d.CreatedAt)
		g.mail, g.house = append(g.mail, d.ID, i.SessionID, d.URL, string(d.Body), int64(0), at, at), true
		g.deliveries = append(g.deliveries, d.ID)
	}
}

// listOf encodes texts as a JSON list.
func listOf(texts []string) string {
	raw, err := json.Marshal(texts)
	if err != nil {
		return "[]" // cannot happen: strings can always be encoded
	}
	return string(raw)
}

// rest updates the run's row, and finishes or parks the run if the transition requests it. It
// returns the runs that are woken because this one no longer waits for a lock.
func (g *group) rest(ctx context.Context, r *head, t *stored.Transition) (woken []string, parked bool, err error) {
	r.changed = true
	r.state, r.verdict, r.updatedAt = cmp.Or(string(t.State), r.state), cmp.Or(t.VerdictRow, r.verdict), stored.Nanos(t.At)
	switch {
	case t.Finished:
		r.finishedAt = stored.Nanos(t.At)
		r.owner, r.leaseUntil, r.wakeAt, r.parked = "", 0, 0, false
		woken, err = g.forgetWaiter(ctx, r, true)
	case t.Park && r.wakeSeq == t.SeenWakeSeq:
		r.owner, r.leaseUntil = "", 0
		r.parked, r.handledSeq, r.wakeAt, r.parks = true, t.SeenWakeSeq, stored.Nanos(t.WakeAt), true
		woken, err = g.forgetWaiter(ctx, r, false)
	}
	return woken, r.parked, err
}
