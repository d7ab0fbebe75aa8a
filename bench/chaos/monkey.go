package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// lease is the duration of a server's lease; see execution.Config.
const lease = 10 * time.Second

// monkey injects faults, one at a time, in an order that the seed decides.
type monkey struct {
	site   *site
	chance *rand.Rand

	kills, freezes, crashes, cuts, changes, full, steps, wrong int

	mu        sync.Mutex // guards takeovers
	takeovers []time.Duration
}

// play injects faults until ctx ends, and repairs all of them.
func (m *monkey) play(ctx context.Context) error {
	var watching, frozen sync.WaitGroup
	defer watching.Wait()
	defer frozen.Wait()
	for {
		wait := m.site.plan.every/2 + rand.N(m.site.plan.every) //nolint:gosec // the moment cannot be repeated anyway
		if err := pause(ctx, wait); err != nil {
			return err
		}
		at := m.chance.IntN(len(m.site.replicas))
		r, database := m.site.replicas[at], m.site.database
		var err error
		switch n := m.chance.IntN(100); {
		case n < 58:
			err = m.kill(ctx, r, &watching)
		case n < 64:
			m.freezes++
			r.signal(syscall.SIGSTOP)
			frozen.Go(func() {
				_ = pause(ctx, 2*lease) // longer than its leases
				r.signal(syscall.SIGCONT)
			})
		case n < 72:
			err = m.cut(ctx, m.site.wires[at])
		case n < 77:
			err = m.cut(ctx, m.site.toVault)
		case n < 85:
			m.changes++
			m.site.vault.change()
			err = m.site.refresh(ctx, m.chance)
		case n < 90 && database.disk != nil:
			m.full++
			err = database.fill(ctx, time.Second+m.upTo(4*time.Second))
		case n < 93 && database.clock != nil:
			m.steps++
			err = database.clock.step(lease - m.upTo(2*lease)) // leases depend on it
		case n < 96:
			m.wrong++
			err = r.clock.step(4*lease - m.upTo(8*lease)) // nothing that two servers must agree on depends on it
		default:
			m.crashes++
			err = errors.Join(database.crash(), pause(ctx, m.upTo(3*time.Second)), database.start(context.WithoutCancel(ctx)))
		}
		if err != nil {
			return err
		}
	}
}

// kill ends a server without warning, and restarts it after a while.
func (m *monkey) kill(ctx context.Context, r *replica, watching *sync.WaitGroup) error {
	m.kills++
	lasting := context.WithoutCancel(ctx)
	held := m.held(lasting)
	r.kill()
	watching.Go(func() { m.watch(ctx, held) })
	return errors.Join(pause(ctx, m.upTo(2*time.Second)), r.start(lasting))
}

// cut cuts the connections of one wire, and mends it after a while.
func (m *monkey) cut(ctx context.Context, w *wire) error {
	m.cuts++
	w.sever()
	defer w.mend()
	return pause(ctx, m.upTo(3*time.Second))
}

func (m *monkey) upTo(d time.Duration) time.Duration { return time.Duration(m.chance.Int64N(int64(d))) }

// holding is the lease of a run at one time.
type holding struct {
	id            string
	epoch, expiry int64
}

func (m *monkey) held(ctx context.Context) []holding {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, m.site.database.address())
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close(ctx) }() // it was only read
	rows, err := conn.Query(ctx, `SELECT id, epoch, lease_until FROM run WHERE finished_at = 0 AND owner <> ''`)
	if err != nil {
		return nil
	}
	held, _ := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h holding, err error) {
		err = row.Scan(&h.id, &h.epoch, &h.expiry)
		return h, err
	})
	return held
}

// watch measures how long the runs of a dead server stop: those whose lease was not renewed since,
// until another server has it.
func (m *monkey) watch(ctx context.Context, held []holding) {
	began := time.Now()
	for len(held) > 0 && time.Since(began) < 6*lease && pause(ctx, 250*time.Millisecond) == nil {
		is := map[string]holding{}
		for _, h := range m.held(ctx) {
			is[h.id] = h
		}
		if len(is) == 0 {
			continue
		}
		took := time.Since(began)
		held = slices.DeleteFunc(held, func(was holding) bool {
			now, ok := is[was.id]
			switch {
			case !ok || now.epoch == was.epoch && now.expiry != was.expiry:
				return true // it is parked, or its owner lives
			case now.epoch > was.epoch && took > lease/2:
				m.mu.Lock()
				m.takeovers = append(m.takeovers, took)
				m.mu.Unlock()
				return true
			}
			return now.epoch > was.epoch
		})
	}
}
