package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// verdict counts violations.
type verdict struct {
	lost, stuck, failed, twice, missing, unasked, audit, gaps []string

	writes, doubts, again int
	// reads are runs that failed because the domain failed all attempts of a read.
	reads int
}

// patience is how long a server may need after all faults are repaired.
const patience = 2 * time.Minute

// judge compares the domain's records with the ledgers.
func (s *site) judge(ctx context.Context, all []seen, m *monkey, took time.Duration) error {
	s.vault.calm()
	for _, r := range s.replicas {
		if err := s.mended(ctx, r); err != nil {
			return err
		}
	}
	p := &person{site: s, chance: rand.New(rand.NewPCG(s.plan.seed, 3))} //nolint:gosec // by the seed
	var v verdict
	for _, one := range all {
		if err := v.run(ctx, p, one); err != nil {
			return err
		}
	}
	v.unasked = s.vault.wild
	v.print(s, m, len(all), took)
	if bad := slices.Concat(v.lost, v.stuck, v.failed, v.twice, v.missing, v.unasked, v.audit, v.gaps); len(bad) > 0 {
		return errors.New(strings.Join(bad, "\n"))
	}
	return nil
}

// mended waits until a server works again.
func (s *site) mended(ctx context.Context, r *replica) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := s.clients[slices.Index(s.replicas, r)]
	for {
		if ready, err := c.Ready(ctx); err == nil && ready.Ready {
			return nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return fmt.Errorf("the server at %s does not come back: %w", r.addr, err)
		}
	}
}

func (v *verdict) run(ctx context.Context, p *person, one seen) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if one.id == "" {
		v.failed = append(v.failed, fmt.Sprint(one.trouble))
		return nil
	}
	v.doubts += one.asked
	v.again += one.again
	view, err := insist(ctx, p, func(c *client.Client) (contracts.RunView, error) { return c.Run(ctx, one.id, client.Opt{}) })
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		v.lost = append(v.lost, "lost: "+one.id)
		return nil
	case err != nil:
		return err
	case !view.State.Terminal():
		v.stuck = append(v.stuck, fmt.Sprintf("stuck: %s is %s (%v)", one.id, view.State, one.trouble))
		return nil
	case one.trouble != nil:
		v.failed = append(v.failed, fmt.Sprintf("%s: %v", one.id, one.trouble))
	case view.State == contracts.RunFailed && readsFailed(view):
		v.reads++
	case view.State != contracts.RunCompleted:
		v.failed = append(v.failed, fmt.Sprintf("%s ended as %s: %s", one.id, view.State, whyNot(view)))
	}
	v.effects(p.site.vault, view)
	return v.records(ctx, p, one.id)
}

// readsFailed reports whether a run failed only because of reads that the domain failed at every
// attempt.
func readsFailed(view contracts.RunView) bool {
	failed := 0
	for _, n := range view.Nodes {
		if n.State != contracts.NodeFailed {
			continue
		}
		failed++
		if strings.Contains(n.Tool, ".put_") || n.Error == nil || n.Attempts < 2 {
			return false
		}
		if n.Error.Type != contracts.ErrUpstream && n.Error.Type != contracts.ErrTimeout {
			return false
		}
	}
	return failed > 0
}

// whyNot describes the nodes of a run that did not complete.
func whyNot(view contracts.RunView) string {
	var out []string
	for _, n := range view.Nodes {
		switch {
		case n.State == contracts.NodeCompleted:
		case n.Error != nil:
			out = append(out, fmt.Sprintf("%s is %s, %s: %s", n.NodeID, n.State, n.Error.Type, n.Error.Message))
		default:
			out = append(out, fmt.Sprintf("%s is %s", n.NodeID, n.State))
		}
	}
	return strings.Join(out, "; ")
}

// effects compares each write with the domain's record.
func (v *verdict) effects(vault *vault, view contracts.RunView) {
	for _, n := range view.Nodes {
		if !strings.Contains(n.Tool, ".put_") {
			continue
		}
		v.writes++
		times := vault.applied(view.RunID, n.NodeID)
		what := fmt.Sprintf("%s %s %s (%s) was applied %d times", view.RunID, n.NodeID, n.Tool, n.State, times)
		if times > 1 {
			v.twice = append(v.twice, "twice: "+what)
		}
		if times == 0 && n.State == contracts.NodeCompleted {
			v.missing = append(v.missing, "missing: "+what)
		}
	}
}

// records checks the ledger's chain, its replay, and the sequence numbers of the events.
func (v *verdict) records(ctx context.Context, p *person, id string) error {
	report, err := insist(ctx, p, func(c *client.Client) (contracts.AuditReport, error) { return c.AuditVerify(ctx, id) })
	if err != nil {
		return err
	}
	replay, err := insist(ctx, p, func(c *client.Client) (contracts.ReplayReport, error) { return c.Replay(ctx, id) })
	if err != nil {
		return err
	}
	if !report.OK || len(replay.Differences) > 0 {
		v.audit = append(v.audit, fmt.Sprintf("audit of %s: %+v, replay differs in %v", id, report, replay.Differences))
	}
	events, err := insist(ctx, p, func(c *client.Client) ([]contracts.Event, error) { return c.RunEvents(ctx, id, 0, 1000) })
	for i := range events {
		if i > 0 && events[i].Seq != events[i-1].Seq+1 {
			v.gaps = append(v.gaps, fmt.Sprintf("gap in the events of %s after %d", id, events[i-1].Seq))
		}
	}
	return err
}

func (v *verdict) print(s *site, m *monkey, runs int, took time.Duration) {
	slices.Sort(m.takeovers)
	at := func(q float64) time.Duration {
		if len(m.takeovers) == 0 {
			return 0
		}
		return m.takeovers[min(int(q*float64(len(m.takeovers))), len(m.takeovers)-1)].Round(100 * time.Millisecond)
	}
	fmt.Fprintf(os.Stdout, `seed %d, %d servers, %d runs with %d writes in %s

| kill -9 | freezes of 20 s | database crashed | disk full | database's clock set | servers' clocks set | lines cut | manifest changed | doubts asked | approvals asked anew | reads failed at every try | taken over | p50 | max |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s | %s |

| lost | stuck | not completed | applied twice | missing | unapproved | audit or replay | gaps |
|--:|--:|--:|--:|--:|--:|--:|--:|
| %d | %d | %d | %d | %d | %d | %d | %d |
`, s.plan.seed, s.plan.replicas, runs, v.writes, took.Round(time.Second),
		m.kills, m.freezes, m.crashes, m.full, m.steps, m.wrong, m.cuts, m.changes, v.doubts, v.again, v.reads, len(m.takeovers), at(0.5), at(1),
		len(v.lost), len(v.stuck), len(v.failed), len(v.twice), len(v.missing), len(v.unasked), len(v.audit), len(v.gaps))
}
