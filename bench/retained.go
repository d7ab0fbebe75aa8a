package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/internal/witness"
	"github.com/manifold-run/manifold/orchestrator"
)

// retained measures the size of 100,000 ended runs, each of ten reads in a session of its own, and
// what remains after retention has deleted them.
func retained(ctx context.Context, p *page, dir string, e effort) (err error) {
	n := e.rounds * e.of(10_000)
	p.printf("\n### %d runs that ended, and what retention leaves\n\n| | full | a run | the sweep took | after it | a run |\n|---|--:|--:|--:|--:|--:|\n", n)
	if err := retainedIn(ctx, p, "the file", filepath.Join(dir, "file"), "", n); err != nil {
		return err
	}
	address := os.Getenv(postgresEnv)
	if address == "" {
		p.printf("\nOn PostgreSQL not measured: %s names no database.\n", postgresEnv)
		return nil
	}
	address, drop, err := freshSchema(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, drop)) }()
	return retainedIn(ctx, p, "PostgreSQL", filepath.Join(dir, "postgres"), address, n)
}

// shelf is a store with ended runs.
type shelf struct {
	runs execution.Store
	talk interface {
		orchestrator.Sessions
		CreateSession(ctx context.Context, s orchestrator.Session) error
	}
	close func() error
	// bytes returns the size of the store, after it has freed what it can.
	bytes func(context.Context) (int64, error)
}

// openShelf opens the store of a stopped server.
func openShelf(ctx context.Context, dir, address string) (*shelf, error) {
	keys, _, err := witness.Load(filepath.Join(dir, "audit.keys"))
	if err != nil {
		return nil, err
	}
	if address == "" {
		path := filepath.Join(dir, "manifold.db")
		s, err := sqlite.Open(ctx, sqlite.Config{Path: path, SealKeys: keys.Sealing})
		if err != nil {
			return nil, err
		}
		return &shelf{s.Runs, s.Sessions, s.Close, func(context.Context) (int64, error) { return fileSizes(path, path+"-wal") }}, nil
	}
	s, err := postgres.Open(ctx, postgres.Config{URL: address, SealKeys: keys.Sealing})
	if err != nil {
		return nil, err
	}
	return &shelf{s.Runs, s.Sessions, s.Close, func(ctx context.Context) (int64, error) { return schemaSize(ctx, address) }}, nil
}

