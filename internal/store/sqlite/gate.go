package sqlite

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

const selectInterrupt = `SELECT session_id, body FROM interrupt `

func scanInterrupt(row scanner) (contracts.Interrupt, error) {
	var session, body string
	if err := row.Scan(&session, &body); err != nil {
		return contracts.Interrupt{}, err
	}
	i, err := decode[contracts.Interrupt](body)
	i.SessionID = session // known only when it was inserted
	return i, err
}

func (h *handle) gatesOf(ctx context.Context, runID string) ([]contracts.Interrupt, error) {
	return collect(ctx, h, scanInterrupt, selectInterrupt+`WHERE run_id = ? ORDER BY place`, runID)
}

// Interrupt gives one interrupt.
func (s *Store) Interrupt(ctx context.Context, id string) (contracts.Interrupt, error) {
	var i contracts.Interrupt
	err := s.view(ctx, "read interrupt "+id, func(ctx context.Context, h *handle) error {
		var err error
		i, err = h.interrupt(ctx, id)
		return err
	})
	return i, err
}

func (h *handle) interrupt(ctx context.Context, id string) (contracts.Interrupt, error) {
	i, err := scanInterrupt(h.row(ctx, selectInterrupt+`WHERE id = ?`, id))
	return i, missing(err, contracts.Errorf(contracts.CodeNotFound, "there is no interrupt %q", id))
}

// InterruptByCode finds the open interrupt of a code.
func (s *Store) InterruptByCode(ctx context.Context, code string) (contracts.Interrupt, error) {
	var i contracts.Interrupt
	err := s.view(ctx, "read the interrupt of a code", func(ctx context.Context, h *handle) error {
		var err error
		i, err = scanInterrupt(h.row(ctx, selectInterrupt+`WHERE code = ? AND status = 'open' AND code <> ''`, strings.ToUpper(code)))
		return missing(err, contracts.Errorf(contracts.CodeNotFound, "no open question has the code %q", code))
	})
	return i, err
}

// Interrupts gives the selected interrupts, oldest first.
func (s *Store) Interrupts(ctx context.Context, f execution.InterruptFilter) ([]contracts.Interrupt, error) {
	var where []string
	var args []any
	add := func(condition string, arg ...any) { where, args = append(where, condition), append(args, arg...) }
	if f.SessionID != "" {
		add(`session_id = ?`, f.SessionID)
	}
	if f.RunID != "" {
		add(`run_id = ?`, f.RunID)
	}
	switch f.Status {
	case "":
	case contracts.InterruptOpen:
		add(`status = 'open'`) // literally, for the index of the open ones
	default:
		add(`status = ?`, string(f.Status))
	}
	if len(f.Types) > 0 {
		types, err := list(f.Types)
		if err != nil {
			return nil, err
		}
		add(`type IN (SELECT value FROM json_each(?))`, types)
	}
	query := selectInterrupt + whereAll(where) + `ORDER BY place LIMIT ?`
	var found []contracts.Interrupt
	err := s.view(ctx, "list interrupts", func(ctx context.Context, h *handle) error {
		var err error
		found, err = collect(ctx, h, scanInterrupt, query, append(args, limitOf(f.Limit))...)
		return err
	})
	return found, err
}

// UpdateInterrupt changes an open interrupt and wakes its run.
func (s *Store) UpdateInterrupt(ctx context.Context, id string, change func(*contracts.Interrupt, time.Time) error) (contracts.Interrupt, error) {
	var changed contracts.Interrupt
	err := s.write(ctx, "update interrupt "+id, func(ctx context.Context, x *tx) error {
		i, err := x.interrupt(ctx, id)
		if err != nil {
			return err
		}
		if i.Status != contracts.InterruptOpen {
			refusal := contracts.Errorf(contracts.CodeConflict, "interrupt %s was settled already: %s", id, i.Status)
			refusal.Detail = i
			return refusal
		}
		session, run := i.SessionID, i.RunID
		if err := change(&i, x.now); err != nil {
			return err
		}
		i.InterruptID, i.SessionID, i.RunID = id, session, run
		if changed, err = x.saveInterrupt(ctx, i); err != nil {
			return err
		}
		_, err = x.wake(ctx, run)
		return err
	})
	if err != nil {
		return contracts.Interrupt{}, err
	}
	return changed, nil
}

// saveInterrupt stores an interrupt that exists, and gives it as stored.
func (x *tx) saveInterrupt(ctx context.Context, i contracts.Interrupt) (contracts.Interrupt, error) {
	body, err := encode(i)
	if err != nil {
		return i, err
	}
	_, err = x.exec(ctx, `UPDATE interrupt SET code = ?, type = ?, status = ?, body = ? WHERE id = ?`,
		strings.ToUpper(i.Code), string(i.Type), string(i.Status), body, i.InterruptID)
	if err != nil {
		return i, err
	}
	return decode[contracts.Interrupt](body)
}

// OpenInterrupt inserts a question that belongs to no run.
func (s *Store) OpenInterrupt(ctx context.Context, i contracts.Interrupt, e contracts.Event) error {
	now := s.now()
	settleInterrupt(&i, "", now)
	e.At = orTime(e.At, now)
	bodies, err := encodeAll([]any{i, e})
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

// settleInterrupt fills in what a new interrupt may leave out.
func settleInterrupt(i *contracts.Interrupt, runID string, at time.Time) {
	i.RunID = cmp.Or(i.RunID, runID)
	i.Status = cmp.Or(i.Status, contracts.InterruptOpen)
	i.CreatedAt = orTime(i.CreatedAt, at)
}

const insertInterrupt = `
INSERT INTO interrupt (id, session_id, run_id, code, type, status, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`

// insertInterrupt opens an interrupt and queues the notice of it, if its
// session wants one.
func (x *tx) insertInterrupt(ctx context.Context, i contracts.Interrupt, body string) error {
	n, err := x.exec(ctx, insertInterrupt, i.InterruptID, i.SessionID, i.RunID, strings.ToUpper(i.Code), string(i.Type), string(i.Status), body)
	if err != nil {
		return err
	}
	if n == 0 {
		return contracts.Errorf(contracts.CodeConflict, "the id %s or the code %s of the interrupt is taken", i.InterruptID, i.Code)
	}
	return x.notify(ctx, i)
}
