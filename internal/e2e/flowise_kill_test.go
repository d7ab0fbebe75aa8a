package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestKill9AtEveryCallOfADevelopment kills the server, or the program of the
// domain, by SIGKILL at each call that a development makes of the domain and at each
// request that the domain makes of Flowise, right before it is carried out and right
// after, and at each answer of a person, right after it was taken; of a development
// that makes a flow, and of one that changes it. Whichever it is: the session goes on
// to its end, one flow is made, and it has a version for each iteration.
//
// A moment of each kind is tried, by SAMPLE_SEED; all are by MANIFOLD_NIGHTLY=1,
// which takes many minutes:
//
//	make test-commits
func TestKill9AtEveryCallOfADevelopment(t *testing.T) {
	t.Parallel()
	m := newMortalDevelopment(t)
	var moments []strike
	if sample.Nightly() {
		for _, changes := range []bool{false, true} {
			m.develop(strike{changes: changes})
			for _, of := range []strike{
				{victim: "server", at: "call"},
				{victim: "domain", at: "call"},
				{victim: "domain", at: "request"},
				{victim: "server", at: "answer"},
				{victim: "domain", at: "answer"},
			} {
				for of.n, of.changes = 1, changes; of.n <= m.count[of.at]; of.n++ {
					after := of
					after.after = true
					if of.at != "answer" {
						moments = append(moments, of)
					}
					moments = append(moments, after)
				}
			}
		}
	} else {
		rng := rand.New(rand.NewPCG(sample.Seed(t), 19))
		// A development makes some more calls and requests than that.
		moments = []strike{
			{"server", "call", 1 + rng.IntN(20), rng.IntN(2) == 0, false},
			{"domain", "request", 1 + rng.IntN(15), rng.IntN(2) == 0, rng.IntN(2) == 0},
			{"server", "answer", 1 + rng.IntN(6), true, true},
		}
	}
	struck := 0
	for _, at := range moments {
		if m.develop(at) {
			struck++
		}
	}
	t.Logf("killed at %d of %d moments of developments of %v", struck, len(moments), m.count)
	if struck < len(moments)*9/10 { // looks at its health make some requests more, which come by the clock
		t.Error("it did not come to all of them")
	}
}

// strike is a moment, and who is killed at it.
type strike struct {
	victim string // "server" or "domain"; "" for nobody
	at     string // "call" of the domain, "request" to Flowise, or "answer" of a person
	n      int    // which one
	after  bool   // after it was carried out, and before anybody was answered
	// changes means that it is in the development that changes a flow.
	changes bool
}

func (s strike) String() string {
	when := map[bool]string{false: "before", true: "after"}[s.after]
	of := map[bool]string{false: "making", true: "changing"}[s.changes]
	return fmt.Sprintf("%s killed %s %s %d of %s a flow", s.victim, when, s.at, s.n, of)
}

// mortalDevelopment is a server, the program of the domain and a Flowise, with
// somebody between each two who can kill.
//
// Invariant: what is below mu is only touched with it held. Calls of the domain hold
// alive while they are let through to it, and a strike holds it until the domain is
// there again, so that nothing depends on how long that takes.
type mortalDevelopment struct {
	*process
	world  *sandbox.Server
	domain *flowiseProgram

	alive sync.RWMutex

	mu     sync.Mutex
	next   strike
	count  map[string]int // of calls, requests and answers
	struck bool
	server *os.Process
}

func newMortalDevelopment(t *testing.T) *mortalDevelopment {
	t.Helper()
	world, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := &mortalDevelopment{process: startProcess(t), world: world, count: map[string]int{}}
	m.addr = strings.TrimPrefix(m.url, "http://")
	flowise := m.between("request", world)
	m.domain = newFlowiseProgram(t, flowise, world.Key(), "--watch", "0")
	target, err := url.Parse(m.domain.url)
	if err != nil {
		t.Fatal(err)
	}
	m.register(contracts.Registration{Domain: "flowise", URL: m.between("call", &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { hangUp() }, // not an answer of a gateway
	})})
	return m
}

// between serves what is behind it, and strikes when the moment has come.
func (m *mortalDevelopment) between(at string, behind http.Handler) string {
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at == "call" {
			m.alive.RLock()
			m.alive.RUnlock() //nolint:staticcheck // it only waits
		}
		if at == "call" && !strings.HasSuffix(r.URL.Path, "/execute") {
			behind.ServeHTTP(w, r)
			return
		}
		next, now := m.comes(at)
		if !now {
			behind.ServeHTTP(w, r)
			return
		}
		if next.after {
			func() {
				defer func() { _ = recover() }() // nobody wants the answer
				behind.ServeHTTP(httptest.NewRecorder(), r)
			}()
		}
		m.strike(context.WithoutCancel(r.Context()), next)
		hangUp()
	}))
	m.t.Cleanup(front.Close)
	return front.URL
}

// hangUp cuts the connection that is served.
func hangUp() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is told to cut a connection
}

// comes counts, and reports whether this is the moment.
func (m *mortalDevelopment) comes(at string) (strike, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[at]++
	now := m.next.at == at && m.next.n == m.count[at]
	m.struck = m.struck || now
	return m.next, now
}

