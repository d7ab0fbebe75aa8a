package e2e_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/witness"
)

// startReplicas starts two servers, each with a data folder of its own, on one
// database.
func startReplicas(t *testing.T, flags ...string) (one, two *process) {
	t.Helper()
	return startReplicasAt(t, pgtest.Start(t).URL(t), flags...)
}

// startReplicasAt starts them on the database of this address.
func startReplicasAt(t *testing.T, address string, flags ...string) (one, two *process) {
	t.Helper()
	one, two = newProcess(t, address), newProcess(t, address)
	one.auditKeys = filepath.Join(t.TempDir(), "audit.keys")
	two.auditKeys = one.auditKeys
	one.flags = append([]string{"--audit-every", "1s"}, flags...)
	two.flags = one.flags
	one.start()
	one.keys[0] = adminKey(t, one.dir)
	one.admin = one.with(one.keys[0])
	one.rita, one.keys[1] = one.person("rita", "operator")
	one.otto, one.keys[2] = one.person("otto", "approver")
	two.keys = one.keys
	two.start()
	return one, two
}

// servesDepot waits until a server knows the depot.
func (p *process) servesDepot() {
	p.t.Helper()
	eventually(p.t, "the depot to serve", func() (bool, bool) {
		_, err := p.rita.Plan(p.t.Context(), contracts.PlanRequest{Intents: []contracts.Intent{
			{ID: "i1", Confidence: 1, Source: "caller", Domain: "depot", Capability: "peek", Parameters: map[string]any{"id": "x"}},
		}})
		return true, err == nil
	})
}

func TestWhatOneServerDoesTheOtherKnows(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t)
	d := newDepot(t, "depot")
	registered := time.Now()
	one.register(d.registration())
	two.servesDepot()
	t.Logf("a domain that was registered at one server served at the other after %v", time.Since(registered).Round(time.Millisecond))

	// Asked of one, listened to and decided at the other.
	response := one.run(call("depot.peek", map[string]any{"id": "r1"}), d.put("keyed", "a", "1"), d.put("plain", "b", "2"))
	run := response.RunIDs[0]
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	listener := follow(ctx, two.rita, response.SessionID, run)
	for _, gate := range two.gates(run, 2) {
		two.approve(gate)
	}
	view := one.ended(run)
	if view.State != contracts.RunCompleted || d.done("a") != 1 || d.done("b") != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
	listener.ends(t, one.onRecord(response.SessionID))
	two.sound(view)

	if err := two.admin.UnregisterDomain(t.Context(), "depot"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the domain to be gone at the other server", func() (bool, bool) {
		_, err := one.admin.Domain(t.Context(), "depot")
		return true, contracts.CodeOf(err) == contracts.CodeNotFound
	})
}

func TestTheOtherServerTakesOver(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t)
	d := newDepot(t, "depot")
	one.register(d.registration())
	two.servesDepot()

	// One dies in the midst of a read, of writes that did happen and whose answers
	// are lost, and with a gate open that nobody has decided.
	run := one.run(call("depot.slow", map[string]any{"id": "s"}), d.put("keyed", "k1", "1"), d.put("keyed", "k2", "2")).RunIDs[0]
	d.awaitSlow(t)
	d.misbehave(faultHangAfter)
	gates := one.gates(run, 2)
	one.approve(gates[0])
	eventually(t, "the write to be done", func() (int, bool) { return d.done("k1"), d.done("k1") == 1 })
	one.kill()
	killed := time.Now()
	d.awaitSlow(t) // the other makes the read again
	t.Logf("the other server took over %v after kill -9", time.Since(killed).Round(time.Millisecond))
	close(d.release)
	two.approve(two.gates(run, 1)[0])
	view := two.ended(run)
	if view.State != contracts.RunCompleted || d.done("k1") != 1 || d.done("k2") != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
	two.sound(view)

	// The first comes back, and the second goes.
	one.start()
	two.kill()
	again := one.run(d.put("keyed", "k3", "3")).RunIDs[0]
	one.approve(one.gates(again, 1)[0])
	if view := one.ended(again); view.State != contracts.RunCompleted || d.done("k3") != 1 {
		t.Errorf("%s, effects: %+v", states2text(view), d.record())
	}
}

