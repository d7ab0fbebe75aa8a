package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/groupcommit"
	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// change is one write that shares its transaction with others. It says ahead
// what it decides by, so that all of it is locked and read in one round trip.
type change struct {
	// runs are the rows that it decides by; missing ones are not in the group.
	runs []string
	// keys are locks of resources that it may free, whose waiters it wakes then.
	keys []string
	// nonces are the intents that it asks for, sessions those in which it opens a
	// gate, besides those of its runs.
	nonces, sessions []string
	// gates says that it opens gates in the sessions of its runs.
	gates bool
	// locks says that it changes locks of resources, blobs that it names contents.
	locks, blobs bool
	// apply decides, and adds to the group what is to be stored. It refuses before
	// it adds, with an error of contracts; any other error ends the transaction. It
	// may be called again on another group.
	apply func(context.Context, *group) error
}

// group is one transaction of the writer.
type group struct {
	conn *pgxpool.Conn
	// now is the server's clock.
	now time.Time
	// locked says that the locks of resources are this transaction's alone.
	locked bool
	// runs are the rows of runs, which this transaction holds; what is changed
	// here is written at the end.
	runs map[string]*head
	// intents are those that were asked for, by nonce.
	intents map[string]*intent
	// hooks are the addresses of webhooks by session.
	hooks map[string]string
	// told is what others are told besides what the rows say.
	told []Change
	// next is what is sent with what is stored.
	next pgx.Batch
	rows rows
}

// intent is what the group decides about an intent by.
type intent struct {
	runID           string
	consumed, known bool
}

// errNeedsLocks ends a transaction that has to begin with the locks of
// resources: a run that waits for some goes to rest.
var errNeedsLocks = errors.New("the locks of resources are needed")

// maxCommit bounds one transaction of the writer.
const maxCommit = 15 * time.Second

// commit does a batch in one transaction. If that cannot be committed, each
// write is tried alone, so that one fault harms only its own write.
func (d *db) commit(batch []*groupcommit.Write[change]) {
	answers, err := d.attempt(batch)
	if err == nil {
		for i, w := range batch {
			w.Answer(answers[i])
		}
		return
	}
	if len(batch) == 1 || !reached(err) {
		for _, w := range batch {
			w.Answer(err)
		}
		return
	}
	for i := range batch {
		d.commit(batch[i : i+1])
	}
}

// attempt runs writes in one transaction, again where others were in the way,
// and gives the answer of each. An error means that nothing was committed.
func (d *db) attempt(batch []*groupcommit.Write[change]) (answers []error, err error) {
	locked := slices.ContainsFunc(batch, func(w *groupcommit.Write[change]) bool { return w.What.locks })
	for try := 1; ; try++ {
		answers, err = d.once(batch, locked)
		switch {
		case errors.Is(err, errNeedsLocks):
			locked = true
		case passing(err) && try < maxTries:
		default:
			return answers, err
		}
	}
}

// once runs writes in one transaction, which it commits.
func (d *db) once(batch []*groupcommit.Write[change], locked bool) ([]error, error) {
	// The transaction belongs to no single caller, so no caller's context may
	// end it.
	ctx, cancel := context.WithTimeout(context.Background(), maxCommit)
	defer cancel()
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	g := &group{conn: conn, locked: locked, runs: map[string]*head{}, intents: map[string]*intent{}, hooks: map[string]string{}}
	answers, err := g.decide(ctx, batch)
	if err == nil {
		d.attempts++ // each has a number of its own, whatever became of the one before
		if err = g.finish(ctx, d); err == nil {
			return answers, nil
		}
		if !reached(err) {
			return answers, d.settle(err)
		}
	}
	proof.RollBack(ctx, conn.Conn())
	return nil, err
}

