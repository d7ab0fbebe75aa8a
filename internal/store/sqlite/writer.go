package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/faultpoint"
	"github.com/manifold-run/manifold/internal/store/groupcommit"
)

// writer is the one goroutine that changes the database.
type writer struct {
	*groupcommit.Queue[operation]

	handle *handle
	// seals is nil where nothing is sealed.
	seals *sealer
	now   func() time.Time
	fault faultpoint.Point
}

// operation is one write. It may be run again, when a batch has to be repeated
// with care; its changes of the time before are gone then.
type operation func(context.Context, *tx) error

// tx is the transaction that a write runs in.
type tx struct {
	*handle

	// now is the store's clock.
	now time.Time
	// act is what the caller does, if it named it.
	act execution.Act
}

func startWriter(h *handle, seals *sealer, now func() time.Time) *writer {
	w := &writer{handle: h, seals: seals, now: now}
	w.Queue = groupcommit.Start(w.commit)
	return w
}

// write runs a change in a transaction and returns when it is on the disk, or
// when it was refused. An act that the caller has named is recorded with it.
func (s *file) write(ctx context.Context, doing string, run operation) error {
	act, named := execution.ActOf(ctx)
	if named {
		run = acting(act, run)
	}
	err := s.writer.Do(ctx, doing, run)
	if named && err == nil {
		execution.Recorded(ctx)
	}
	return translate(doing, err)
}

// acting runs a change and appends the act that it is. A broken lock has a chain
// of its own.
func acting(act execution.Act, run operation) operation {
	return func(ctx context.Context, x *tx) error {
		x.act = act
		if err := run(ctx, x); err != nil || act.Kind == contracts.LedgerLockBroken {
			return err
		}
		return recordAct(ctx, x, act)
	}
}

// settle takes or drops what operations have told the sealer.
func (w *writer) settle(kept bool) {
	if w.seals != nil {
		w.seals.Settle(kept)
	}
}

// commit does a batch in one transaction. If that cannot be committed, each
// write is tried alone, so that one fault harms only its own write.
func (w *writer) commit(batch []*groupcommit.Write[operation]) {
	answers, err := w.attempt(batch, w.runAll)
	if err != nil && len(batch) > 1 && !broken(err) {
		answers, err = w.attempt(batch, w.runEach)
	}
	if err == nil {
		answer(batch, answers)
		return
	}
	if len(batch) == 1 {
		batch[0].Answer(err)
		return
	}
	for i := range batch {
		alone, err := w.attempt(batch[i:i+1], w.runAll)
		if err != nil {
			alone = []error{err}
		}
		answer(batch[i:i+1], alone)
	}
}

func answer(batch []*groupcommit.Write[operation], answers []error) {
	for i, o := range batch {
		o.Answer(answers[i])
	}
}

// attempt runs writes in one transaction and gives the answer of each. An
// error means that nothing at all was committed.
func (w *writer) attempt(batch []*groupcommit.Write[operation], run func(context.Context, []*groupcommit.Write[operation]) ([]error, error)) ([]error, error) {
	// The transaction belongs to no single caller, so no caller's context may
	// end it.
	ctx := context.Background()
	if _, err := w.handle.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	if w.seals != nil {
		w.seals.begin()
	}
	answers, err := run(ctx, batch)
	if err == nil && w.seals != nil {
		err = w.seals.store(ctx, w.handle)
	}
	if err == nil {
		w.fault.Committing()
		_, err = w.handle.exec(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite may have rolled back by itself; then this fails and says nothing
		// new.
		_, _ = w.handle.exec(ctx, "ROLLBACK")
		return nil, err
	}
	w.fault.Committed()
	if w.seals != nil {
		w.seals.committed()
	}
	return answers, nil
}

// runAll runs writes that nobody expects to be refused; the first refusal ends
// it. Savepoints would cost more than repeating the few batches that hold a
// refusal: SQLite copies every page that it changes inside one.
func (w *writer) runAll(ctx context.Context, batch []*groupcommit.Write[operation]) ([]error, error) {
	for _, o := range batch {
		if err := o.What(ctx, &tx{handle: w.handle, now: w.now()}); err != nil {
			return nil, err
		}
	}
	w.settle(true)
	return make([]error, len(batch)), nil
}

// runEach runs each write in a savepoint of its own, so that a refusal harms
// only itself.
func (w *writer) runEach(ctx context.Context, batch []*groupcommit.Write[operation]) ([]error, error) {
	answers := make([]error, len(batch))
	for i, o := range batch {
		if _, err := w.handle.exec(ctx, "SAVEPOINT operation"); err != nil {
			return nil, err
		}
		answers[i] = o.What(ctx, &tx{handle: w.handle, now: w.now()})
		if broken(answers[i]) {
			return nil, answers[i]
		}
		if answers[i] != nil {
			if _, err := w.handle.exec(ctx, "ROLLBACK TO operation"); err != nil {
				return nil, err
			}
		}
		w.settle(answers[i] == nil)
		if _, err := w.handle.exec(ctx, "RELEASE operation"); err != nil {
			return nil, err
		}
	}
	return answers, nil
}
