package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	_ "modernc.org/sqlite" // the driver

	"github.com/manifold-run/manifold/execution"
)

// plain is the baseline: the same calls by a program without durability.
type plain struct{}

func newPlain(context.Context, string) (subject, error) { return plain{}, nil }

func (plain) run(ctx context.Context, s shape) error {
	return each(ctx, s, func(context.Context, int) error { return nil })
}

func (plain) commits() int64 { return 0 }

func (plain) close(context.Context) error { return nil }

// each makes the calls of a shape, and calls after for each that has ended.
func each(ctx context.Context, s shape, after func(ctx context.Context, i int) error) error {
	call := func(ctx context.Context, i int) error {
		if !answer(nodeID(i)).OK {
			return errors.New("the call was refused")
		}
		return after(ctx, i)
	}
	if s.parallel {
		group, ctx := errgroup.WithContext(ctx)
		for i := range s.nodes {
			group.Go(func() error { return call(ctx, i) })
		}
		return group.Wait()
	}
	for i := range s.nodes {
		if err := call(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// stepwise is a simple hand-written program that survives a crash: on the same SQLite with the same
// settings, one commit at the start of a run, one after each step, and one at the end. It has no
// ledger, events, leases, limits, retries or gates.
type stepwise struct {
	db                 *sql.DB
	count              atomic.Int64
	begin, step, ended *sql.Stmt
}

const stepwiseTables = `
CREATE TABLE run (id TEXT PRIMARY KEY, state TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE step (run_id TEXT NOT NULL, node_id TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run_id, node_id))`

func newStepwise(ctx context.Context, dir string) (subject, error) {
	settings := "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-16000)"
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "stepwise.db"))+settings)
	if err != nil {
		return nil, err
	}
	// One connection: with more, writers wait for SQLite's lock and are slower.
	db.SetMaxOpenConns(1)
	s := &stepwise{db: db}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *stepwise) prepare(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, stepwiseTables); err != nil {
		return err
	}
	var errs [3]error
	s.begin, errs[0] = s.db.PrepareContext(ctx, `INSERT INTO run (id, state, plan) VALUES (?, 'running', ?)`)
	s.step, errs[1] = s.db.PrepareContext(ctx, `INSERT INTO step (run_id, node_id, result) VALUES (?, ?, ?)`)
	s.ended, errs[2] = s.db.PrepareContext(ctx, `UPDATE run SET state = 'completed' WHERE id = ?`)
	return errors.Join(errs[:]...)
}

func (s *stepwise) run(ctx context.Context, sh shape) error {
	id := execution.NewID("run")
	if err := s.exec(ctx, s.begin, id, sh.String()); err != nil {
		return err
	}
	err := each(ctx, sh, func(ctx context.Context, i int) error {
		result, err := json.Marshal(answer(nodeID(i)))
		if err != nil {
			return err
		}
		return s.exec(ctx, s.step, id, nodeID(i), string(result))
	})
	if err != nil {
		return err
	}
	return s.exec(ctx, s.ended, id)
}

// exec executes one statement in its own transaction.
func (s *stepwise) exec(ctx context.Context, statement *sql.Stmt, args ...any) error {
	s.count.Add(1)
	_, err := statement.ExecContext(ctx, args...)
	return err
}

func (s *stepwise) commits() int64 { return s.count.Load() }

func (s *stepwise) close(context.Context) error { return s.db.Close() }
