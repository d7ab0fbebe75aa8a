package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

var (
	_ sqlstore.Backend = (*db)(nil)
	_ sqlstore.Pool    = (*db)(nil)
)

// maxCommit is the time limit of one transaction of the writer.
const maxCommit = 15 * time.Second

// Write implements sqlstore.Backend.
func (d *db) Write(ctx context.Context, parts []sqlstore.Part) error {
	ctx, cancel := context.WithTimeout(ctx, maxCommit)
	defer cancel()
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	for i := range parts {
		if err = d.once(ctx, conn, &parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// once executes a part in one transaction and commits it.
func (d *db) once(ctx context.Context, conn *pgxpool.Conn, p *sqlstore.Part) error {
	var next pgx.Batch
	x := &transaction{querier{conn, d}, queue.InTransaction(conn.Conn())}
	err := d.begin(ctx, conn, p, &next)
	if err == nil {
		var effects *sqlstore.Effects
		if effects, err = p.Decide(ctx, x); err == nil {
			d.attempts++ // every attempt has its own number, whatever the result of the previous one
			if err = d.finish(ctx, x, &next, effects); err == nil {
				return nil
			}
			if !reached(err) {
				return d.settle(err) //nolint:contextcheck // it must be told whether it is committed, whoever waits
			}
		}
	}
	proof.RollBack(ctx, conn.Conn())
	return err
}

const (
	beginWriter = `INSERT INTO writer (origin, attempt, seen_at) VALUES ($1, 0, ` + now + `)`
	noteCommit  = `UPDATE writer SET attempt = $2, seen_at = ` + now + ` WHERE origin = $1`
	// askCommit waits for a transaction in progress.
	askCommit = `SELECT attempt FROM writer WHERE origin = $1 FOR UPDATE`
	// dropWriters removes processes that have been gone for a week.
	dropWriters = `DELETE FROM writer WHERE seen_at < ` + now + ` - 7 * 86400000000000 AND origin <> $1`
)

// settle finds out whether a transaction was committed whose response was lost with the
// connection. It returns nil if it was, otherwise fault.
func (d *db) settle(fault error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience/2)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if last, err := stored.Number(d.pool.QueryRow(ctx, askCommit, d.post.Origin)); err == nil {
			if last == d.attempts {
				return nil
			}
			return fault
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fault
		}
	}
}

// plansOnce makes the server reuse plans, because planning takes longer than some of the
// statements. It also prevents sequential scans chosen while a table was small. The high cost
// that this assigns to scans must not trigger JIT compilation.
const plansOnce = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`

// begin begins the transaction, takes the locks and reads, in one round trip. If there is nothing
// to lock or read, it queues BEGIN before the first statements of the part.
func (d *db) begin(ctx context.Context, conn *pgxpool.Conn, p *sqlstore.Part, next *pgx.Batch) error {
	next.Queue(`BEGIN`)
	next.Queue(plansOnce)
	if len(p.Locks)+len(p.Reads) == 0 {
		return nil
	}
	for _, l := range p.Locks {
		next.Queue(lockText(l))
	}
	d.queue(next, p.Reads, nil)
	if p.Now != nil {
		next.Queue(`SELECT ` + now).QueryRow(func(row pgx.Row) error {
			at, err := stored.Number(row)
			*p.Now = stored.Stamp(at)
			return err
		})
	}
	b := *next
	*next = pgx.Batch{}
	return conn.SendBatch(ctx, &b).Close()
}

// finish adds the jobs and sends the rows, their seals and the COMMIT. A rejected row ends the
// batch before the COMMIT.
func (d *db) finish(ctx context.Context, x *transaction, b *pgx.Batch, e *sqlstore.Effects) error {
	if err := x.EnqueueJobs(ctx, e.Notifications.Jobs()...); err != nil {
		return err
	}
	d.queue(b, e.Statements, e.Rows)
	queueEvents(b, e.Events)
	d.queueNotices(b, e.Notifications.Changes())
	b.Queue(noteCommit, d.post.Origin, d.attempts)
	return d.seals.Commit(ctx, x.on, b, e.Notifications.Scopes())
}

// queueNotices adds the notifications to the batch, without duplicates.
func (d *db) queueNotices(b *pgx.Batch, changes []sqlstore.Change) {
	if len(changes) == 0 {
		return
	}
	all := make([]string, len(changes))
	for i, c := range changes {
		all[i] = d.post.Payload(c)
	}
	slices.Sort(all)
	b.Queue(tellAll, d.post.Channel, slices.Compact(all))
}

// Transact implements sqlstore.Pool.
func (d *db) Transact(ctx context.Context, do func(sqlstore.Tx) error) error {
	return d.seals.Transact(ctx, d.pool, func(tx pgx.Tx) error { return do(&transaction{querier{tx, d}, tx}) })
}

// Do implements sqlstore.Pool.
func (d *db) Do(_ context.Context, do func(sqlstore.Querier) error) error {
	return do(querier{d.pool, d})
}

// Read implements sqlstore.Backend.
func (d *db) Read(_ context.Context, read func(sqlstore.Querier) error) error {
	return read(querier{d.pool, d})
}

// Snapshot implements sqlstore.Backend.
func (d *db) Snapshot(ctx context.Context, queries ...sqlstore.Statement) error {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // closes a connection that is inside a transaction
	var b pgx.Batch
	b.Queue(`BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
	d.queue(&b, queries, nil)
	b.Queue(`COMMIT`)
	return conn.SendBatch(ctx, &b).Close()
}

// Retryable implements sqlstore.Backend.
func (d *db) Retryable(err error) bool { return passing(err) }

// RetryIndividually implements sqlstore.Backend.
func (d *db) RetryIndividually(err error) bool { return reached(err) }

// Fault implements sqlstore.Backend.
func (d *db) Fault(doing string, err error) error { return translate(doing, err) }

// CheckRows implements sqlstore.Backend.
func (d *db) CheckRows(ctx context.Context, found func(scope, message string)) (int, error) {
	return d.seals.CheckRows(ctx, d.pool, found)
}
