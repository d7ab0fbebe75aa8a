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
	// gates means that it opens gates in the sessions of its runs.
	gates bool
	// locks means that it changes locks of resources, blobs that it names contents.
	locks, blobs bool
	// apply decides, and adds to the group what is to be stored. It refuses before
	// it adds, with an error of contracts; any other error ends the transaction. It
	// may be called again on another group.
	apply func(context.Context, *group) error
	// act is recorded with what apply does; nil for none.
	act *execution.AdminAction
	// alone is called in the place of apply, with nothing read; what it refuses is
	// undone with all of its transaction.
	alone func(context.Context, Tx) error
}

// group is what changes that follow each other do together in one transaction.
type group struct {
	tx Tx
	// now is the clock of the store.
	now time.Time
	// locked means that the locks of resources are this transaction's alone.
	locked bool
	// runs are the rows of runs, which this transaction holds; what is changed
	// here is written at the end.
	runs map[string]*head
	// intents are those that were asked for, by nonce.
	intents map[string]*intent
	// sessions are those in which gates are opened.
	sessions map[string]sessionHead
	// told is what others are told besides what the rows say.
	told []Change
	// others are statements about a single row each, which decide by themselves.
	others []Statement
	changes
}

// intent is what the group decides about an intent by.
type intent struct {
	runID           string
	consumed, known bool
}

// sessionHead is what a gate takes from its session.
type sessionHead struct{ owner, webhook string }

// errNeedsLocks ends a transaction that has to begin with the locks of
// resources: a run that waits for some goes to rest.
var errNeedsLocks = errors.New("the locks of resources are needed")

type write = groupcommit.Write[change]

// commit does a batch in one transaction. If that cannot be committed, each
// write is tried alone, so that one fault harms only its own write.
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

// attempt runs writes in one transaction, again where others were in the way,
// and returns the answer of each. An error means that nothing was committed.
func (s *core) attempt(batch []*write) (answers []error, err error) {
	locked := slices.ContainsFunc(batch, func(w *write) bool { return w.What.locks })
	for try := 1; ; try++ {
		answers = make([]error, len(batch))
		// The transaction belongs to no single caller, so no caller's context may
		// end it.
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

// partsOf groups what can be decided together.
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

// part asks each change of the group, and notes its refusals.
func (g *group) part(batch []*write, answers []error) Part {
	p := g.reads(wantsOf(batch))
	p.Decide = func(ctx context.Context, x Tx) (*Effects, error) {
		g.tx = x
		for i, w := range batch {
			err := w.What.apply(ctx, g)
			if err == nil && w.What.act != nil {
				if err := recordAdminAction(ctx, x, *w.What.act); err != nil {
					return nil, err // whatever it is: what was applied must not stay without its act
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

// wantsOf puts together what the changes of a batch decide by.
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

// reads is what the group reads to begin with; one that decides by nothing reads
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

// effects are what the group stores.
func (g *group) effects() *Effects {
	slices.SortStableFunc(g.others, func(x, y Statement) int { return cmp.Compare(x.Text+x.Scope, y.Text+y.Scope) }) // in one order on all servers, so that they do not deadlock
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

// Jobs wake somebody for what the group makes due: runs that can go on and that
// nobody holds, now or at the time of their timer, and deliveries.
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

// Changes is what others are told.
func (g *group) Changes() []Change {
	all := g.told
	for _, r := range g.runs {
		if r.changed {
			all = append(all, Change{SessionID: r.session, RunID: r.id})
		}
	}
	return all
}

// Scopes are those that the group is likely to change.
func (g *group) Scopes() []string {
	all := map[string]bool{seal.GlobalScope: g.house}
	for id, r := range g.runs {
		all[seal.RunScope+id] = r.changed
	}
	for _, e := range g.events {
		all[seal.SessionScope+e.SessionID] = true
	}
	for _, o := range g.others {
		all[o.Scope] = o.Scope != "" // it may not be known yet
	}
	maps.DeleteFunc(all, func(_ string, likely bool) bool { return !likely })
	return slices.Collect(maps.Keys(all))
}
