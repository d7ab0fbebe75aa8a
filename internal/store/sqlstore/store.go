package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/groupcommit"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/stored"
)

var _ execution.Store = (*RunStore)(nil)

// Store is a database with its stores. It is safe for concurrent use.
type Store struct {
	*core

	Runs       *RunStore
	Sessions   *SessionStore
	Queue      *QueueStore
	Admin      *AdminStore
	Audit      *AuditStore
	Quarantine *QuarantineStore
	Models     *ModelCacheStore
}

// RunStore stores runs, and lists gates.
type RunStore struct{ *core }

// SessionStore stores sessions, turns, previews and secrets.
type SessionStore struct{ *core }

// QueueStore stores the inbox and the outbox of channels with at-least-once delivery.
type QueueStore struct{ *core }

// AdminStore stores domains, API keys and sign-ins.
type AdminStore struct{ *core }

// core is shared by all stores. Changes of runs are written through its writer.
type core struct {
	db Backend
	// pool is nil if only the writer can write.
	pool   Pool
	now    func() time.Time
	writer *groupcommit.Queue[change]
}

// New starts the writer of a database whose tables exist. now is the clock of this process.
func New(db Backend, now func() time.Time) *Store {
	s := &core{db: db, now: now}
	s.pool, _ = db.(Pool)
	s.writer = groupcommit.Start(s.commit)
	return &Store{core: s, Runs: &RunStore{s}, Sessions: &SessionStore{s}, Queue: &QueueStore{s}, Admin: &AdminStore{s}, Audit: &AuditStore{s}, Quarantine: &QuarantineStore{s}, Models: &ModelCacheStore{s}}
}

// CloseWriter commits accepted writes, rejects later ones, and reports whether the writer was
// open.
func (s *Store) CloseWriter() bool { return s.writer.Close() }

// Closed returns a channel that is closed when no more writes are accepted.
func (s *Store) Closed() <-chan struct{} { return s.writer.Closed() }

// Queued returns the number of writes that wait for the writer.
func (s *Store) Queued() int { return s.writer.Len() }

// Transact executes a transaction of its own and commits it. Deadlocks are retried, so do may be
// called several times.
func (s *Store) Transact(ctx context.Context, doing string, do func(context.Context, Tx) error) error {
	return s.transact(ctx, doing, do)
}

// Probe writes one row. It returns an error if the database is not writable.
func (s *RunStore) Probe(ctx context.Context) error {
	return s.execUnsealed(ctx, "write to the database", func(ctx context.Context, q Querier) error {
		_, err := q.Exec(ctx, `INSERT INTO probe (one, at) VALUES (1, {now}) ON CONFLICT (one) DO UPDATE SET at = excluded.at`)
		return err
	})
}

// maxTries is the maximum number of attempts of a transaction after deadlocks.
const maxTries = 4

// transact executes and commits a short transaction, retrying after deadlocks. An administrative
// action in ctx is recorded with it.
func (s *core) transact(ctx context.Context, doing string, do func(context.Context, Tx) error) error {
	act, named := execution.AdminActionOf(ctx)
	if named && act.Kind != contracts.LedgerLockBroken { // such an action has its own chain
		only := do
		do = func(ctx context.Context, x Tx) error {
			if err := only(ctx, x); err != nil {
				return err
			}
			return recordAdminAction(ctx, x, act)
		}
	}
	err := s.transaction(ctx, doing, do)
	if named && err == nil {
		execution.MarkRecorded(ctx)
	}
	return s.db.Fault(doing, err)
}

func (s *core) transaction(ctx context.Context, doing string, do func(context.Context, Tx) error) error {
	if s.pool == nil {
		return s.writer.Do(ctx, doing, change{alone: do})
	}
	for try := 1; ; try++ {
		err := s.pool.Transact(ctx, func(x Tx) error { return do(ctx, x) })
		if !s.db.Retryable(err) || try == maxTries {
			return err
		}
	}
}

