package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/witness"
	"github.com/manifold-run/manifold/orchestrator"
)

// parkedRuns measures a server on PostgreSQL with 100,000 runs that wait for an approval: its
// start, its load without requests, and decisions.
func parkedRuns(ctx context.Context, p *page, dir string, e effort) (err error) {
	address := os.Getenv(postgresEnv)
	if address == "" {
		p.printf("\n### Runs that wait\n\nNot measured: %s names no database.\n", postgresEnv)
		return nil
	}
	address, drop, err := freshSchema(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, drop)) }()
	w := newWhole()
	w.postgres, w.keys = address, filepath.Join(dir, "audit.keys")
	if err := w.start(ctx, dir); err != nil {
		return errors.Join(err, w.close(ctx))
	}
	c := &crowd{whole: w, n: e.rounds * e.of(10_000)}
	if err := errors.Join(c.gather(ctx), w.app.Stop(ctx)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, w.close)) }()
	return c.table(ctx, p, dir, e)
}

// crowd is n runs that wait for an approval, copies of one that reached its gate through the API.
type crowd struct {
	*whole

	n        int
	original string // the id of the run that was copied
}

// waiting has all rows of a waiting run.
type waiting struct {
	Session orchestrator.Session
	Run     execution.Run
	Nodes   []execution.NodeRecord
	Gates   []contracts.Interrupt
	Ledger  []contracts.LedgerEntry
}

// open opens the store of the running server.
func (c *crowd) open(ctx context.Context) (*postgres.Store, error) {
	keys, _, err := witness.Load(c.keys)
	if err != nil {
		return nil, err
	}
	return postgres.Open(ctx, postgres.Config{URL: c.postgres, SealKeys: keys.Sealing})
}

// gather brings one run to its gate, and copies it.
func (c *crowd) gather(ctx context.Context) error {
	preview, err := c.client.Plan(ctx, contracts.PlanRequest{Intents: []contracts.Intent{{
		ID: "i1", Domain: domainName, Capability: setting, Parameters: map[string]any{"name": "g-01"}, Confidence: 1, Source: "caller",
	}}})
	if err != nil {
		return err
	}
	asked, err := c.client.RunPlan(ctx, contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{Wait: 30 * time.Second})
	if err != nil {
		return err
	}
	c.original = asked.RunIDs[0]
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	one, err := readWaiting(ctx, s, c.original)
	if err == nil {
		err = c.copyAll(ctx, s, one)
	}
	return errors.Join(err, s.Close())
}

// readWaiting reads a run when it waits.
func readWaiting(ctx context.Context, s *postgres.Store, id string) (one waiting, err error) {
	for {
		snapshot, err := s.Runs.LoadRun(ctx, id)
		if err != nil {
			return one, err
		}
		if snapshot.Run.Parked {
			one.Run, one.Nodes = snapshot.Run, snapshot.Nodes
			break
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return one, err
		}
	}
	if one.Gates, err = s.Runs.Interrupts(ctx, execution.InterruptFilter{RunID: id}); err != nil {
		return one, err
	}
	if one.Ledger, err = s.Runs.Ledger(ctx, id, 0, 0); err != nil {
		return one, err
	}
	one.Session, err = s.Sessions.Session(ctx, one.Run.SessionID)
	return one, err
}

// copyAll makes n-1 copies of a waiting run, each in a session of its own.
func (c *crowd) copyAll(ctx context.Context, s *postgres.Store, one waiting) error {
	body, err := json.Marshal(one)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range c.n - 1 {
		group.Go(func() error {
			text := string(body)
			for _, name := range []string{one.Run.ID, one.Run.SessionID, one.Gates[0].InterruptID, one.Gates[0].Code} {
				text = strings.ReplaceAll(text, strconv.Quote(name), strconv.Quote(fmt.Sprintf("%s%06d", name, i)))
			}
			var next waiting
			if err := json.Unmarshal([]byte(text), &next); err != nil {
				return err
			}
			return next.store(ctx, s)
		})
	}
	return group.Wait()
}

func (one *waiting) store(ctx context.Context, s *postgres.Store) error {
	if err := s.Sessions.CreateSession(ctx, one.Session); err != nil {
		return err
	}
	one.Run.Owner, one.Run.Epoch, one.Run.Parked, one.Run.WakeSeq, one.Run.HandledSeq = "bench", 1, false, 0, 0
	one.Run.LedgerSeq, one.Run.LedgerHead = 0, ""
	if err := s.Runs.CreateRun(ctx, one.Run, time.Hour, execution.Transition{}); err != nil {
		return err
	}
	_, err := s.Runs.Commit(ctx, execution.Transition{
		Lease: execution.Lease{RunID: one.Run.ID, Owner: "bench", Epoch: 1}, State: one.Run.State,
		Nodes: one.Nodes, Gates: one.Gates, Ledger: one.Ledger, Park: true, WakeAt: one.Run.WakeAt,
	})
	return err
}

func (c *crowd) table(ctx context.Context, p *page, dir string, e effort) error {
	began := time.Now()
	s, err := c.open(ctx)
	opened := time.Since(began)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	debug.FreeOSMemory()
	began = time.Now()
	if err := c.start(ctx, dir); err != nil {
		return err
	}
	started := time.Since(began)
	if err := sleep(ctx, e.time(15*time.Second)); err != nil {
		return err
	}
	busy, err := idle(ctx, e.time(30*time.Second))
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	rss, err := resident()
	if err != nil {
		return err
	}
	decisions, err := c.decide(ctx, e.of(100))
	if err != nil {
		return err
	}
	p.printf("\n### %d runs that wait for an approval, on PostgreSQL\n\n| | measured | asked for |\n|---|--:|--:|\n", c.n)
	p.printf("| opening the store | %.0f ms | |\n", milliseconds(opened))
	p.printf("| start until it serves and the matcher is settled, beyond that | %.0f ms | 300 ms |\n", milliseconds(started-opened))
	p.printf("| memory (RSS) of the process, this program included | %.0f MiB | 300 MiB |\n", float64(rss)/(1<<20))
	p.printf("| processors while nothing happens | %.2f %% of one | 1 %% |\n", 100*busy)
	p.printf("| a decision over the API, of %d: p50, p99, longest | %.1f, %.1f, %.1f ms | 50 ms |\n", len(decisions.each),
		milliseconds(decisions.at(0.5)), milliseconds(decisions.at(0.99)), milliseconds(decisions.at(1)))
	return nil
}

// decide approves n of the runs, and waits until they have ended.
func (c *crowd) decide(ctx context.Context, n int) (sample, error) {
	var took sample
	var runs []string
	gates, err := c.client.Gates(ctx, client.GatesFilter{Status: contracts.InterruptOpen, Limit: n})
	if err != nil {
		return took, err
	}
	for _, gate := range gates {
		began := time.Now()
		if _, err := c.client.Approve(ctx, gate, "", client.Opt{}); err != nil {
			return took, err
		}
		took.note(time.Since(began))
		runs = append(runs, gate.RunID)
	}
	for _, id := range runs {
		for {
			view, err := c.client.Run(ctx, id, client.Opt{Wait: time.Second})
			if err != nil {
				return took, err
			}
			if view.State == contracts.RunCompleted {
				break
			}
			if view.State.Terminal() {
				return took, fmt.Errorf("run %s has %s", id, view.State)
			}
		}
	}
	return took, nil
}

// resident returns the resident memory of the process.
func resident() (int64, error) {
	body, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(body))
	if len(fields) < 2 {
		return 0, errors.New("/proc/self/statm is not understood")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
