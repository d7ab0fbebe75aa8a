package sqlstore

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

var _ orchestrator.GateList = (*RunStore)(nil)

const selectInterrupt = `SELECT session_id, body FROM interrupt `

// InterruptAt returns an interrupt with its version and the current time of the store.
func (s *RunStore) InterruptAt(ctx context.Context, id string) (execution.InterruptAt, error) {
	return readRow(ctx, s.core, "read interrupt "+id, missing("interrupt", id), func(row stored.Row) (at execution.InterruptAt, err error) {
		var session, body string
		var clock int64
		if err := row.Scan(&session, &body, &at.Version, &clock); err != nil {
			return at, err
		}
		at.Interrupt, err = stored.Decode[contracts.Interrupt](body)
		at.SessionID, at.Now = session, stored.Stamp(clock)
		return at, err
	}, `SELECT session_id, body, version, {now} FROM interrupt WHERE id = $1`, id)
}

// InterruptByCode returns the open interrupt with a code, ignoring case, or an error of code
// not_found.
func (s *RunStore) InterruptByCode(ctx context.Context, code string) (contracts.Interrupt, error) {
	return readRow(ctx, s.core, "read the interrupt of a code", contracts.Errorf(contracts.CodeNotFound, "no open question has the code %q", code),
		stored.ScanInterrupt, selectInterrupt+`WHERE code = $1 AND status = 'open' AND code <> ''`, strings.ToUpper(code))
}

// Interrupts returns the selected interrupts, oldest first.
func (s *RunStore) Interrupts(ctx context.Context, f execution.InterruptFilter) ([]contracts.Interrupt, error) {
	q := selectedGates(f)
	text, args := q.Text(selectInterrupt, `ORDER BY place`, f.Limit)
	found, err := readAll(ctx, s.core, "list interrupts", stored.ScanInterrupt, text, args...)
	return contracts.Cut(found, f.Limit, func(contracts.Interrupt) string { return "" }).Items, err
}

func selectedGates(f execution.InterruptFilter) stored.Query {
	var q stored.Query
	if f.SessionID != "" {
		q.Where(`session_id = ?`, f.SessionID)
	}
	if f.RunID != "" {
		q.Where(`run_id = ?`, f.RunID)
	}
	switch f.Status {
	case "":
	case contracts.InterruptOpen:
		q.Where(`status = 'open'`) // a literal, so that the partial index of open ones is used
	default:
		q.Where(`status = ?`, string(f.Status))
	}
	if len(f.Types) > 0 {
		q.Where(`type {any ?}`, stored.Texts(f.Types))
	}
	return q
}

// ListGates returns a page of the gates that a reader may see, in the order of creation. The
// cursor is the place of the last gate.
func (s *RunStore) ListGates(ctx context.Context, f orchestrator.GateFilter) (contracts.List[contracts.Interrupt], error) {
	q := selectedGates(execution.InterruptFilter{SessionID: f.SessionID, RunID: f.RunID, Status: f.Status, Types: f.Types})
	inSight(&q, f.Reader)
	if f.Cursor != "" {
		place, err := strconv.ParseInt(f.Cursor, 10, 64)
		if err != nil {
			return contracts.List[contracts.Interrupt]{}, contracts.BadCursor()
		}
		q.Where(`place > ?`, place)
	}
	text, args := q.Text(`SELECT place, session_id, body FROM interrupt `, `ORDER BY place`, f.Limit)
	found, err := readAll(ctx, s.core, "list gates", scanPlaced, text, args...)
	page := contracts.Cut(found, f.Limit, func(g placedGate) string { return strconv.FormatInt(g.place, 10) })
	out := contracts.List[contracts.Interrupt]{Next: page.Next}
	for _, g := range page.Items {
		out.Items = append(out.Items, g.Interrupt)
	}
	return out, err
}

// placedGate is a gate with its position among all.
type placedGate struct {
	contracts.Interrupt

	place int64
}

