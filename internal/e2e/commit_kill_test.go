package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestKill9AtEveryCommitOfTheExample lets the server kill itself, by SIGKILL, on
// either side of each commit that it makes while somebody goes through the example
// with a repair, an iteration and an edited plan. A share of the commits is tried,
// by SAMPLE_SEED; MANIFOLD_NIGHTLY=1 tries all, which takes minutes.
func TestKill9AtEveryCommitOfTheExample(t *testing.T) {
	t.Parallel()
	m := newMortal(t)
	m.tell("unharmed", "count 0")
	commits := m.count()
	if commits < 30 {
		t.Fatalf("only %d commits", commits)
	}
	moments := sidesOf(commits)
	all, deaths := sample.Nightly(), len(moments)*3/4
	if !all {
		rng := rand.New(rand.NewPCG(sample.Seed(t), 17))
		rng.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
		deaths = 10
	}
	tried := 0
	for _, at := range moments { // not each is reached: some commits come by the clock
		if !all && m.deaths >= deaths {
			break
		}
		m.tell(at, at)
		tried++
	}
	t.Logf("%d commits, killed at %d of %d moments", commits, m.deaths, tried)
	if m.deaths < deaths {
		t.Errorf("it died at %d of %d moments", m.deaths, tried)
	}
}

// mortalServer goes through the example on a server that dies.
type mortalServer struct {
	*mortalProcess
	*studio
}

func newMortal(t *testing.T) *mortalServer {
	t.Helper()
	m := &mortalServer{newMortalProcess(t), newStudio(t)}
	m.Script.FirstMismatch = true
	m.register(m.site)
	return m
}

// mortalProcess is a server that can be told at which commit to die, and that is
// started again whenever it has.
type mortalProcess struct {
	*process

	order  string // the file of the fault point
	deaths int
}

func newMortalProcess(t *testing.T, flags ...string) *mortalProcess {
	t.Helper()
	program, err := mortal()
	if err != nil {
		t.Fatal(err)
	}
	m := &mortalProcess{process: newProcess(t, ""), order: filepath.Join(t.TempDir(), "order")}
	m.program, m.flags, m.env = program, flags, []string{"MANIFOLD_FAULTPOINT=" + m.order}
	m.first()
	m.addr = strings.TrimPrefix(m.url, "http://")
	return m
}

// sidesOf are both sides of so many commits.
func sidesOf(commits int) []string {
	out := make([]string, 0, 2*commits)
	for n := 1; n <= commits; n++ {
		out = append(out, fmt.Sprint("before ", n), fmt.Sprint("after ", n))
	}
	return out
}

// revived starts the server again if it has died.
func (m *mortalProcess) revived() {
	m.t.Helper()
	select {
	case <-m.finished:
		m.cmd = nil
		m.deaths++
		m.start()
	default:
	}
}

func (m *mortalProcess) count() int {
	m.t.Helper()
	info, err := os.Stat(m.order + ".count")
	if err != nil {
		m.t.Fatal(err)
	}
	return int(info.Size())
}

// tell goes through the example with one order to the server, and checks its result.
func (m *mortalServer) tell(name, order string) {
	t := m.t
	t.Helper()
	preview, err := m.rita.Plan(t.Context(), contracts.PlanRequest{
		Intents: []contracts.Intent{call("flowise.develop_chatflow", map[string]any{"goal": "answer questions"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.order, []byte(order), 0o600); err != nil {
		t.Fatal(err)
	}
	says := map[string]any{
		"hitl_plan": "approve", "hitl_plan#2": map[string]any{"decision": "edit", "changes": map[string]any{"name": "Better"}},
		"hitl_review": "iterate: shorter", "hitl_review#2": "accept",
	}
	run, view := "", contracts.RunView{State: contracts.RunRunning}
	for begun := time.Now(); !view.State.Terminal(); m.revived() {
		if time.Since(begun) > patience {
			t.Fatalf("%s: it does not end\n%s", name, states2text(view))
		}
		if run == "" {
			session, err := m.rita.RunPlan(t.Context(), contracts.RunPlan{PlanHash: preview.PlanHash}, client.Opt{IdempotencyKey: "tale " + name})
			if err == nil {
				run = session.RunIDs[0]
			}
			continue // a server that has died answers nobody
		}
		if now, err := m.rita.Run(t.Context(), run, client.Opt{}); err == nil {
			view = now
			m.answer(view, says)
		}
	}
	if err := os.Remove(m.order); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	m.check(name, view)
}

// answer gives what is asked one answer each. What the dying server has taken
// already is a conflict.
func (m *mortalServer) answer(view contracts.RunView, says map[string]any) {
	for _, i := range view.Interrupts {
		if i.Type.IsGate() {
			_, _ = m.otto.Approve(m.t.Context(), i, "", client.Opt{})
		} else {
			_, _ = m.rita.Answer(m.t.Context(), i, says[i.NodeID], client.Opt{})
		}
	}
}

// check holds what a run came to against the words of the tale: one write an
// iteration, no word lost, nothing spent twice.
func (m *mortalServer) check(name string, view contracts.RunView) {
	t := m.t
	t.Helper()
	if view.State != contracts.RunCompleted {
		t.Errorf("%s: the run is %s\n%s", name, view.State, states2text(view))
	}
	done := 0
	for key, times := range m.Applied() {
		if !strings.HasPrefix(key, view.RunID+"/") {
			continue
		}
		done += times
		if times != 1 {
			t.Errorf("%s: %s was done %d times", name, key, times)
		}
	}
	if done != 2 {
		t.Errorf("%s: %d writes were done, and two iterations make one each", name, done)
	}
	seen := 0
	for _, n := range view.Nodes {
		seen++
		switch n.NodeID {
		case "plan#2":
			if n.Params["feedback"] != "shorter" {
				t.Errorf("%s: the second plan is told %v", name, n.Params["feedback"])
			}
		case "compile_patch_ir#3": // of the second iteration, after the repair of the first
			contract, _ := n.Params["contract"].(map[string]any)
			if contract["name"] != "Better" {
				t.Errorf("%s: built is %v, and not what was edited", name, contract)
			}
		case "repair_schema#2":
			if n.Params["max"] != 2.0 {
				t.Errorf("%s: before its first repair an iteration has %v left", name, n.Params["max"])
			}
		default:
			seen--
		}
	}
	if seen != 3 {
		t.Errorf("%s: it went another way\n%s", name, states2text(view))
	}
	m.sound(view)
}