func fileSizes(paths ...string) (sum int64, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// schemaSize returns the size of the tables of an address after a VACUUM FULL. A plain VACUUM keeps
// the free space in them for later rows.
func schemaSize(ctx context.Context, address string) (size int64, err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, `VACUUM FULL`); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`).Scan(&size)
	return size, err
}

func retainedIn(ctx context.Context, p *page, name, dir, address string, n int) error {
	original, err := oneEnded(ctx, dir, address)
	if err != nil {
		return err
	}
	s, err := openShelf(ctx, dir, address)
	if err != nil {
		return err
	}
	empty, err := s.bytes(ctx)
	if err == nil {
		err = s.fill(ctx, original, n)
	}
	if err != nil {
		return errors.Join(err, s.close())
	}
	full, err := s.bytes(ctx)
	if err != nil {
		return errors.Join(err, s.close())
	}
	began := time.Now()
	swept, err := s.runs.Sweep(ctx, began.Add(time.Hour))
	if err == nil {
		_, err = s.talk.SweepSessions(ctx, began.Add(time.Hour))
	}
	took := time.Since(began)
	if err == nil && swept.Runs < n {
		err = fmt.Errorf("retention swept %d of %d runs", swept.Runs, n)
	}
	if err = errors.Join(err, s.close()); err != nil {
		return err
	}
	left, err := s.bytes(ctx)
	if err != nil {
		return err
	}
	const mib, kib = 1 << 20, 1 << 10
	p.printf("| %s | %d MiB | %.1f KiB | %.0f s | %d MiB | %.2f KiB |\n", name, full/mib, float64(full-empty)/float64(n)/kib,
		took.Seconds(), left/mib, float64(left-empty)/float64(n)/kib)
	return nil
}

// ended has all rows of an ended run.
type ended struct {
	Session orchestrator.Session
	Run     execution.Run
	Nodes   []execution.NodeRecord
	Events  []contracts.Event
	Ledger  []contracts.LedgerEntry
}

// oneEnded makes a server run ten reads, stops it, and reads the run.
func oneEnded(ctx context.Context, dir, address string) (one ended, err error) {
	w := newWhole()
	w.postgres, w.keys = address, filepath.Join(dir, "audit.keys")
	if err := w.start(ctx, dir); err != nil {
		return one, errors.Join(err, w.close(ctx))
	}
	var asked contracts.SessionResponse
	preview, err := w.client.Plan(ctx, contracts.PlanRequest{Goal: "read the gauges", Intents: []contracts.Intent{{
		ID: "i1", Domain: domainName, Capability: noop, Parameters: map[string]any{"names": names(10)}, Confidence: 1,
	}}})
	if err == nil {
		asked, err = w.client.RunPlan(ctx, contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{Wait: 30 * time.Second})
	}
	if err == nil && len(asked.RunIDs) == 0 {
		err = errors.New("no run came of ten reads")
	}
	if err == nil {
		_, err = w.client.Run(ctx, asked.RunIDs[0], client.Opt{Wait: 30 * time.Second})
	}
	if err = errors.Join(err, w.close(ctx)); err != nil {
		return one, err
	}
	s, err := openShelf(ctx, dir, address)
	if err != nil {
		return one, err
	}
	return one, errors.Join(one.read(ctx, s, asked.RunIDs[0]), s.close())
}

func (one *ended) read(ctx context.Context, s *shelf, id string) error {
	snapshot, err := s.runs.LoadRun(ctx, id)
	if err != nil {
		return err
	}
	one.Run, one.Nodes = snapshot.Run, snapshot.Nodes
	if !one.Run.State.Terminal() {
		return fmt.Errorf("the run is %s", one.Run.State)
	}
	if one.Events, err = s.runs.Events(ctx, one.Run.SessionID, 0, 1000); err != nil {
		return err
	}
	if one.Ledger, err = s.runs.Ledger(ctx, id, 0, 0); err != nil {
		return err
	}
	one.Session, err = s.talk.Session(ctx, one.Run.SessionID)
	return err
}

// fill stores n copies of a run, each in a session of its own.
func (s *shelf) fill(ctx context.Context, one ended, n int) error {
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range n {
		group.Go(func() error {
			text := string(body)
			for _, name := range []string{one.Run.ID, one.Run.SessionID} {
				text = strings.ReplaceAll(text, strconv.Quote(name), strconv.Quote(fmt.Sprintf("%s%06d", name, i)))
			}
			var next ended
			if err := json.Unmarshal([]byte(text), &next); err != nil {
				return err
			}
			return next.store(ctx, s)
		})
	}
	return group.Wait()
}

func (one *ended) store(ctx context.Context, s *shelf) error {
	if err := s.talk.CreateSession(ctx, one.Session); err != nil {
		return err
	}
	state, verdict := one.Run.State, one.Run.Verdict
	one.Run.Owner, one.Run.Epoch, one.Run.State, one.Run.Verdict = "bench", 1, contracts.RunRunning, nil
	one.Run.Parked, one.Run.WakeSeq, one.Run.HandledSeq = false, 0, 0
	one.Run.LedgerSeq, one.Run.LedgerHead, one.Run.FinishedAt = 0, "", nil
	if err := s.runs.CreateRun(ctx, one.Run, time.Hour, execution.Transition{}); err != nil {
		return err
	}
	_, err := s.runs.Commit(ctx, execution.Transition{
		Lease: execution.Lease{RunID: one.Run.ID, Owner: "bench", Epoch: 1}, State: state, At: time.Now(),
		Nodes: one.Nodes, Events: one.Events, Ledger: one.Ledger, Verdict: verdict, Finished: true,
	})
	return err
}
