package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// TestKill9DuringTheExampleLosesNoAnswerAndWritesOnce kills the server again and
// again while somebody goes through the example with a repair, an iteration and an
// edited plan.
func TestKill9DuringTheExampleLosesNoAnswerAndWritesOnce(t *testing.T) {
	t.Parallel()
	seeds, begin := 3, firstSeed(t)
	if longTests() {
		seeds = 6
	}
	each(seeds, func(i int) {
		seed := begin + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { killDuringTheExample(t, rand.New(rand.NewPCG(seed, 13))) })
	})
}

func killDuringTheExample(t *testing.T, rng *rand.Rand) {
	t.Helper()
	p, domains := startProcess(t), newStudio(t)
	domains.Script.FirstMismatch = true
	domains.register(p.site)
	run := p.run(call("flowise.develop_chatflow", map[string]any{"goal": "answer questions"})).RunIDs[0]
	says := map[string]any{
		"hitl_plan": "approve", "hitl_plan#2": map[string]any{"decision": "edit", "changes": map[string]any{"name": "Better"}},
		"hitl_review": "iterate: shorter", "hitl_review#2": "accept",
	}
	kills := 4 + rng.IntN(4)
	view, timer := p.answersNext(run, says), moment(rng)
	for begun := time.Now(); !view.State.Terminal(); {
		if time.Since(begun) > 3*patience {
			t.Fatalf("it does not end\n%s", states2text(view))
		}
		select {
		case <-timer.C:
			if kills--; kills >= 0 {
				p.again()
				timer = moment(rng)
			}
		default:
			view = p.answersNext(run, says)
		}
	}
	view = p.ended(run)
	one := tale{state: contracts.RunCompleted, writes: 2, flows: 2, said: done}
	one.check(t, domains, view)
	p.sound(view)
	plans, ops := domains.CallsOf("plan_from_goal"), domains.CallsOf("ops_from_contract")
	if said := plans[len(plans)-1].Parameters["feedback"]; said != "shorter" {
		t.Errorf("the second plan is told %q", said)
	}
	contract, _ := ops[len(ops)-1].Parameters["contract"].(map[string]any)
	if contract["name"] != "Better" {
		t.Errorf("built is %v, and not what was edited", contract)
	}
}

func moment(rng *rand.Rand) *time.Timer {
	return time.NewTimer(time.Duration(rng.IntN(400_000)) * time.Microsecond)
}

// answersNext returns one answer, if something is asked, and the run as it is. An
// answer that the dying server has taken already is none to give again.
func (p *process) answersNext(run string, says map[string]any) contracts.RunView {
	p.t.Helper()
	view, err := p.rita.Run(p.t.Context(), run, client.Opt{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, i := range view.Interrupts {
		if i.Type.IsGate() {
			_, err = p.otto.Approve(p.t.Context(), i, "", client.Opt{})
		} else {
			_, err = p.rita.Answer(p.t.Context(), i, says[i.NodeID], client.Opt{})
		}
		if err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
			p.t.Fatalf("%s of %s: %v", i.Type, i.NodeID, err)
		}
	}
	return view
}