const (
	beginWriter = `INSERT INTO writer (origin, attempt, seen_at) VALUES ($1, 0, ` + now + `)`
	noteCommit  = `UPDATE writer SET attempt = $2, seen_at = ` + now + ` WHERE origin = $1`
	// askCommit waits for a transaction that is under way.
	askCommit = `SELECT attempt FROM writer WHERE origin = $1 FOR UPDATE`
	// dropWriters forgets processes that have been gone for a week.
	dropWriters = `DELETE FROM writer WHERE seen_at < ` + now + ` - 7 * 86400000000000 AND origin <> $1`
)

// settle finds out whether a transaction was committed whose answer was lost
// with its connection. It gives the fault unless it was.
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

// decide begins the transaction and asks each change; it gives their refusals.
func (g *group) decide(ctx context.Context, batch []*groupcommit.Write[change]) ([]error, error) {
	if err := g.begin(ctx, wantsOf(batch)); err != nil {
		return nil, err
	}
	answers := make([]error, len(batch))
	for i, w := range batch {
		err := w.What.apply(ctx, g)
		if _, refusal := errors.AsType[*contracts.Error](err); err != nil && !refusal {
			return nil, err
		}
		answers[i] = err
	}
	return answers, nil
}

// wantsOf puts together what the changes of a batch decide by.
func wantsOf(batch []*groupcommit.Write[change]) change {
	all := change{runs: []string{}, keys: []string{}}
	for _, w := range batch {
		c := w.What
		all.runs, all.keys = append(all.runs, c.runs...), append(all.keys, c.keys...)
		all.nonces, all.sessions = append(all.nonces, c.nonces...), append(all.sessions, c.sessions...)
		all.gates, all.blobs = all.gates || c.gates, all.blobs || c.blobs
	}
	return all
}

const (
	// lockLocks is held by whoever changes locks of resources, until the commit.
	lockLocks = `SELECT pg_advisory_xact_lock(hashtextextended('manifold locks', 0))`
	// shareBlobs is held by whoever names contents, so that none of them is
	// collected meanwhile; whoever collects holds lockBlobs.
	shareBlobs = `SELECT pg_advisory_xact_lock_shared(hashtextextended('manifold blobs', 0))`
	lockBlobs  = `SELECT pg_advisory_xact_lock(hashtextextended('manifold blobs', 0))`

	headColumns = `id, session_id, owner, state, verdict, epoch, lease_until, wake_seq, handled_seq, wake_at, ledger_seq, ledger_head,
  parked, cancel_requested_at, updated_at, finished_at, format, EXISTS (SELECT 1 FROM lock_waiter w WHERE w.run_id = run.id)`
	selectHeads = `SELECT ` + headColumns + ` FROM run WHERE id = ANY($1) ORDER BY id FOR UPDATE`
	// selectWider holds those too who may be woken because a lock is freed.
	selectWider = `SELECT ` + headColumns + ` FROM run WHERE id = ANY($1) OR id IN (
  SELECT w.run_id FROM lock_waiter w WHERE w.key = ANY($2) OR w.key IN (
    SELECT key FROM held_lock WHERE run_id = ANY($1) UNION ALL SELECT key FROM lock_waiter WHERE run_id = ANY($1)))
ORDER BY id FOR UPDATE`

	// plansOnce keeps the server from planning the statements of a group anew each
	// time, which takes it longer than some of them, and from a plan that reads
	// whole tables because they were small when it was made. The price that it puts
	// on reading all of a table, and be it of one row, must not make it compile.
	plansOnce = `SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`

	selectIntents = `SELECT nonce, run_id, consumed, outcome <> '' FROM intent WHERE nonce = ANY($1)`
	selectHooks   = `
SELECT id, webhook_url FROM session WHERE webhook_url <> '' AND id IN (SELECT unnest($1::text[]) UNION SELECT session_id FROM run WHERE id = ANY($2))`
)

