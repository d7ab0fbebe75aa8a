package execution

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// patience is how often reading a run is tried before a person is asked; maxPutOff is the longest
// pause between two tries.
const (
	patience  = 5
	maxPutOff = time.Hour
)

// unreadableRuns counts the consecutive failures to read each run on this replica. It is safe for
// concurrent use.
type unreadableRuns struct {
	mu    sync.Mutex // guards tries
	tries map[string]int
}

func (u *unreadableRuns) again(runID string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.tries == nil {
		u.tries = map[string]int{}
	}
	u.tries[runID]++
	return u.tries[runID]
}

func (u *unreadableRuns) forget(runID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.tries, runID)
}

// deferUnreadable parks a run that cannot be read, for longer each time. After several tries it
// asks a person whether to abandon the run. It commits knowing only the lease of the run.
func (r *Runner) deferUnreadable(ctx context.Context, lease Lease, fault error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	signals, err := r.store.ReadSignals(ctx, lease.RunID)
	if err == nil {
		_, err = r.store.Commit(ctx, r.deferTransition(lease, signals, fault))
		r.notify("", lease.RunID, false)
	}
	if err != nil { // the lease expires by itself, and a replica tries again
		r.logFault(ctx, "put off run "+lease.RunID, err)
	}
}

func (r *Runner) deferTransition(lease Lease, signals Signals, fault error) Transition {
	now, gate := r.cfg.Now(), lastUnreadable(signals.Gates)
	if gate != nil && gate.Status == contracts.InterruptAnswered && gate.Response == contracts.AnswerGiveUp {
		r.unread.forget(lease.RunID)
		return abandonTransition(lease, now, fault)
	}
	tries := r.unread.again(lease.RunID)
	pause := min(r.cfg.LeaseTTL<<min(tries-1, 16), maxPutOff)
	t := Transition{Lease: lease, At: now, Park: true, SeenWakeSeq: signals.WakeSeq, WakeAt: now.Add(jittered(pause))}
	if tries < patience || gate != nil && gate.Status == contracts.InterruptOpen {
		return t
	}
	r.unread.forget(lease.RunID) // count again after the person has answered
	t.State, t.WakeAt = contracts.RunWaiting, now.Add(maxPutOff)
	t.Gates = []contracts.Interrupt{{
		InterruptID: NewID("gate"), Code: NewCode(), Type: contracts.InterruptRunUnreadable, Status: contracts.InterruptOpen,
		RunID: lease.RunID, CreatedAt: now, Roles: []string{"operator"}, Reason: "what is stored of the run cannot be read",
		Prompt: contracts.CleanSummary("This run cannot go on: what is stored of it cannot be read (" + fault.Error() + "). Nothing more is sent for it."),
		Options: []contracts.InterruptOption{
			{ID: contracts.AnswerRetry, Label: "Try again"},
			{ID: contracts.AnswerGiveUp, Label: "Give the run up; what it had under way is to be looked for in the systems"},
		},
	}}
	t.Events = []contracts.Event{{
		RunID: lease.RunID, At: now, Type: contracts.EventInterrupt, Status: string(contracts.InterruptRunUnreadable), Summary: t.Gates[0].Prompt,
	}}
	return t
}

// abandonTransition ends a run that cannot be read. Its locks are kept until they are broken,
// because one of its writes may be in flight.
func abandonTransition(lease Lease, now time.Time, fault error) Transition {
	reason := contracts.CleanSummary("given up: what is stored of the run cannot be read: " + fault.Error())
	return Transition{
		Lease: lease, At: now, State: contracts.RunFailed, Finished: true,
		Verdict: &contracts.Verdict{
			Status: contracts.VerdictBlocked, Category: string(contracts.InterruptRunUnreadable), Reasons: []string{reason},
			Fixes: []string{"look in the systems for what the run had under way"},
		},
		Events: []contracts.Event{
			{RunID: lease.RunID, At: now, Type: contracts.EventVerdict, Status: string(contracts.VerdictBlocked), Summary: reason},
			{RunID: lease.RunID, At: now, Type: contracts.EventDone, Status: string(contracts.RunFailed)},
		},
	}
}

func lastUnreadable(gates []contracts.Interrupt) *contracts.Interrupt {
	for i := range slices.Backward(gates) {
		if gates[i].Type == contracts.InterruptRunUnreadable {
			return &gates[i]
		}
	}
	return nil
}

// readable closes the question about a run that can be read again.
func (o *owner) readable(gates []contracts.Interrupt) {
	o.r.unread.forget(o.lease.RunID)
	gate := lastUnreadable(gates)
	if gate == nil || gate.Status != contracts.InterruptOpen {
		return
	}
	if err := updateGate(o.ctx, o.r.store, gate.InterruptID, supersede); !closed(err) {
		o.logger().WarnContext(o.ctx, "gate is left open", slog.Any("error", err))
	}
}
