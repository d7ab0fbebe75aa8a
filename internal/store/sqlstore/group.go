package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/groupcommit"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// change is a write that shares its transaction with others. It declares in advance the rows that
// it needs, so that those of all changes are locked and read in one round trip.
type change struct {
	// runs are the runs that it needs. A run that does not exist is missing in the group.
	runs []string
	// keys are resource locks that it may free. The runs that wait for them may be woken.
	keys []string
	// nonces are the intents that it needs. sessions are those in which it opens a gate, besides
	// the sessions of its runs.
	nonces, sessions []string
	// gates means that it opens gates in the sessions of its runs.
	gates bool
	// locks means that it changes resource locks, blobs that it adds references to blobs.
	locks, blobs bool
	// apply decides, and adds the rows to store to the group. It must return an error of
	// contracts before it adds anything; any other error aborts the transaction. It may be called
	// again with another group.
	apply func(context.Context, *group) error
	// act is the administrative action to record with the change, if any.
	act *execution.AdminAction
	// alone, if set, is called instead of apply, without reads. Its error aborts the whole
	// transaction.
	alone func(context.Context, Tx) error
}

// group is a sequence of changes that are applied together in one transaction.
type group struct {
	tx Tx
	// now is the clock of the store.
	now time.Time
	// locked means that the transaction holds LockWaiters.
	locked bool
	// runs are the rows of runs, locked by this transaction. Changed ones are written at the end.
	runs map[string]*head
	// intents are the requested intents by nonce.
	intents map[string]*intent
	// sessions are the sessions in which gates are opened.
	sessions map[string]sessionHead
	// told are notifications besides those derived from changed runs.
	told []Change
	// others are statements on a single row each, which depend on no reads.
	others []Statement
	changes
}

// intent is the state of an intent that changes depend on.
type intent struct {
	runID           string
	consumed, known bool
}

// sessionHead is the part of a session that its gates need.
type sessionHead struct{ owner, webhook string }

// errNeedsLocks aborts a transaction that must be repeated with LockWaiters, because a run that
// waits for a lock is parked or finished.
var errNeedsLocks = errors.New("the locks of resources are needed")

type write = groupcommit.Write[change]

// commit commits a batch in one transaction. If that fails, each write is retried alone, so that
// one error affects only its own write.
func (s *core) commit(batch []*write) {
	answers, err := s.attempt(batch)
	switch {
	case err == nil:
		for i, w := range batch {
			w.Answer(answers[i])
		}
	case len(batch) == 1 || !s.db.RetryIndividually(err):
		for _, w := range batch {
			w.Answer(err)
		}
	default:
		for i := range batch {
			s.commit(batch[i : i+1])
		}
	}
}

// attempt executes writes in one transaction, retrying after deadlocks, and returns the answer to
// each write. An error means that nothing was committed.
func (s *core) attempt(batch []*write) (answers []error, err error) {
	locked := slices.ContainsFunc(batch, func(w *write) bool { return w.What.locks })
	for try := 1; ; try++ {
		answers = make([]error, len(batch))
		// The transaction serves several callers, so no caller's context may cancel it.
		err = s.db.Write(context.Background(), partsOf(batch, answers, locked))
		switch {
		case errors.Is(err, errNeedsLocks):
			locked = true
		case s.db.Retryable(err) && try < maxTries:
		default:
			return answers, err
		}
	}
}

// partsOf splits a batch into parts: consecutive changes form a group, and each alone is a part
// of its own.
func partsOf(batch []*write, answers []error, locked bool) []Part {
	var parts []Part
	for from := 0; from < len(batch); {
		if alone := batch[from].What.alone; alone != nil {
			parts = append(parts, Part{Decide: func(ctx context.Context, x Tx) (*Effects, error) { return nil, alone(ctx, x) }})
			from++
			continue
		}
		to := from + 1
		for to < len(batch) && batch[to].What.alone == nil {
			to++
		}
		parts = append(parts, newGroup(batch[from:to], locked).part(batch[from:to], answers[from:to]))
		from = to
	}
	return parts
}

func newGroup(batch []*write, locked bool) *group {
	return &group{locked: locked, runs: make(map[string]*head, len(batch))}
}

// part returns the part that applies each change of the group and stores its error in answers.
func (g *group) part(batch []*write, answers []error) Part {
	p := g.reads(wantsOf(batch))
	p.Decide = func(ctx context.Context, x Tx) (*Effects, error) {
		g.tx = x
		for i, w := range batch {
			err := w.What.apply(ctx, g)
			if err == nil && w.What.act != nil {
				if err := recordAdminAction(ctx, x, *w.What.act); err != nil {
					return nil, err // abort on any error: the change must not be committed without its record
				}
			}
			if _, refusal := errors.AsType[*contracts.Error](err); err != nil && !refusal {
				return nil, err
			}
			answers[i] = err
		}
		return g.effects(), nil
	}
	return p
}