// execUnsealed executes one statement that commits by itself and changes nothing that is sealed.
func (s *core) execUnsealed(ctx context.Context, doing string, run func(context.Context, Querier) error) error {
	var err error
	if s.pool == nil {
		err = s.writer.Do(ctx, doing, change{alone: func(ctx context.Context, x Tx) error { return run(ctx, x) }})
	} else {
		err = s.pool.Do(ctx, func(q Querier) error { return run(ctx, q) })
	}
	return s.db.Fault(doing, err)
}

// write passes a change to the writer and returns when it was committed or rejected. An
// administrative action in ctx is recorded with it.
func (s *core) write(ctx context.Context, doing string, c change) error {
	act, named := execution.AdminActionOf(ctx)
	if named && act.Kind != contracts.LedgerLockBroken { // such an action has its own chain
		c.act = &act
	}
	err := s.writer.Do(ctx, doing, c)
	if named && err == nil {
		execution.MarkRecorded(ctx)
	}
	return s.db.Fault(doing, err)
}

// exec executes one statement on rows of a scope in the next group, which commits it, and returns
// the number of changed rows. It notifies other processes of told unless told is empty.
func (s *core) exec(ctx context.Context, doing, scope string, told Change, text string, args ...any) (changed int64, err error) {
	err = s.write(ctx, doing, change{apply: func(_ context.Context, g *group) error {
		g.others = append(g.others, Statement{Text: text, Args: args, Scope: scope, Done: func(n int64) { changed = n }})
		if told != (Change{}) {
			g.told = append(g.told, told)
		}
		return nil
	}})
	return changed, err
}

// queryAll returns all rows of a query.
func queryAll[T any](ctx context.Context, q Querier, scan func(stored.Row) (T, error), text string, args ...any) ([]T, error) {
	var all []T
	err := q.Query(ctx, appendRows(&all, scan), text, args...)
	return all, err
}

// appendRows returns a function that scans rows into a slice.
func appendRows[T any](all *[]T, scan func(stored.Row) (T, error)) func(stored.Row) error {
	return func(row stored.Row) error {
		v, err := scan(row)
		if err == nil {
			*all = append(*all, v)
		}
		return err
	}
}

// queryRow returns the first row of a query, or absent if there is none.
func queryRow[T any](ctx context.Context, q Querier, absent error, scan func(stored.Row) (T, error), text string, args ...any) (T, error) {
	var none T
	all, err := queryAll(ctx, q, scan, text, args...)
	if err == nil && len(all) == 0 {
		err = absent
	}
	if err != nil || len(all) == 0 {
		return none, err
	}
	return all[0], nil
}

// readAll executes one query on a connection of its own and returns all rows.
func readAll[T any](ctx context.Context, s *core, doing string, scan func(stored.Row) (T, error), text string, args ...any) ([]T, error) {
	var all []T
	err := s.db.Read(ctx, func(q Querier) error { return q.Query(ctx, appendRows(&all, scan), text, args...) })
	if err != nil {
		return nil, s.db.Fault(doing, err)
	}
	return all, nil
}

// readRow executes one query on a connection of its own and returns the first row, or absent if
// there is none.
func readRow[T any](ctx context.Context, s *core, doing string, absent error, scan func(stored.Row) (T, error), text string, args ...any) (T, error) {
	var none T
	all, err := readAll(ctx, s, doing, scan, text, args...)
	if err == nil && len(all) == 0 {
		err = absent
	}
	if err != nil || len(all) == 0 {
		return none, err
	}
	return all[0], nil
}

// missing returns the error for a row that does not exist.
func missing(what, id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no %s %q", what, id)
}

func bytes(row stored.Row) ([]byte, error) {
	var body []byte
	err := row.Scan(&body)
	return body, err
}

// column returns one field of each row.
func column[R, T any](rows []R, field func(R) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = field(r)
	}
	return out
}

func ofSession(id string) string { return seal.SessionScope + id }
