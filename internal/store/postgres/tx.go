package postgres

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// now is the server's clock in SQL, in nanoseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint`

// dialect is the PostgreSQL dialect.
var dialect = sqlstore.Dialect{Name: "pg", Now: now, Any: "= ANY($)"}

// texts caches rendered statements. Their number is bounded, because texts are constants.
type texts struct{ rendered sync.Map }

func (t *texts) of(text string) string {
	if known, ok := t.rendered.Load(text); ok {
		rendered, _ := known.(string)
		return rendered
	}
	rendered := dialect.Render(text)
	if strings.TrimSpace(rendered) == "" {
		rendered = ""
	}
	t.rendered.Store(text, rendered)
	return rendered
}

// connection is the pool, a connection or a transaction.
type connection interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// querier runs statements on a connection.
type querier struct {
	on connection
	db *db
}

// Query implements sqlstore.Querier.
func (q querier) Query(ctx context.Context, each func(stored.Row) error, text string, args ...any) error {
	if text = q.db.texts.of(text); text == "" {
		return nil
	}
	rows, err := q.on.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, each)
}

func eachRow(rows pgx.Rows, each func(stored.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Exec implements sqlstore.Querier.
func (q querier) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	if text = q.db.texts.of(text); text == "" {
		return 0, nil
	}
	done, err := q.on.Exec(ctx, text, args...)
	return done.RowsAffected(), err
}

// Send implements sqlstore.Querier.
func (q querier) Send(ctx context.Context, statements []sqlstore.Statement, rows ...sqlstore.Rows) error {
	var b pgx.Batch
	q.db.queue(&b, statements, rows)
	if b.Len() == 0 {
		return nil
	}
	return q.on.SendBatch(ctx, &b).Close()
}

// transaction implements sqlstore.Tx.
type transaction struct {
	querier

	// tx is the transaction for the job queue.
	tx pgx.Tx
}

// lockText returns the statement that takes a lock until the transaction ends.
func lockText(l sqlstore.Lock) string {
	switch l {
	case sqlstore.ShareBlobs:
		return `SELECT pg_advisory_xact_lock_shared(hashtextextended('manifold blobs', 0))`
	case sqlstore.LockKeys:
		return `LOCK TABLE api_key IN SHARE ROW EXCLUSIVE MODE`
	case sqlstore.LockLog:
		return `LOCK TABLE log_root IN EXCLUSIVE MODE`
	default:
		return `SELECT pg_advisory_xact_lock(hashtextextended('manifold ` + string(l) + `', 0))`
	}
}

// Lock implements sqlstore.Tx.
func (t *transaction) Lock(ctx context.Context, locks ...sqlstore.Lock) error {
	var b pgx.Batch
	for _, l := range locks {
		b.Queue(lockText(l))
	}
	return t.on.SendBatch(ctx, &b).Close()
}

// Now implements sqlstore.Tx.
func (t *transaction) Now(ctx context.Context) (at time.Time, err error) {
	err = t.Query(ctx, func(row stored.Row) error {
		nanos, err := stored.Number(row)
		at = stored.Stamp(nanos)
		return err
	}, `SELECT {now}`)
	return at, err
}

// Notify implements sqlstore.Tx.
func (t *transaction) Notify(ctx context.Context, c sqlstore.Change) error {
	_, err := t.on.Exec(ctx, tell, t.db.post.Channel, t.db.post.Payload(c))
	return err
}

// selectFree selects those of the given runs that have no owner.
const selectFree = `SELECT id FROM run WHERE id = ANY($1) AND finished_at = 0 AND (owner = '' OR lease_until <= ` + now + `)`

// WakeRuns implements sqlstore.Tx. It adds jobs for those of the runs that have no owner.
func (t *transaction) WakeRuns(ctx context.Context, runs ...string) error {
	var jobs []sqlstore.Job
	err := t.Query(ctx, func(row stored.Row) error {
		id, err := stored.Text(row)
		jobs = append(jobs, sqlstore.Job{ID: id})
		return err
	}, selectFree, runs)
	if err != nil {
		return err
	}
	return t.EnqueueJobs(ctx, jobs...)
}

// EnqueueJobs implements sqlstore.Tx.
func (t *transaction) EnqueueJobs(ctx context.Context, jobs ...sqlstore.Job) error {
	all := make([]queue.Job, len(jobs))
	for i, j := range jobs {
		all[i] = queue.Job{Kind: queue.Run, ID: j.ID, At: j.At}
		if j.Delivery {
			all[i].Kind = queue.Delivery
		}
	}
	return t.db.jobs.Add(ctx, t.tx, all...)
}
