package sqlite

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

var _ orchestrator.GateList = (*Runs)(nil)

const selectInterrupt = `SELECT session_id, body FROM interrupt `

func (h *handle) gatesOf(ctx context.Context, runID string) ([]contracts.Interrupt, error) {
	return collect(ctx, h, stored.ScanInterrupt, selectInterrupt+`WHERE run_id = ? ORDER BY place`, runID)
}

func (h *handle) interrupt(ctx context.Context, id string) (i contracts.Interrupt, version int64, err error) {
	var session, body string
	if err := h.row(ctx, `SELECT session_id, version, body FROM interrupt WHERE id = ?`, id).Scan(&session, &version, &body); err != nil {
		return i, 0, missing(err, contracts.Errorf(contracts.CodeNotFound, "there is no interrupt %q", id))
	}
	i, err = stored.Decode[contracts.Interrupt](body)
	i.SessionID = session
	return i, version, err
}

// InterruptByCode finds the open interrupt of a code.
func (s *Runs) InterruptByCode(ctx context.Context, code string) (contracts.Interrupt, error) {
	var i contracts.Interrupt
	err := s.view(ctx, "read the interrupt of a code", func(ctx context.Context, h *handle) error {
		var err error
		i, err = stored.ScanInterrupt(h.row(ctx, selectInterrupt+`WHERE code = ? AND status = 'open' AND code <> ''`, strings.ToUpper(code)))
		return missing(err, contracts.Errorf(contracts.CodeNotFound, "no open question has the code %q", code))
	})
	return i, err
}

// Interrupts gives the selected interrupts, oldest first.
func (s *Runs) Interrupts(ctx context.Context, f execution.InterruptFilter) ([]contracts.Interrupt, error) {
	q, err := selectedGates(f)
	if err != nil {
		return nil, err
	}
	text, args := q.text(selectInterrupt, `ORDER BY place`, f.Limit)
	var found []contracts.Interrupt
	err = s.view(ctx, "list interrupts", func(ctx context.Context, h *handle) error {
		var err error
		found, err = collect(ctx, h, stored.ScanInterrupt, text, args...)
		return err
	})
	return contracts.Cut(found, f.Limit, func(contracts.Interrupt) string { return "" }).Items, err
}

func selectedGates(f execution.InterruptFilter) (query, error) {
	var q query
	if f.SessionID != "" {
		q.Where(`session_id = ?`, f.SessionID)
	}
	if f.RunID != "" {
		q.Where(`run_id = ?`, f.RunID)
	}
	switch f.Status {
	case "":
	case contracts.InterruptOpen:
		q.Where(`status = 'open'`) // literally, for the index of the open ones
	default:
		q.Where(`status = ?`, string(f.Status))
	}
	if len(f.Types) > 0 {
		types, err := list(f.Types)
		if err != nil {
			return q, err
		}
		q.Where(`type IN (SELECT value FROM json_each(?))`, types)
	}
	return q, nil
}

// ListGates gives a page of what a reader may see, in the order of opening. Its
// cursor is the place of the last gate.
func (s *Runs) ListGates(ctx context.Context, f orchestrator.GateFilter) (contracts.List[contracts.Interrupt], error) {
	var none contracts.List[contracts.Interrupt]
	q, err := selectedGates(execution.InterruptFilter{SessionID: f.SessionID, RunID: f.RunID, Status: f.Status, Types: f.Types})
	if err == nil {
		err = q.inSight(f.Reader)
	}
	if err != nil {
		return none, err
	}
	if f.Cursor != "" {
		place, err := strconv.ParseInt(f.Cursor, 10, 64)
		if err != nil {
			return none, contracts.BadCursor()
		}
		q.Where(`place > ?`, place)
	}
	text, args := q.text(selectPlaced, `ORDER BY place`, f.Limit)
	var found []placedGate
	err = s.view(ctx, "list gates", func(ctx context.Context, h *handle) error {
		var err error
		found, err = collect(ctx, h, scanPlaced, text, args...)
		return err
	})
	page := contracts.Cut(found, f.Limit, func(g placedGate) string { return strconv.FormatInt(g.place, 10) })
	out := contracts.List[contracts.Interrupt]{Next: page.Next}
	for _, g := range page.Items {
		out.Items = append(out.Items, g.Interrupt)
	}
	return out, err
}

// placedGate is a gate with its place among all.
type placedGate struct {
	contracts.Interrupt

	place int64
}

const selectPlaced = `SELECT place, session_id, body FROM interrupt `

