package executiontest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// write is a transition that was checked and copied. It cannot be refused any more, so it is
// applied as a whole or not at all.
type write struct {
	execution.Transition

	row *runRow
	now time.Time
}

// Commit applies one transition under the lease.
func (s *Store) Commit(_ context.Context, t execution.Transition) (execution.Committed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := s.held(t.Lease)
	if err != nil {
		return execution.Committed{}, err
	}
	w, err := s.plan(row, t, time.Now())
	if err != nil {
		return execution.Committed{}, err
	}
	return s.apply(w), nil
}

// plan copies and checks a transition. It changes nothing except the names that the run's rows
// hold.
func (s *Store) plan(row *runRow, t execution.Transition, now time.Time) (write, error) {
	t, err := clone(t)
	if err != nil {
		return write{}, err
	}
	if t.At.IsZero() {
		t.At = now
	}
	w := write{Transition: t, row: row, now: now}
	for _, check := range []func(write) error{s.checkGates, s.checkIntents, s.checkConsumed, checkLedger} {
		if err := check(w); err != nil {
			return write{}, err
		}
	}
	return w, row.name([]any{t.Nodes, t.Intents})
}

func (s *Store) checkGates(w write) error {
	ids, codes := map[string]bool{}, map[string]bool{}
	for _, g := range s.gates {
		ids[g.InterruptID] = true
		if g.Status == contracts.InterruptOpen {
			codes[strings.ToUpper(g.Code)] = true
		}
	}
	delete(codes, "")
	for _, g := range w.Gates {
		code := strings.ToUpper(g.Code)
		if ids[g.InterruptID] || codes[code] {
			return contracts.Errorf(contracts.CodeConflict, "the id %s or the code %s of the interrupt is taken", g.InterruptID, g.Code)
		}
		ids[g.InterruptID], codes[code] = true, code != ""
	}
	return nil
}

func (s *Store) checkIntents(w write) error {
	if len(w.Intents) > 0 && w.row.run.CancelRequestedAt != nil {
		return contracts.Errorf(contracts.CodeConflict, "run %s is being cancelled: no write begins any more", w.row.run.ID)
	}
	type place struct {
		node string
		n    int
	}
	places, keys, nonces := map[place]bool{}, map[string]bool{}, map[string]bool{}
	for _, i := range w.row.intents {
		places[place{i.NodeID, i.N}] = true
	}
	for _, i := range w.Intents {
		at := place{i.NodeID, i.N}
		if places[at] || s.keys[i.Key] || keys[i.Key] || s.intent[i.Nonce] != nil || nonces[i.Nonce] {
			return contracts.Errorf(contracts.CodeConflict, "there is an intent %s of node %s already", i.Key, i.NodeID)
		}
		places[at], keys[i.Key], nonces[i.Nonce] = true, true, true
	}
	return nil
}

func (s *Store) checkConsumed(w write) error {
	seen := map[string]bool{}
	for _, nonce := range w.Consume {
		i, ok := s.intent[nonce]
		if !ok || i.run != w.row || i.Consumed || seen[nonce] {
			return contracts.Errorf(contracts.CodeConflict, "run %s has no outcome %s to consume", w.row.run.ID, nonce)
		}
		seen[nonce] = true
	}
	return nil
}

func checkLedger(w write) error {
	seq, head := w.row.run.LedgerSeq, w.row.run.LedgerHead
	for _, e := range w.Ledger {
		if e.Seq != seq+1 || e.PrevHash != head {
			return contracts.Errorf(contracts.CodeConflict, "ledger entry %d of run %s does not follow entry %d", e.Seq, w.row.run.ID, seq)
		}
		seq, head = e.Seq, e.Hash
	}
	return nil
}

