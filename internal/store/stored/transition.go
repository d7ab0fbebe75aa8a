package stored

import (
	"cmp"
	"slices"
	"time"

	"github.com/manifold-run/manifold/execution"
)

// Transition is an execution.Transition with all rows encoded. Each list of rows corresponds to
// the list in its name, element by element.
type Transition struct {
	execution.Transition

	NodeRows, GateRows, IntentRows, LedgerRows []string

	// EventRows are rows that contain several events each.
	EventRows []EventPack

	// VerdictRow is "" if there is no verdict.
	VerdictRow string
	// Names are the hashes of the blobs that the rows refer to.
	Names []string
}

// Prepare sets the fields that follow from the run, and encodes the rows.
func Prepare(t execution.Transition, now time.Time) (*Transition, error) {
	t.At = OrTime(t.At, now)
	p := &Transition{Transition: t}
	p.Gates, p.Intents, p.Events = slices.Clone(t.Gates), slices.Clone(t.Intents), slices.Clone(t.Events)
	for i := range p.Gates {
		SettleInterrupt(&p.Gates[i], t.Lease.RunID, t.At)
	}
	for i := range p.Intents {
		in := &p.Intents[i]
		in.RunID = cmp.Or(in.RunID, t.Lease.RunID)
		in.CreatedAt = OrTime(in.CreatedAt, t.At)
	}
	for i := range p.Events {
		p.Events[i].RunID = cmp.Or(p.Events[i].RunID, t.Lease.RunID)
		p.Events[i].At = OrTime(p.Events[i].At, t.At)
	}
	return p, p.encode()
}

func (p *Transition) encode() (err error) {
	if p.NodeRows, err = EncodeAll(p.Nodes); err != nil {
		return err
	}
	if p.GateRows, err = EncodeAll(p.Gates); err != nil {
		return err
	}
	if p.IntentRows, err = EncodeAll(p.Intents); err != nil {
		return err
	}
	if p.EventRows, err = PackEvents(p.Events); err != nil {
		return err
	}
	if p.LedgerRows, err = EncodeAll(p.Ledger); err != nil {
		return err
	}
	if p.Verdict != nil {
		if p.VerdictRow, err = Encode(p.Verdict); err != nil {
			return err
		}
	}
	p.Names = append(NamedIn(p.NodeRows...), NamedIn(p.IntentRows...)...)
	return nil
}
