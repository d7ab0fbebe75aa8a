package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
)

// depot is a domain with a read that fills the disk and a write that counts its calls.
type depot struct {
	t       *testing.T
	b       *bundle
	catalog *contracts.Catalog

	mu      sync.Mutex // guards the fields below
	log     bytes.Buffer
	shipped []string
}

func (d *depot) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}

func (d *depot) said(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Contains(d.log.String(), text)
}

func (d *depot) Catalog() *contracts.Catalog { return d.catalog }

func (d *depot) Refresh(context.Context, string) error { return nil }

func (d *depot) Invoke(ctx context.Context, c execution.Call) execution.Reply {
	facts := map[string]any{}
	if c.Entry.Capability.Name == "ship" {
		d.mu.Lock()
		d.shipped = append(d.shipped, c.Context.IdempotencyKey)
		d.mu.Unlock()
	} else {
		if err := d.b.LimitPages(ctx, 0); err != nil {
			d.t.Error(err)
		}
		facts["list"] = strings.Repeat("many parts ", 5000)
	}
	return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{OK: true, Facts: facts}}
}

func setupDepot(t *testing.T) *depot {
	t.Helper()
	d := &depot{t: t, b: setup(t)}
	entry := &contracts.DomainEntry{Name: "depot", Manifest: &contracts.Manifest{}}
	classes := map[string]contracts.SideEffectClass{"list": contracts.ClassRead, "ship": contracts.ClassWriteIrreversible}
	for name, class := range classes {
		c := &contracts.Capability{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}
		c.Metadata.SideEffectClass, c.Metadata.Idempotency = class, contracts.IdempotencyKeyed
		policy := c.Metadata.Policy(true)
		digest, err := contracts.CapabilityDigest(c, policy)
		if err != nil {
			t.Fatal(err)
		}
		entry.Capabilities = append(entry.Capabilities, &contracts.CapabilityEntry{Domain: "depot", Capability: c, Policy: policy, Digest: digest})
	}
	d.catalog = contracts.NewCatalog("snapshot", []*contracts.DomainEntry{entry}, nil)
	return d
}

func (d *depot) runner() *execution.Runner {
	d.t.Helper()
	r, err := execution.New(execution.Config{Logger: slog.New(slog.NewTextHandler(d, nil))}, execution.Deps{Store: d.b.store, Invoker: d, Catalogs: d})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := r.Start(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = r.Stop(context.WithoutCancel(d.t.Context())) })
	return r
}

func (d *depot) plan() contracts.Plan {
	plan := contracts.Plan{PlanID: "plan", RunID: "run_disk", CapabilityDigests: map[string]string{}, Owner: contracts.Principal{ID: "ana"}}
	for i, name := range []string{"list", "ship"} {
		e, _ := d.catalog.Capability("depot." + name)
		plan.CapabilityDigests[e.Ref()] = e.Digest
		node := contracts.Node{NodeID: name, Kind: contracts.KindTool, Tool: e.Ref(), Required: true, Policy: &e.Policy}
		if i > 0 {
			node.DependsOn = []string{"list"}
		}
		plan.Nodes = append(plan.Nodes, node)
	}
	return plan
}

func (d *depot) approve(r *execution.Runner, i contracts.Interrupt) {
	d.t.Helper()
	_, err := r.Decide(d.t.Context(), i.InterruptID, contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: i.ActionSHA256},
		decision.Decider{ID: "bob", May: func(contracts.Interrupt, contracts.Decision) error { return nil }})
	if err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
		d.t.Fatal(err)
	}
}

// until waits until a condition holds.
func (d *depot) until(what string, holds func() bool) {
	d.t.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatalf("it never came to %s; the log:\n%s", what, d.log.String())
		}
	}
}

func TestARunWaitsOutAFullDisk(t *testing.T) {
	t.Parallel()
	d := setupDepot(t)
	r := d.runner()
	id, err := r.Submit(t.Context(), "s1", d.plan())
	if err != nil {
		t.Fatal(err)
	}
	d.until("a run that waits", func() bool { return d.said("run waits for the store") && d.said("the disk is full") })
	view, err := r.View(t.Context(), id)
	if err != nil || view.State.Terminal() || len(d.shipped) > 0 {
		t.Fatalf("while the disk is full: %s, shipped %v, %v", view.State, d.shipped, err)
	}
	if err := d.b.LimitPages(t.Context(), 10000); err != nil {
		t.Fatal(err)
	}
	d.until("an end", func() bool {
		view, err = r.View(t.Context(), id)
		if err == nil && len(view.Interrupts) > 0 {
			d.approve(r, view.Interrupts[0])
		}
		return err == nil && view.State.Terminal()
	})
	if view.State != contracts.RunCompleted || !d.said("the store is back") {
		t.Errorf("the run is %s: %+v", view.State, view.Verdict)
	}
	if len(d.shipped) != 1 || d.shipped[0] != id+"/ship/1" {
		t.Errorf("shipped %v", d.shipped)
	}
	entries, err := d.b.Ledger(t.Context(), id, 0, 0)
	if err != nil || execution.VerifyChain(entries) != nil {
		t.Errorf("ledger: %v, %v", err, execution.VerifyChain(entries))
	}
	if replayed, err := r.Replay(t.Context(), id); err != nil || len(replayed.Differences) > 0 {
		t.Errorf("replay %+v, %v", replayed, err)
	}
}
