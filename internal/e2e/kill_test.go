package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// firstSeed is where the seeds of this process begin.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("MANIFOLD_E2E_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("MANIFOLD_E2E_SEED: %v", err)
	}
	return seed
}

func TestKill9AtRandomMomentsLosesNothingAndDoesNothingTwice(t *testing.T) {
	t.Parallel()
	seeds, begin := 6, firstSeed(t)
	if longTests() {
		seeds = 15
	}
	each(seeds, func(i int) {
		seed := begin + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { killAtRandom(t, rand.New(rand.NewPCG(seed, 9))) })
	})
}

func killAtRandom(t *testing.T, rng *rand.Rand) {
	t.Helper()
	p := startProcess(t)
	d := newDepot(t, "depot", func(m *contracts.Manifest) { capability(m, "put_traced").Metadata.TimeoutMS = 1000 })
	p.register(d.registration())
	run := p.run(
		call("depot.peek", map[string]any{"id": "r1"}), call("depot.peek", map[string]any{"id": "r2"}),
		d.put("keyed", "k1", "1"), d.put("plain", "p1", "2"), d.put("keyed", "k2", "3"),
		d.put("traced", "t1", "4"), d.put("plain", "p2", "5"),
	).RunIDs[0]
	kills := 1 + rng.IntN(2)
	for view, timer := (contracts.RunView{}), randomTimer(rng); !view.State.Terminal() || kills > 0; {
		select {
		case <-timer.C:
			if kills == 0 {
				continue
			}
			kills--
			p.again()
			timer = randomTimer(rng)
		default:
			view = p.decideNext(d, run)
		}
		if view.State.Terminal() {
			kills = 0
		}
	}
	view := p.ended(run)
	if view.State != contracts.RunCompleted {
		t.Errorf("the run ended as %s", states2text(view))
	}
	for _, id := range []string{"k1", "p1", "k2", "t1", "p2"} {
		if n := d.done(id); n != 1 {
			t.Errorf("%s was done %d times; record: %+v", id, n, d.record())
		}
	}
	p.sound(view)
}

// randomTimer fires at a moment of the seed's choosing; what the server does
// by then differs from machine to machine, and must not matter.
func randomTimer(rng *rand.Rand) *time.Timer {
	return time.NewTimer(time.Duration(rng.IntN(120_000)) * time.Microsecond)
}

// decideNext approves one open gate, or settles one doubt with what the
// domain's own record says, and returns the state of the run.
func (p *process) decideNext(d *depot, run string) contracts.RunView {
	p.t.Helper()
	open, err := p.rita.Gates(p.t.Context(), client.GatesFilter{RunID: run, Status: contracts.InterruptOpen})
	if err != nil {
		p.t.Fatal(err)
	}
	if len(open) > 0 {
		if open[0].Type == contracts.InterruptWriteApproval {
			p.approve(open[0])
		} else {
			p.settleByRecord(d, open[0])
		}
	}
	view, err := p.rita.Run(p.t.Context(), run, client.Opt{})
	if err != nil {
		p.t.Fatal(err)
	}
	return view
}

func (p *process) settleByRecord(d *depot, question contracts.Interrupt) {
	p.t.Helper()
	view, err := p.rita.Run(p.t.Context(), question.RunID, client.Opt{})
	if err != nil {
		p.t.Fatal(err)
	}
	n := nodeIn(view, question.NodeID, []contracts.NodeState{contracts.NodeOutcomeUnknown})
	if n.NodeID == "" {
		return // it went on meanwhile
	}
	id, _ := n.Params["id"].(string)
	truth := contracts.AnswerNotApplied
	if d.done(id) > 0 {
		truth = contracts.AnswerApplied
	}
	if _, err := p.rita.Answer(p.t.Context(), question, truth, client.Opt{}); err != nil {
		p.t.Fatal(err)
	}
}
