package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// site has all processes: the database, the servers and the domain.
type site struct {
	plan     plan
	database *database
	replicas []*replica
	// clients, approvers and admins are one for each replica: of the requester, of the approver of
	// others' requests, and of the administrator.
	clients, approvers, admins []*client.Client
	// wires connect each server to the database, and toVault all servers to the domain.
	wires   []*wire
	toVault *wire
	vault   *vault
}

// newSite starts everything. It returns what was started also with an error.
func newSite(ctx context.Context, p plan) (*site, error) {
	s := &site{plan: p, vault: newVault(p.seed)}
	program, err := buildServer(ctx, p.dir)
	if err != nil {
		return s, err
	}
	if s.database, err = newDatabase(ctx, p.dir); err != nil {
		return s, err
	}
	if s.toVault, err = newWire(ctx, "tcp", s.vault.server.Listener.Addr().String()); err != nil {
		return s, err
	}
	for i := range p.replicas {
		w, err := newWire(ctx, "unix", s.database.socket())
		if err != nil {
			return s, err
		}
		s.wires = append(s.wires, w)
		r, err := newReplica(ctx, program, filepath.Join(p.dir, fmt.Sprintf("replica%d", i+1)), "postgres://postgres@"+w.address()+"/postgres?sslmode=disable")
		if err != nil {
			return s, err
		}
		s.replicas = append(s.replicas, r)
		if err := r.start(ctx); err != nil {
			return s, err
		}
	}
	return s, s.admit(ctx)
}

// admit registers the domain at the first server, and waits until all servers know it.
func (s *site) admit(ctx context.Context) error {
	key, err := os.ReadFile(filepath.Join(s.replicas[0].dir, "admin.key"))
	if err != nil {
		return err
	}
	admins, err := s.with(strings.TrimSpace(string(key)))
	if err != nil {
		return err
	}
	s.admins = admins
	if s.clients, err = s.person(ctx, admins[0], "rita", "operator"); err != nil {
		return err
	}
	if s.approvers, err = s.person(ctx, admins[0], "otto", "approver"); err != nil {
		return err
	}
	report, err := admins[0].RegisterDomain(ctx, contracts.Registration{Domain: domainName, URL: "http://" + s.toVault.address()})
	if err != nil || report.Outcome != contracts.DomainActive {
		return fmt.Errorf("register the domain: %w %+v", err, report)
	}
	for _, c := range s.clients {
		for {
			if caps, err := c.Capabilities(ctx, domainName); err == nil && len(caps) > 0 {
				break
			}
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return nil
}

// refresh makes a server fetch the manifest, and confirms it; the other servers are notified.
func (s *site) refresh(ctx context.Context, chance *rand.Rand) error {
	p := &person{site: s, chance: chance}
	report, err := insistAs(ctx, p, s.admins, func(c *client.Client) (contracts.DomainReport, error) { return c.RefreshDomain(ctx, domainName) })
	if err == nil && report.Outcome == contracts.DomainPending {
		_, err = insistAs(ctx, p, s.admins, func(c *client.Client) (contracts.DomainReport, error) {
			return c.ConfirmDomain(ctx, domainName, report.Digest)
		})
	}
	if err != nil && ctx.Err() == nil && contracts.CodeOf(err) != contracts.CodeConflict { // it was confirmed, and the response was lost
		return fmt.Errorf("bring another edition of the manifest: %w", err)
	}
	return ctx.Err()
}

// person returns the clients of a new user.
func (s *site) person(ctx context.Context, admin *client.Client, name, role string) ([]*client.Client, error) {
	key, err := admin.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: name, Roles: []string{role}})
	if err != nil {
		return nil, err
	}
	return s.with(key.Text)
}

// with returns a client of each server.
func (s *site) with(key string) ([]*client.Client, error) {
	var all []*client.Client
	for _, r := range s.replicas {
		c, err := r.with(key)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (s *site) close() error {
	for _, r := range s.replicas {
		r.kill()
	}
	for _, w := range append(s.wires, s.toVault) {
		if w != nil {
			_ = w.close() // it has nothing more to forward
		}
	}
	if s.vault != nil {
		s.vault.server.CloseClientConnections()
		s.vault.server.Close()
	}
	if s.database != nil {
		return s.database.close()
	}
	return nil
}

// play lets people work during the faults, until all runs have ended, and judges the result.
func (s *site) play(ctx context.Context) error {
	began := time.Now()
	breaking, enough := context.WithCancel(ctx)
	m := &monkey{site: s, chance: rand.New(rand.NewPCG(s.plan.seed, 2))} //nolint:gosec // by the seed
	broken := make(chan error, 1)
	go func() { broken <- m.play(breaking) }()

	all := make([]seen, s.plan.runs)
	var next, done atomic.Int64
	var people sync.WaitGroup
	for i := range s.plan.people {
		p := &person{site: s, chance: rand.New(rand.NewPCG(s.plan.seed, uint64(100+i)))} //nolint:gosec // by the seed
		people.Go(func() {
			for n := next.Add(1); n <= int64(s.plan.runs) && ctx.Err() == nil; n = next.Add(1) {
				all[n-1] = s.work(ctx, p, int(n))
				if ended := done.Add(1); ended%50 == 0 {
					fmt.Fprintf(os.Stderr, "%d of %d runs have ended after %s\n", ended, s.plan.runs, time.Since(began).Round(time.Second))
				}
			}
		})
	}
	people.Wait()
	took := time.Since(began)
	enough()
	if err := <-broken; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("break something: %w", err)
	}
	if errors.Is(ctx.Err(), context.Canceled) { // interrupted by hand: the ended runs are judged
		all = slices.DeleteFunc(all, func(one seen) bool { return one.id == "" || one.trouble != nil })
	}
	return s.judge(context.WithoutCancel(ctx), all, m, took)
}

func (s *site) work(ctx context.Context, p *person, n int) seen {
	id, err := p.ask(ctx, n)
	if err != nil {
		return seen{trouble: fmt.Errorf("ask for run %d: %w", n, err)}
	}
	return p.see(ctx, id)
}