// apply applies a checked transition. The caller holds mu.
func (s *Store) apply(w write) execution.Committed {
	row := w.row
	s.applyNodes(w)
	s.applyGates(w)
	s.applyIntents(w)
	for _, e := range w.Events {
		s.log(row, e, w.At)
	}
	for _, e := range w.Ledger {
		row.run.LedgerSeq, row.run.LedgerHead = e.Seq, e.Hash
		s.ledger[row.run.ID] = append(s.ledger[row.run.ID], e)
	}
	s.applyContents(w)
	row.run.State = cmp.Or(w.State, row.run.State)
	row.run.Verdict = cmp.Or(w.Verdict, row.run.Verdict)
	row.run.UpdatedAt = w.At
	woken := s.releaseNodes(row.run.ID, w.Release)
	done := execution.Committed{Parked: s.rest(w, &woken), WakeSeq: row.run.WakeSeq}
	slices.Sort(woken)
	done.Woken = slices.Compact(woken)
	return done
}

// rest parks or finishes the run if the transition asks for it, and reports whether it was parked.
// Runs that can be advanced because of it are added to woken.
func (s *Store) rest(w write, woken *[]string) bool {
	run := &w.row.run
	switch {
	case w.Finished:
		run.FinishedAt = &w.At
		run.Owner, run.LeaseUntil, run.WakeAt, run.Parked = "", time.Time{}, time.Time{}, false
		*woken = append(*woken, s.forgetWaiter(run.ID, true)...)
	case w.Park && run.WakeSeq == w.SeenWakeSeq:
		run.Owner, run.LeaseUntil = "", time.Time{}
		run.Parked, run.HandledSeq, run.WakeAt = true, w.SeenWakeSeq, w.WakeAt
		*woken = append(*woken, s.forgetWaiter(run.ID, false)...)
		return true
	}
	return false
}

func (s *Store) applyNodes(w write) {
	for _, n := range w.Nodes {
		place, ok := w.row.at[n.NodeID]
		if !ok {
			w.row.at[n.NodeID] = len(w.row.nodes)
			w.row.nodes = append(w.row.nodes, n)
			continue
		}
		w.row.nodes[place] = n
	}
}

func (s *Store) applyGates(w write) {
	for _, g := range w.Gates {
		g.RunID = cmp.Or(g.RunID, w.row.run.ID)
		g.SessionID = cmp.Or(g.SessionID, w.row.run.SessionID)
		s.open(g, w.At)
	}
}

// open inserts a checked interrupt. The caller holds mu.
func (s *Store) open(g contracts.Interrupt, at time.Time) {
	g.Status = cmp.Or(g.Status, contracts.InterruptOpen)
	if g.CreatedAt.IsZero() {
		g.CreatedAt = at
	}
	s.gates = append(s.gates, &g)
	s.gate[g.InterruptID] = &g
	s.opened(g)
}

func (s *Store) applyIntents(w write) {
	for _, i := range w.Intents {
		i.RunID = cmp.Or(i.RunID, w.row.run.ID)
		if i.CreatedAt.IsZero() {
			i.CreatedAt = w.At
		}
		row := &intentRow{Intent: i, run: w.row}
		w.row.intents = append(w.row.intents, row)
		s.intent[i.Nonce], s.keys[i.Key] = row, true
	}
	for _, nonce := range w.Consume {
		s.intent[nonce].Consumed = true
	}
}

func (s *Store) applyContents(w write) {
	keepPayloads(s, w.Ledger, w.Payloads)
	for _, b := range w.Blobs {
		b.SHA256 = bareHash(b.SHA256)
		if _, there := s.blobs[b.SHA256]; !there {
			s.blobs[b.SHA256] = b
		}
		w.row.names[b.SHA256] = true
	}
	for _, d := range w.Data {
		d.RunID = w.row.run.ID
		w.row.data[d.NodeID] = d
	}
}

// log appends an event to its session. The caller holds mu.
func (s *Store) log(row *runRow, e contracts.Event, at time.Time) {
	if row != nil {
		e.SessionID = cmp.Or(e.SessionID, row.run.SessionID)
		e.RunID = cmp.Or(e.RunID, row.run.ID)
	}
	if e.At.IsZero() {
		e.At = at
	}
	s.seqs[e.SessionID]++
	e.Seq = s.seqs[e.SessionID]
	s.events[e.SessionID] = append(s.events[e.SessionID], e)
}