// wantsOf merges the rows that the changes of a batch need.
func wantsOf(batch []*write) change {
	all := change{runs: []string{}, keys: []string{}}
	for _, w := range batch {
		c := w.What
		all.runs, all.keys = append(all.runs, c.runs...), append(all.keys, c.keys...)
		all.nonces, all.sessions = append(all.nonces, c.nonces...), append(all.sessions, c.sessions...)
		all.gates, all.blobs = all.gates || c.gates, all.blobs || c.blobs
	}
	slices.Sort(all.runs)
	all.runs = slices.Compact(all.runs)
	return all
}

const (
	selectIntents  = `SELECT nonce, run_id, consumed, outcome <> '' FROM intent WHERE nonce {any $1}`
	selectSessions = `
SELECT id, owner, webhook_url FROM session WHERE id IN ({pg:SELECT unnest($1::text[])}{lite:SELECT value FROM json_each($1)} UNION SELECT session_id FROM run WHERE id {any $2})`
)

// reads returns the part with the locks and reads of the group. A group that needs no rows reads
// nothing.
func (g *group) reads(wants change) Part {
	var p Part
	if len(wants.runs)+len(wants.keys)+len(wants.nonces)+len(wants.sessions) == 0 && !wants.blobs {
		return p
	}
	p.Now = &g.now
	if wants.blobs {
		p.Locks = append(p.Locks, ShareBlobs)
	}
	switch {
	case g.locked:
		p.Locks = append(p.Locks, LockWaiters)
		p.Reads = append(p.Reads, Statement{Text: selectWider, Args: []any{wants.runs, wants.keys}, Each: g.readHead})
	case len(wants.runs) == 1:
		p.Reads = append(p.Reads, Statement{Text: selectHead, Args: []any{wants.runs[0]}, Each: g.readHead})
	case len(wants.runs) > 1:
		p.Reads = append(p.Reads, Statement{Text: selectHeads, Args: []any{wants.runs}, Each: g.readHead})
	}
	if len(wants.nonces) > 0 {
		p.Reads = append(p.Reads, Statement{Text: selectIntents, Args: []any{wants.nonces}, Each: g.readIntent})
	}
	if wants.gates || len(wants.sessions) > 0 {
		p.Reads = append(p.Reads, Statement{Text: selectSessions, Args: []any{stored.Texts(wants.sessions), wants.runs}, Each: g.readSession})
	}
	return p
}

func (g *group) readHead(row stored.Row) error {
	r, err := scanHead(row)
	g.runs[r.id] = r
	return err
}

func (g *group) readIntent(row stored.Row) error {
	var nonce string
	var i intent
	err := row.Scan(&nonce, &i.runID, &i.consumed, &i.known)
	if g.intents == nil {
		g.intents = map[string]*intent{}
	}
	g.intents[nonce] = &i
	return err
}

func (g *group) readSession(row stored.Row) error {
	var id string
	var s sessionHead
	err := row.Scan(&id, &s.owner, &s.webhook)
	g.knowSession(id, s)
	return err
}

func (g *group) knowSession(id string, s sessionHead) {
	if g.sessions == nil {
		g.sessions = map[string]sessionHead{}
	}
	g.sessions[id] = s
}

// effects returns what the group stores.
func (g *group) effects() *Effects {
	slices.SortStableFunc(g.others, func(x, y Statement) int { return cmp.Compare(x.Text+x.Scope, y.Text+y.Scope) }) // the same order on all servers prevents deadlocks
	if len(g.consumed) > 0 {
		g.statements = append(g.statements, Statement{Text: `UPDATE intent SET consumed = true WHERE nonce {any $1}`, Args: []any{g.consumed}})
	}
	return &Effects{
		Statements:    append(g.others, g.statements...),
		Rows:          append(g.rows(), headRows(g.runs)...),
		Events:        g.events,
		Notifications: g,
	}
}

// Jobs returns the jobs for the work that the group makes due: deliveries, and runs without an
// owner that can continue, now or at the time of their timer.
func (g *group) Jobs() []Job {
	var jobs []Job
	now := stored.Nanos(g.now)
	for _, r := range g.runs {
		free := r.finishedAt == 0 && (r.owner == "" || r.leaseUntil <= now)
		switch {
		case !free:
		case r.woken || r.born != nil && !r.parked:
			jobs = append(jobs, Job{ID: r.id})
		case r.parks && r.wakeAt > 0:
			jobs = append(jobs, Job{ID: r.id, At: stored.Stamp(r.wakeAt)})
		}
	}
	for _, id := range g.deliveries {
		jobs = append(jobs, Job{Delivery: true, ID: id})
	}
	return jobs
}

// Changes returns the notifications of the group.
func (g *group) Changes() []Change {
	all := g.told
	for _, r := range g.runs {
		if r.changed {
			all = append(all, Change{SessionID: r.session, RunID: r.id})
		}
	}
	return all
}

// Scopes returns the scopes that the group probably changes.
func (g *group) Scopes() []string {
	all := map[string]bool{seal.GlobalScope: g.house}
	for id, r := range g.runs {
		all[seal.RunScope+id] = r.changed
	}
	for _, e := range g.events {
		all[seal.SessionScope+e.SessionID] = true
	}
	for _, o := range g.others {
		all[o.Scope] = o.Scope != "" // the scope may be unknown
	}
	maps.DeleteFunc(all, func(_ string, likely bool) bool { return !likely })
	return slices.Collect(maps.Keys(all))
}