func scanPlaced(row scanner) (placedGate, error) {
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

// inSight leaves out what the reader may not see: access.Sight.Sees in SQL.
func (q *query) inSight(of access.Sight) error {
	for _, scope := range []struct {
		column string
		within []string
	}{{"domain", of.Domains}, {"class", stored.Texts(of.Classes)}} {
		if len(scope.within) == 0 {
			continue
		}
		within, err := list(scope.within)
		if err != nil {
			return err
		}
		q.Where(`(domain = '' OR `+scope.column+` = '' OR `+scope.column+` IN (SELECT value FROM json_each(?)))`, within)
	}
	if of.All && !of.Narrow() {
		return nil
	}
	roles, err := list(of.Roles)
	if err != nil {
		return err
	}
	mine := `(owner = ? AND owner <> '' OR EXISTS (SELECT 1 FROM json_each(interrupt.roles) r WHERE r.value IN (SELECT value FROM json_each(?)))`
	if of.All {
		mine += ` OR domain <> ''`
	}
	q.Where(mine+`)`, of.Subject, roles)
	return nil
}

// InterruptAt gives one interrupt with its version and the store's clock.
func (s *Runs) InterruptAt(ctx context.Context, id string) (execution.InterruptAt, error) {
	at := execution.InterruptAt{Now: s.now()}
	err := s.view(ctx, "read interrupt "+id, func(ctx context.Context, h *handle) error {
		var err error
		at.Interrupt, at.Version, err = h.interrupt(ctx, id)
		return err
	})
	return at, err
}

// SaveInterrupt replaces an open interrupt that nobody has changed since, and
// wakes its run.
func (s *Runs) SaveInterrupt(ctx context.Context, at execution.InterruptAt) (contracts.Interrupt, error) {
	var saved contracts.Interrupt
	err := s.write(ctx, "save interrupt "+at.InterruptID, func(ctx context.Context, x *tx) error {
		is, version, err := x.interrupt(ctx, at.InterruptID)
		if err != nil {
			return err
		}
		if is.Status != contracts.InterruptOpen || version != at.Version {
			return contracts.Errorf(contracts.CodeConflict, "interrupt %s has changed since", at.InterruptID)
		}
		i := at.Interrupt
		i.SessionID, i.RunID = is.SessionID, is.RunID
		if saved, err = x.saveInterrupt(ctx, i); err != nil {
			return err
		}
		return x.wake(ctx, i.RunID)
	})
	if err != nil {
		return contracts.Interrupt{}, err
	}
	return saved, nil
}

// saveInterrupt stores an interrupt that exists, and gives it as stored.
func (x *tx) saveInterrupt(ctx context.Context, i contracts.Interrupt) (contracts.Interrupt, error) {
	body, err := stored.Encode(i)
	if err != nil {
		return i, err
	}
	r := stored.ReaderOf(i)
	roles, err := list(r.Roles)
	if err != nil {
		return i, err
	}
	_, err = x.exec(ctx, `UPDATE interrupt SET version = version + 1, code = ?, type = ?, status = ?, roles = ?, domain = ?, class = ?, body = ? WHERE id = ?`,
		strings.ToUpper(i.Code), string(i.Type), string(i.Status), roles, r.Domain, r.Class, body, i.InterruptID)
	if err != nil {
		return i, err
	}
	return stored.Decode[contracts.Interrupt](body)
}

// OpenInterrupt inserts a question that belongs to no run.
func (s *Runs) OpenInterrupt(ctx context.Context, i contracts.Interrupt, e contracts.Event) error {
	now := s.now()
	stored.SettleInterrupt(&i, "", now)
	e.At = stored.OrTime(e.At, now)
	bodies, err := stored.EncodeAll([]any{i, e})
	if err != nil {
		return err
	}
	return s.write(ctx, "open interrupt "+i.InterruptID, func(ctx context.Context, x *tx) error {
		if err := x.insertInterrupt(ctx, i, bodies[0]); err != nil {
			return err
		}
		return x.appendEvent(ctx, cmp.Or(e.SessionID, i.SessionID), e.RunID, bodies[1])
	})
}

const insertInterrupt = `
INSERT INTO interrupt (id, session_id, run_id, code, type, status, roles, domain, class, owner, body)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, coalesce((SELECT owner FROM session WHERE id = ?2), ''), ?10)
ON CONFLICT DO NOTHING`

// insertInterrupt opens an interrupt and queues the notice of it, if its
// session wants one.
func (x *tx) insertInterrupt(ctx context.Context, i contracts.Interrupt, body string) error {
	r := stored.ReaderOf(i)
	roles, err := list(r.Roles)
	if err != nil {
		return err
	}
	n, err := x.exec(ctx, insertInterrupt, i.InterruptID, i.SessionID, i.RunID, strings.ToUpper(i.Code), string(i.Type), string(i.Status),
		roles, r.Domain, r.Class, body)
	if err != nil {
		return err
	}
	if n == 0 {
		return contracts.Errorf(contracts.CodeConflict, "the id %s or the code %s of the interrupt is taken", i.InterruptID, i.Code)
	}
	return x.notify(ctx, i)
}