// begin begins the transaction, takes the locks and reads what is wanted, in
// one round trip; one that decides by nothing begins with what it stores.
func (g *group) begin(ctx context.Context, wants change) error {
	var b pgx.Batch
	b.Queue(`BEGIN`)
	b.Queue(plansOnce)
	if len(wants.runs)+len(wants.keys)+len(wants.nonces)+len(wants.sessions) == 0 && !wants.blobs {
		g.next = b
		return nil
	}
	if wants.blobs {
		b.Queue(shareBlobs)
	}
	if g.locked {
		b.Queue(lockLocks)
		b.Queue(selectWider, wants.runs, wants.keys).Query(g.readHeads)
	} else {
		b.Queue(selectHeads, wants.runs).Query(g.readHeads)
	}
	if len(wants.nonces) > 0 {
		b.Queue(selectIntents, wants.nonces).Query(g.readIntents)
	}
	if wants.gates || len(wants.sessions) > 0 {
		b.Queue(selectHooks, wants.sessions, wants.runs).Query(g.readHooks)
	}
	b.Queue(`SELECT ` + now).QueryRow(func(row pgx.Row) error {
		at, err := stored.Number(row)
		g.now = stored.Stamp(at)
		return err
	})
	return g.conn.SendBatch(ctx, &b).Close()
}

func (g *group) readHeads(rows pgx.Rows) error {
	heads, err := read(rows, scanHead)
	for _, r := range heads {
		g.runs[r.id] = r
	}
	return err
}

func (g *group) readIntents(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		var nonce string
		var i intent
		if err := rows.Scan(&nonce, &i.runID, &i.consumed, &i.known); err != nil {
			return err
		}
		g.intents[nonce] = &i
	}
	return rows.Err()
}

func (g *group) readHooks(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		var session, url string
		if err := rows.Scan(&session, &url); err != nil {
			return err
		}
		g.hooks[session] = url
	}
	return rows.Err()
}

// finish adds the jobs, if there are any, and sends what is to be stored, the
// seals of it and the COMMIT; a refused row ends the batch before it.
func (g *group) finish(ctx context.Context, d *db) error {
	if err := d.jobs.Add(ctx, queue.InTransaction(g.conn.Conn()), g.jobs()...); err != nil {
		return err
	}
	g.rows.queue(&g.next)
	queueHeads(&g.next, g.runs)
	g.queueNotices(&g.next, d)
	g.next.Queue(noteCommit, d.post.Origin, d.attempts)
	return d.seals.Commit(ctx, g.conn, &g.next, g.scopes())
}

// scopes are those that the group is likely to change.
func (g *group) scopes() []string {
	all := map[string]bool{proof.House: len(g.rows.blobs)+len(g.rows.mail) > 0}
	for id, r := range g.runs {
		all[proof.OfRun(id)] = r.changed
	}
	for _, e := range g.rows.events {
		all[proof.OfSession(e.session)] = true
	}
	for _, o := range g.rows.others {
		all[o.scope] = o.scope != "" // it may not be known yet
	}
	maps.DeleteFunc(all, func(_ string, likely bool) bool { return !likely })
	return slices.Collect(maps.Keys(all))
}

// write hands a change to the writer, and returns when it is committed or
// refused.
func (d *db) write(ctx context.Context, doing string, c change) error {
	return translate(doing, d.writer.Do(ctx, doing, c))
}

// exec does one statement about rows of a scope with the next group, which
// commits it, and tells how many rows it changed. Others are told of the change
// unless there is none.
func (d *db) exec(ctx context.Context, doing, scope string, told Change, text string, args ...any) (changed int64, err error) {
	err = d.write(ctx, doing, change{apply: func(_ context.Context, g *group) error {
		g.rows.others = append(g.rows.others, statement{text, scope, args, func(done pgconn.CommandTag) error {
			changed = done.RowsAffected()
			return nil
		}})
		if told != (Change{}) {
			g.told = append(g.told, told)
		}
		return nil
	}})
	return changed, err
}