// TestServersSealAndSignOneDatabase: both write, one signs roots, each verifies and
// proves, and the one that is left signs on. Who has not their keys is refused.
func TestServersSealAndSignOneDatabase(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t)
	d := newDepot(t, "depot")
	one.register(d.registration())
	two.servesDepot()
	var runs []string
	for range 5 {
		runs = append(runs, one.run(call("depot.peek", map[string]any{"id": "a"})).RunIDs[0], two.run(call("depot.peek", map[string]any{"id": "b"})).RunIDs[0])
	}
	for _, run := range runs {
		two.ended(run)
	}
	clean := func(p *process) {
		t.Helper()
		report, err := p.admin.AuditVerify(t.Context(), "")
		if err != nil || !report.OK || report.Sealed < len(runs) {
			t.Errorf("an audit: %+v, %v", report, err)
		}
	}
	clean(one)
	clean(two)
	public := strings.Fields(readFile(t, one.auditKeys+".pub"))
	proven := func(p *process, run string) {
		t.Helper()
		proof := eventually(t, "a signed root over "+run, func() (contracts.AuditProof, bool) {
			proof, err := p.admin.AuditProof(t.Context(), run, 1)
			return proof, err == nil
		})
		if _, err := witness.CheckProof(proof, public...); err != nil {
			t.Error(err)
		}
	}
	proven(one, runs[0])
	proven(two, runs[1])

	stranger := newProcess(t, one.postgres)
	if err := stranger.tryStart(); err == nil || !strings.Contains(stranger.log.String(), "--audit-keys") {
		t.Errorf("a server with keys of its own: %v\n%s", err, stranger.log.String())
	}

	leader, other := one, two
	if !strings.Contains(one.log.String(), "this server leads") {
		leader, other = two, one
	}
	leader.kill()
	last := other.run(call("depot.peek", map[string]any{"id": "c"})).RunIDs[0]
	other.ended(last)
	proven(other, last)
	clean(other)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestOneServerOfAllLeads(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t)
	const leads = "this server leads"
	eventually(t, "somebody to lead", func() (bool, bool) {
		return true, strings.Contains(one.log.String()+two.log.String(), leads)
	})
	leader, other := one, two
	if !strings.Contains(one.log.String(), leads) {
		leader, other = two, one
	}
	if strings.Contains(other.log.String(), leads) {
		t.Fatal("both lead")
	}
	leader.kill()
	eventually(t, "the other to lead", func() (bool, bool) { return true, strings.Contains(other.log.String(), leads) })
}

// A delivery whose server dies while it sends is sent by the other one, and one
// that failed is tried again by any.
func TestADeliveryOutlivesItsServer(t *testing.T) {
	t.Parallel()
	one, two := startReplicas(t)
	d := newDepot(t, "depot")
	one.register(d.registration())
	two.servesDepot()
	got, killed := make(chan string, 10), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case <-killed:
			got <- string(body)
		default:
			got <- ""
			<-killed // whoever sends it dies meanwhile
		}
	}))
	t.Cleanup(receiver.Close)
	response, err := one.runWith(contracts.PlanRequest{Intents: []contracts.Intent{d.put("keyed", "a", "1")}}, contracts.RunPlan{WebhookURL: receiver.URL})
	if err != nil {
		t.Fatal(err)
	}
	gate := one.gates(response.RunIDs[0], 1)[0]
	if early := <-got; early != "" {
		t.Fatalf("it came before anybody died: %s", early)
	}
	one.kill()
	two.kill()
	close(killed)
	two.start()
	for told := ""; !strings.Contains(told, gate.InterruptID); {
		select {
		case told = <-got:
		case <-time.After(2 * patience):
			t.Fatal("nobody sent it again")
		}
	}
}

// A message that comes to one server while a model reads it for another is read
// once: who repeats it gets the result of that.
func TestAMessageIsReadByOneServer(t *testing.T) {
	t.Parallel()
	server, config := modelled(t, app.EngineOpenAI, says(
		scripted.Rule{Contains: "azure", Times: 1, Answer: scripted.Answer{DelayMS: 3_000, Calls: calls("put_keyed", map[string]any{"id": "k1", "value": "azure"}).Calls}},
		scripted.Rule{Contains: "azure", Answer: calls("put_keyed", map[string]any{"id": "k1", "value": "azure"})},
	))
	var cfg app.Config
	config(&cfg)
	one, two := startReplicas(t, "--reasoning-engine", "openai", "--reasoning-model", "scripted", "--reasoning-base-url", cfg.Mind.Model.BaseURL)
	d := stocked(t)
	one.register(d.registration())
	two.servesDepot()
	const words = `crate "k1" wants labelling, azure it should say`
	first := make(chan chatted, 1)
	go func() { first <- one.chat(words, "0") }()
	eventually(t, "the model to be asked", func() (int, bool) { return server.Count(), server.Count() == 1 })
	repeated, answered := two.chat(words, "1"), <-first
	if answered.err != nil || repeated.err != nil || repeated.content != answered.content || !strings.Contains(answered.content, "azure") {
		t.Errorf("one says %+v, the other %+v", answered, repeated)
	}
	if n := server.Count(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
