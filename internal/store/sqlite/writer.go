package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/manifold-run/manifold/internal/store/groupcommit"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

var _ sqlstore.Backend = (*file)(nil)

// writer is the connection that changes the database. Only the writing goroutine uses it.
type writer struct {
	*handle

	// seals is nil if nothing is sealed.
	seals *sealer
	fault faultPoint
}

// Write implements sqlstore.Backend.
func (s *file) Write(ctx context.Context, parts []sqlstore.Part) error {
	return s.writer.write(ctx, parts)
}

func (w *writer) write(ctx context.Context, parts []sqlstore.Part) error {
	if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if w.seals != nil {
		w.seals.begin()
	}
	err := w.runAll(ctx, parts)
	if err == nil && w.seals != nil {
		w.seals.Settle(true)
		err = w.seals.store(ctx, w.handle)
	}
	if err == nil {
		w.fault.Committing()
		_, err = w.Exec(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite may have rolled back already; then this fails without a new cause.
		_, _ = w.Exec(ctx, "ROLLBACK")
		return err
	}
	w.fault.Committed()
	if w.seals != nil {
		w.seals.committed()
	}
	return nil
}

func (w *writer) runAll(ctx context.Context, parts []sqlstore.Part) error {
	for i := range parts {
		if err := w.runPart(ctx, &parts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) runPart(ctx context.Context, p *sqlstore.Part) error {
	if p.Now != nil {
		*p.Now = w.now()
	}
	if err := w.Send(ctx, p.Reads); err != nil {
		return err
	}
	effects, err := p.Decide(ctx, w.handle)
	if err != nil || effects == nil {
		return err
	}
	if err := w.Send(ctx, effects.Statements, effects.Rows...); err != nil {
		return err
	}
	return w.appendEvents(ctx, effects.Events)
}

// nextEvents reserves the next event numbers of a session. This happens in the transaction of the
// only writer, so the commit order equals the number order.
const nextEvents = `
INSERT INTO event_seq (session_id, seq) VALUES ($1, $2)
ON CONFLICT (session_id) DO UPDATE SET seq = seq + excluded.seq
RETURNING seq`

var eventTable = sqlstore.Table{Name: "event", Columns: []sqlstore.Column{
	{Name: "session_id"}, {Name: "seq", Kind: sqlstore.Int}, {Name: "run_id"}, {Name: "body"},
}}

func (w *writer) appendEvents(ctx context.Context, events []stored.EventPack) error {
	if len(events) == 0 {
		return nil
	}
	last := map[string]int64{}
	for _, e := range events {
		last[e.SessionID] += e.Count
	}
	for session, n := range last {
		var seq int64
		if err := w.value(ctx, &seq, nextEvents, session, n); err != nil {
			return err
		}
		last[session] = seq - n
	}
	rows := &sqlstore.Rows{Table: &eventTable, Cells: make([]any, 0, 4*len(events))}
	for _, e := range events {
		last[e.SessionID] += e.Count
		rows.Cells = append(rows.Cells, e.SessionID, last[e.SessionID], e.RunID, e.Body)
	}
	return w.writeRows(ctx, rows)
}

// Retryable implements sqlstore.Backend. It returns false, because there is only one writer.
func (s *file) Retryable(error) bool { return false }

// RetryIndividually implements sqlstore.Backend. It returns true for every error, because a
// single write may succeed.
func (s *file) RetryIndividually(error) bool { return true }

// Fault implements sqlstore.Backend.
func (s *file) Fault(doing string, err error) error { return translate(doing, err) }

// Read implements sqlstore.Backend.
func (s *file) Read(ctx context.Context, read func(sqlstore.Querier) error) error {
	var h *handle
	select {
	case h = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return groupcommit.ErrClosed("read")
	}
	defer func() { s.readers <- h }()
	return read(h)
}

// Snapshot implements sqlstore.Backend.
func (s *file) Snapshot(ctx context.Context, queries ...sqlstore.Statement) error {
	return s.snapshot(ctx, func(h *handle) error { return h.Send(ctx, queries) })
}

// snapshot executes several reads on one snapshot of the database.
func (s *file) snapshot(ctx context.Context, read func(*handle) error) error {
	return s.Read(ctx, func(q sqlstore.Querier) error {
		h, _ := q.(*handle)
		// The connection must be clean before and after, even if ctx has ended.
		lasting := context.WithoutCancel(ctx)
		if _, err := h.Exec(lasting, "BEGIN DEFERRED"); err != nil {
			return err
		}
		err := read(h)
		if _, rollback := h.Exec(lasting, "ROLLBACK"); rollback != nil {
			return errors.Join(err, fmt.Errorf("end a read: %w", rollback))
		}
		return err
	})
}

const (
	// shrinkStep is the number of pages freed per transaction. keepPages are kept for future
	// writes.
	shrinkStep, keepPages = 512, 2048
	freePages             = `SELECT freelist_count FROM pragma_freelist_count`
)

// Shrink returns some free pages to the disk and reports whether there are more.
func (s *file) Shrink(ctx context.Context, x sqlstore.Tx) (more bool, err error) {
	count := func() (free int64, err error) {
		err = x.Query(ctx, func(row stored.Row) error { return row.Scan(&free) }, freePages)
		return free, err
	}
	free, err := count()
	if err != nil || free <= keepPages {
		return false, err
	}
	none := func(stored.Row) error { return nil }
	if err := x.Query(ctx, none, `PRAGMA incremental_vacuum(`+strconv.Itoa(shrinkStep)+`)`); err != nil {
		return false, err
	}
	left, err := count()
	return left < free && left > keepPages, err // an older file cannot shrink
}
