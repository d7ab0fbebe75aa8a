package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

// subject is an implementation that can run a shape.
type subject interface {
	// run returns when the run has succeeded and is as durable as the subject makes it.
	run(ctx context.Context, s shape) error
	// commits returns the number of commits so far.
	commits() int64
	close(ctx context.Context) error
}

// engine is the runner on SQLite, with a domain in the same process.
type engine struct {
	store   *sqlite.Store
	ends    *ends
	runner  *execution.Runner
	catalog *contracts.Catalog
}

func newEngine(ctx context.Context, dir string) (subject, error) {
	catalog, err := noopCatalog()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "engine.db")})
	if err != nil {
		return nil, err
	}
	e := &engine{store: store, ends: &ends{Store: store.Runs, waiting: map[string]chan contracts.RunState{}}, catalog: catalog}
	e.runner, err = execution.New(execution.Config{}, execution.Deps{Store: e.ends, Invoker: inProcess{}, Catalogs: e})
	if err == nil {
		err = e.runner.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return e, nil
}

// Catalog returns the catalog.
func (e *engine) Catalog() *contracts.Catalog { return e.catalog }

// Refresh does nothing.
func (e *engine) Refresh(context.Context, string) error { return nil }

func (e *engine) run(ctx context.Context, s shape) error {
	plan := s.plan(e.catalog)
	plan.RunID = execution.NewID("run")
	ended := e.ends.watch(plan.RunID)
	if _, err := e.runner.Submit(ctx, execution.NewID("ses"), plan); err != nil {
		return err
	}
	select {
	case state := <-ended:
		if state != contracts.RunCompleted {
			return fmt.Errorf("run %s ended %s", plan.RunID, state)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *engine) commits() int64 { return e.ends.commits.Load() }

func (e *engine) close(ctx context.Context) error {
	return errors.Join(e.runner.Stop(ctx), e.store.Close())
}

// inProcess is a domain without a network.
type inProcess struct{}

// Invoke answers at once.
func (inProcess) Invoke(_ context.Context, c execution.Call) execution.Reply {
	name, _ := c.Parameters["name"].(string)
	return execution.Reply{Kind: execution.ReplyResult, Result: answer(name)}
}

// ends is a store that signals when the last commit of a run is on disk.
type ends struct {
	execution.Store

	commits atomic.Int64

	mu      sync.Mutex // guards waiting
	waiting map[string]chan contracts.RunState
}

func (s *ends) watch(runID string) <-chan contracts.RunState {
	c := make(chan contracts.RunState, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[runID] = c
	return c
}

// CreateRun counts the commit.
func (s *ends) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	s.commits.Add(1)
	return s.Store.CreateRun(ctx, run, ttl, first)
}

// Commit counts the commit, and signals the end of a run.
func (s *ends) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	s.commits.Add(1)
	done, err := s.Store.Commit(ctx, t)
	if err != nil || !t.Finished {
		return done, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.waiting[t.Lease.RunID]; ok {
		c <- t.State
		delete(s.waiting, t.Lease.RunID)
	}
	return done, nil
}