// strike kills; the domain is there again when it returns, the server when whoever
// waits for it finds it dead.
func (m *mortalDevelopment) strike(ctx context.Context, as strike) {
	if as.victim == "server" {
		m.mu.Lock()
		defer m.mu.Unlock()
		_ = m.server.Kill()
		return
	}
	m.alive.Lock()
	defer m.alive.Unlock()
	m.domain.kill()
	if err := m.domain.start(ctx); err != nil {
		m.t.Error(err)
	}
}

// aim sets the next moment.
func (m *mortalDevelopment) aim(next strike) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next, m.count, m.struck, m.server = next, map[string]int{}, false, m.cmd.Process
}

// disarm ends the play: nobody is killed any more.
func (m *mortalDevelopment) disarm() (struck bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = strike{}
	return m.struck
}

// revived starts the server again if it was killed.
func (m *mortalDevelopment) revived() {
	m.t.Helper()
	select {
	case <-m.finished:
		m.cmd = nil
		m.start()
	default:
	}
}

// develop plays a development with an iteration, and where the moment is in one that
// changes the flow, that too; it checks what they came to, and reports whether the moment
// came.
func (m *mortalDevelopment) develop(at strike) bool {
	m.t.Helper()
	first := strike{}
	if !at.changes {
		first = at
	}
	m.aim(first)
	name := fmt.Sprintf("Doorman %d", len(m.world.Effects()))
	view := m.plays(at, `develop a chatbot called "`+name+`" that always replies "We open at nine"`, "We open at ten")
	if at.changes {
		m.disarm()
		m.check(first, name, view, 2)
		m.aim(at)
		view = m.plays(at, `develop the chatflow "`+name+`" further so that it always replies "We open at eleven"`, "We open at twelve")
	}
	struck := m.disarm()
	versions := 2
	if at.changes {
		versions = 4
	}
	m.check(at, name, view, versions)
	return struck
}

// plays takes one development to its end, with an iteration for another reply.
func (m *mortalDevelopment) plays(at strike, sentence, another string) contracts.RunView {
	m.t.Helper()
	says := map[contracts.InterruptType][]any{
		contracts.InterruptSelectTarget: {"1"},
		contracts.InterruptPlanApproval: {decides("approve"), decides("approve")},
		contracts.InterruptResultReview: {decides("iterate", "feedback", `it must always reply "`+another+`"`), decides("accept")},
	}
	var session contracts.SessionResponse
	view := contracts.RunView{State: contracts.RunRunning}
	for begun := time.Now(); !view.State.Terminal(); {
		m.revived()
		if time.Since(begun) > 2*patience {
			m.t.Fatalf("%s: it does not end\n%s", at, states2text(view))
		}
		if len(session.RunIDs) == 0 {
			// A server that has died answers nobody: the same words are sent again.
			session, _ = m.rita.StartSession(m.t.Context(), contracts.StartSession{Message: sentence}, client.Opt{Wait: patience, IdempotencyKey: "say " + sentence})
			continue
		}
		if now, err := m.rita.Run(m.t.Context(), session.RunIDs[0], client.Opt{Wait: 50 * time.Millisecond}); err == nil {
			view = now
			m.answer(view, says)
		}
	}
	return view
}

// answer gives each open question the answer of its round.
func (m *mortalDevelopment) answer(view contracts.RunView, says map[contracts.InterruptType][]any) {
	for _, i := range view.Interrupts {
		round := 0
		if strings.HasSuffix(i.NodeID, "#2") {
			round = 1
		}
		var err error
		switch {
		case i.Status != contracts.InterruptOpen:
			continue
		case i.Type.IsGate():
			_, err = m.otto.Approve(m.t.Context(), i, "", client.Opt{})
		case round < len(says[i.Type]):
			_, err = m.rita.Answer(m.t.Context(), i, says[i.Type][round], client.Opt{})
		default:
			m.t.Fatalf("nobody expected %s of %s: %s", i.Type, i.NodeID, i.Prompt)
		}
		if err != nil {
			continue
		}
		if next, now := m.comes("answer"); now {
			m.strike(m.t.Context(), next)
		}
	}
}

// check holds the flow to one that was made and has so many versions.
func (m *mortalDevelopment) check(at strike, name string, view contracts.RunView, versions int) {
	t := m.t
	t.Helper()
	id, did := "", map[string]int{}
	for _, e := range m.world.Effects() {
		if e.Name == name {
			id = e.ID
			did[e.Kind]++
		}
	}
	if view.State != contracts.RunCompleted || len(did) != 2 || did["flow.create"] != 1 || did["flow.update"] != versions-1 {
		t.Errorf("%s: %s, and Flowise was made to %v\n%s", at, view.State, did, states2text(view))
	}
	if kept := m.domain.versions(t, id); kept != float64(versions) {
		t.Errorf("%s: there are %v versions", at, kept)
	}
	if done, err := m.rita.Session(t.Context(), view.SessionID, client.Opt{}); err != nil || !strings.Contains(textOf(done.Answer), "The chatflow is done") {
		t.Errorf("%s: the session is told %v %s", at, err, textOf(done.Answer))
	}
	m.sound(view)
}

// versions counts the versions that the domain has of a flow.
func (p *flowiseProgram) versions(t *testing.T, id string) any {
	t.Helper()
	_, out := domaintest.Execute(t, p.url, "list_versions", map[string]any{"chatflow_id": id}, map[string]any{"run_id": "r", "node_id": "n", "attempt": 1})
	return out.Facts["total"]
}
