package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/postgres"
)

// wakeups measures how soon another server learns of a decision and of a timer: by the notice of
// the commit, and by its job. No server advances runs here, so that none interferes.
func wakeups(ctx context.Context, p *page, _ string, e effort) (err error) {
	address := os.Getenv(postgresEnv)
	if address == "" {
		p.printf("\n### What wakes another server\n\nNot measured: %s names no database.\n", postgresEnv)
		return nil
	}
	address, drop, err := freshSchema(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, drop)) }()
	w, err := openTwo(ctx, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closing(ctx, w.close)) }()
	return w.table(ctx, p, e)
}

// two has a server that decides and one that must learn of it.
type two struct {
	decides, knows *postgres.Store
	worker         *postgres.Worker
	told           chan string  // the run of each notice
	woken          chan arrival // the run of each job
	stop           context.CancelFunc
	n              int
}

// arrival is when a job came for a run.
type arrival struct {
	run string
	at  time.Time
}

func openTwo(ctx context.Context, address string) (*two, error) {
	w := &two{told: make(chan string, 10000), woken: make(chan arrival, 10000)}
	var err error
	if w.decides, err = postgres.Open(ctx, postgres.Config{URL: address}); err != nil {
		return nil, err
	}
	if w.knows, err = postgres.Open(ctx, postgres.Config{URL: address}); err != nil {
		return nil, err
	}
	none := func(context.Context, string) (time.Duration, error) { return 0, nil }
	w.worker, err = w.knows.Work(ctx, postgres.Handlers{Delivery: none, Run: func(_ context.Context, id string) (time.Duration, error) {
		w.woken <- arrival{id, time.Now()}
		return 0, nil
	}})
	listening, stop := context.WithCancel(ctx)
	w.stop = stop
	go w.knows.Listen(listening, func(c postgres.Change) { w.told <- c.RunID })
	return w, err
}

func (w *two) close(ctx context.Context) error {
	w.stop()
	return errors.Join(w.worker.Stop(ctx), w.knows.Close(), w.decides.Close())
}

func (w *two) table(ctx context.Context, p *page, e effort) error {
	var commit, notice, job, near, far sample
	for range e.rounds {
		for range e.of(20) {
			if err := w.decision(ctx, &commit, &notice, &job); err != nil {
				return err
			}
		}
	}
	if err := w.timers(ctx, 2*time.Second, e.of(100), &near); err != nil {
		return err
	}
	if err := w.timers(ctx, 11*time.Second, e.of(100), &far); err != nil {
		return err
	}
	p.printf("\n### What wakes another server\n\n| | p50 ms | p99 ms | max ms |\n|---|--:|--:|--:|\n")
	for _, row := range []struct {
		name string
		took sample
	}{
		{"a decision is committed, its job with it", commit},
		{"then another server is told by NOTIFY", notice},
		{"the job comes to another server", job},
		{"the job of a timer of 2 to 4 s comes late by", near},
		{"the job of a timer of 11 to 13 s comes late by", far},
	} {
		p.printf("| %s | %.1f | %.1f | %.1f |\n", row.name, milliseconds(row.took.at(0.5)), milliseconds(row.took.at(0.99)), milliseconds(row.took.at(1)))
	}
	return nil
}

// parked creates a run that waits for a decision or a time.
func (w *two) parked(ctx context.Context, wakeAt time.Time, gates ...contracts.Interrupt) (string, error) {
	w.n++
	id := fmt.Sprintf("run_%d", w.n)
	run := execution.Run{
		ID: id, SessionID: "s", Owner: "bench", Format: execution.Format, State: contracts.RunRunning, CreatedAt: time.Now(),
		Plan: contracts.Plan{RunID: id, Owner: contracts.Principal{ID: "bench"}},
	}
	if err := w.decides.Runs.CreateRun(ctx, run, time.Hour, execution.Transition{}); err != nil {
		return id, err
	}
	for i := range gates {
		gates[i].InterruptID = "gate_" + id
	}
	_, err := w.decides.Runs.Commit(ctx, execution.Transition{
		Lease: execution.Lease{RunID: id, Owner: "bench", Epoch: 1}, Park: true, WakeAt: wakeAt, Gates: gates,
	})
	return id, err
}

func (w *two) decision(ctx context.Context, commit, notice, job *sample) error {
	id, err := w.parked(ctx, time.Time{}, contracts.Interrupt{})
	if err != nil {
		return err
	}
	for len(w.told) > 0 {
		<-w.told
	}
	begun := time.Now()
	_, err = execution.UpdateInterrupt(ctx, w.decides.Runs, "gate_"+id, func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = contracts.InterruptApproved
		return nil
	})
	commit.note(time.Since(begun))
	if err != nil {
		return err
	}
	for told := ""; told != id; told = <-w.told {
	}
	notice.note(time.Since(begun))
	for woken := (arrival{}); woken.run != id; woken = <-w.woken {
	}
	job.note(time.Since(begun))
	return nil
}

// timers makes runs wait for times within two seconds, and adds how late each is woken.
func (w *two) timers(ctx context.Context, wait time.Duration, n int, late *sample) error {
	due := map[string]time.Time{}
	for i := range n {
		at := time.Now().Add(wait + time.Duration(i)*2*time.Second/time.Duration(n))
		id, err := w.parked(ctx, at)
		if err != nil {
			return err
		}
		due[id] = at
	}
	for len(due) > 0 {
		woken := <-w.woken
		if at, ok := due[woken.run]; ok {
			late.note(woken.at.Sub(at))
			delete(due, woken.run)
		}
	}
	return nil
}