func scanPlaced(row stored.Row) (placedGate, error) {
	var g placedGate
	var session, body string
	if err := row.Scan(&g.place, &session, &body); err != nil {
		return g, err
	}
	var err error
	g.Interrupt, err = stored.Decode[contracts.Interrupt](body)
	g.SessionID = session
	return g, err
}

// inSight restricts a query to what the reader may see. It is access.Visibility.Sees in SQL.
func inSight(q *stored.Query, of access.Visibility) {
	for _, scope := range []struct {
		column string
		within []string
	}{{"domain", of.Domains}, {"class", stored.Texts(of.Classes)}} {
		if len(scope.within) > 0 {
			q.Where(`(domain = '' OR `+scope.column+` = '' OR `+scope.column+` {any ?})`, scope.within)
		}
	}
	mine := `(owner = ? AND owner <> '' OR {pg:roles && }{lite:EXISTS (SELECT 1 FROM json_each(interrupt.roles) r WHERE r.value IN (SELECT value FROM json_each(}?{pg:::text[]}{lite:)))}`
	switch {
	case of.All && !of.Narrow():
		return
	case of.All:
		mine += ` OR domain <> ''`
	}
	q.Where(mine+`)`, of.Subject, stored.Texts(of.Roles))
}

const saveInterrupt = `
UPDATE interrupt SET version = version + 1, code = $3, type = $4, status = $5, roles = $6, domain = $7, class = $8, body = $9
WHERE id = $1 AND version = $2 AND status = 'open'`

// SaveInterrupt replaces an open interrupt and wakes its run. It returns an error of code
// conflict if the version has changed or the interrupt is not open.
func (s *RunStore) SaveInterrupt(ctx context.Context, at execution.InterruptAt) (contracts.Interrupt, error) {
	doing := "save interrupt " + at.InterruptID
	is, err := s.InterruptAt(ctx, at.InterruptID) // session and run of an interrupt never change
	if err != nil {
		return contracts.Interrupt{}, err
	}
	i := at.Interrupt
	i.SessionID, i.RunID = is.SessionID, is.RunID
	body, err := stored.Encode(i)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	reader := stored.ReaderOf(i)
	apply := func(ctx context.Context, g *group) error {
		saved, err := g.tx.Exec(ctx, saveInterrupt, i.InterruptID, at.Version, strings.ToUpper(i.Code), string(i.Type), string(i.Status),
			reader.Roles, reader.Domain, reader.Class, body)
		if err != nil {
			return err
		}
		if saved == 0 {
			return contracts.Errorf(contracts.CodeConflict, "interrupt %s has changed since", i.InterruptID)
		}
		g.wake(i.RunID)
		g.told = append(g.told, Change{SessionID: i.SessionID, RunID: i.RunID})
		return nil
	}
	if err := s.write(ctx, doing, change{runs: []string{i.RunID}, apply: apply}); err != nil {
		return contracts.Interrupt{}, err
	}
	return stored.Decode[contracts.Interrupt](body)
}

// OpenInterrupt inserts an interrupt without a run, together with its event.
func (s *RunStore) OpenInterrupt(ctx context.Context, i contracts.Interrupt, e contracts.Event) error {
	at := s.now()
	stored.SettleInterrupt(&i, "", at)
	e.At = stored.OrTime(e.At, at)
	bodies, err := stored.EncodeAll([]any{i, e})
	if err != nil {
		return err
	}
	apply := func(_ context.Context, g *group) error {
		notices, err := orchestrator.NoticesOf(i, g.sessions[i.SessionID].webhook)
		if err != nil {
			return err
		}
		g.addGate(i, bodies[0], notices)
		g.events = append(g.events, stored.EventPack{SessionID: cmp.Or(e.SessionID, i.SessionID), RunID: e.RunID, Body: bodies[1], Count: 1})
		g.told = append(g.told, Change{SessionID: i.SessionID})
		return nil
	}
	return s.write(ctx, "open interrupt "+i.InterruptID, change{sessions: []string{i.SessionID}, apply: apply})
}
