package execution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
)

// bubble runs a test in a synctest bubble: hours of back-off, expiry and take-over pass in
// milliseconds.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	bubbleNow(t, test)
}

// bubbleNow is bubble without t.Parallel.
func bubbleNow(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		test(t, newWorld(t))
	})
}

// world has a catalog of test capabilities, their domain, which records its effects, and a store.
type world struct {
	// learned adds what another server already knows; it is called on a refresh of the catalog.
	learned func()
	t       *testing.T
	store   execution.Store
	mind    *mind // nil for none
	rounds  execution.Replanner

	mu       sync.Mutex // guards the fields below
	catalog  *contracts.Catalog
	manifest contracts.Manifest
	caps     map[string]*capability
	// effects counts the effects in the domain, by idempotency key, or by call for writes without
	// one.
	effects map[string]int
	calls   []execution.Call
	seen    map[string]contracts.ToolResult
}

// capability is a declared capability with its behaviour.
type capability struct {
	contracts.Capability

	// twin means that it belongs to another domain than the others.
	twin bool
	do   func(ctx context.Context, c execution.Call) execution.Reply
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, store: executiontest.NewStore(), caps: map[string]*capability{},
		effects: map[string]int{}, seen: map[string]contracts.ToolResult{},
	}
	return w
}

const anyObject = `{"type":"object"}`

// read declares a read that answers with facts.
func (w *world) read(name string, do func(context.Context, execution.Call) execution.Reply) {
	w.declare(name, contracts.Metadata{SideEffectClass: contracts.ClassRead}, do)
}

func (w *world) declare(name string, m contracts.Metadata, do func(context.Context, execution.Call) execution.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.caps[name] = &capability{
		Capability: contracts.Capability{Name: name, Schema: json.RawMessage(anyObject), Metadata: m}, do: do,
	}
	w.rebuild()
}

// schema changes the schema of a capability.
func (w *world) schema(name, schema string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.caps[name].Schema = json.RawMessage(schema)
	w.rebuild()
}

// instances declares the instances of the domain.
func (w *world) instances(ids ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.manifest.Instances = nil
	for _, id := range ids {
		w.manifest.Instances = append(w.manifest.Instances, contracts.Instance{ID: id})
	}
	w.rebuild()
}

// rebuild makes the catalog again. The caller holds mu.
func (w *world) rebuild() {
	manifest := w.manifest
	shop := &contracts.DomainEntry{Name: "shop", Manifest: &manifest}
	twin := &contracts.DomainEntry{Name: "twin", Manifest: &contracts.Manifest{}}
	for _, name := range sortedKeys(w.caps) {
		d, c := shop, w.caps[name].Capability
		if w.caps[name].twin {
			d = twin
		}
		policy := c.Metadata.Policy(true)
		digest, err := contracts.CapabilityDigest(&c, policy)
		if err != nil {
			w.t.Fatal(err)
		}
		d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: d.Name, Capability: &c, Policy: policy, Digest: digest})
	}
	w.catalog = contracts.NewCatalog(fmt.Sprint(len(w.calls)), []*contracts.DomainEntry{shop, twin}, nil)
}

// giveAway moves a capability to another domain.
func (w *world) giveAway(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.caps[name].twin = true
	w.rebuild()
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys {
		for j := i + 1; j < len(keys); j++ {
			if keys[j] < keys[i] {
				keys[i], keys[j] = keys[j], keys[i]
			}
		}
	}
	return keys
}

// Catalog returns the current catalog.
func (w *world) Catalog() *contracts.Catalog {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.catalog
}

// Refresh does nothing, unless learned is set.
func (w *world) Refresh(context.Context, string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.learned != nil {
		w.learned()
	}
	return nil
}

// Invoke calls the domain.
func (w *world) Invoke(ctx context.Context, c execution.Call) execution.Reply {
	w.mu.Lock()
	w.calls = append(w.calls, c)
	do := w.caps[c.Entry.Capability.Name].do
	w.mu.Unlock()
	return do(ctx, c)
}

// apply executes a keyed write once and answers a repeat with the same result.
func (w *world) apply(c execution.Call) execution.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := c.Context.IdempotencyKey
	if !c.SendKey {
		key = fmt.Sprintf("unkeyed %s %v", c.Entry.Ref(), c.Parameters)
	}
	if r, ok := w.seen[key]; ok && c.SendKey {
		return execution.Reply{Kind: execution.ReplyResult, Result: r}
	}
	w.effects[c.Context.IdempotencyKey]++
	r := contracts.ToolResult{OK: true, Summary: "done", Facts: map[string]any{"id": key, "params": c.Parameters}}
	w.seen[key] = r
	return execution.Reply{Kind: execution.ReplyResult, Result: r}
}

func (w *world) applied() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.effects)
}

func (w *world) callsOf(name string) []execution.Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []execution.Call
	for _, c := range w.calls {
		if c.Entry.Capability.Name == name {
			out = append(out, c)
		}
	}
	return out
}

func facts(f map[string]any) execution.Reply {
	return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{OK: true, Summary: "found", Facts: f}}
}

func answering(f map[string]any) func(context.Context, execution.Call) execution.Reply {
	return func(context.Context, execution.Call) execution.Reply { return facts(f) }
}

// node returns a tool node with the policy of the current catalog.
func (w *world) node(id, tool string, params map[string]any, deps ...string) contracts.Node {
	e, ok := w.Catalog().Capability("shop." + tool)
	if !ok {
		w.t.Fatalf("no capability %s", tool)
	}
	return contracts.Node{
		NodeID: id, Kind: contracts.KindTool, Tool: "shop." + tool, Params: params, DependsOn: deps,
		Required: true, Policy: &e.Policy, Locks: e.Capability.Metadata.Locks,
	}
}

func join(id string, deps ...string) contracts.Node {
	return contracts.Node{NodeID: id, Kind: contracts.KindJoin, Role: contracts.RoleJoin, DependsOn: deps, Required: true}
}

func (w *world) plan(nodes ...contracts.Node) contracts.Plan {
	p := contracts.Plan{
		PlanID: "plan", Goal: "test", Nodes: nodes, CapabilityDigests: map[string]string{},
		Owner: contracts.Principal{ID: "ana", Roles: []string{"operator"}},
	}
	for _, d := range w.Catalog().Domains {
		for _, e := range d.Capabilities {
			p.CapabilityDigests[e.Ref()] = e.Digest
		}
	}
	return p
}

// runner starts a runner on the world's store.
func (w *world) runner(options ...func(*execution.Config)) *execution.Runner {
	w.t.Helper()
	return w.runnerOn(w.store, options...)
}

func (w *world) runnerOn(store execution.Store, options ...func(*execution.Config)) *execution.Runner {
	w.t.Helper()
	cfg := execution.Config{
		Logger: slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, o := range options {
		o(&cfg)
	}
	deps := execution.Deps{Store: store, Invoker: w, Catalogs: w, Replanner: w.rounds}
	if w.mind != nil {
		deps.LanguageModel = w.mind
	}
	r, err := execution.New(cfg, deps)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := r.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = r.Stop(ctx)
	})
	return r
}

func (w *world) submit(r *execution.Runner, nodes ...contracts.Node) string {
	w.t.Helper()
	id, err := r.Submit(w.t.Context(), "s1", w.plan(nodes...))
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// until polls a run until the condition holds.
func (w *world) until(r *execution.Runner, id, what string, ok func(contracts.RunView) bool) contracts.RunView {
	w.t.Helper()
	// Bubble time: the pauses grow, so that waiting for days is cheap.
	for pause := 5 * time.Millisecond; ; pause = min(pause*11/10, 6*time.Hour) {
		v, err := r.View(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		if ok(v) {
			return v
		}
		if pause == 6*time.Hour {
			body, _ := json.MarshalIndent(v, "", " ")
			w.t.Fatalf("run never came to be %s:\n%s", what, body)
		}
		time.Sleep(pause)
	}
}

func (w *world) ended(r *execution.Runner, id string) contracts.RunView {
	w.t.Helper()
	return w.until(r, id, "ended", func(v contracts.RunView) bool { return v.State.Terminal() })
}

// gates waits until n interrupts are open and returns them by node.
func (w *world) gates(r *execution.Runner, id string, n int) map[string]contracts.Interrupt {
	w.t.Helper()
	v := w.until(r, id, fmt.Sprintf("waiting at %d gates", n), func(v contracts.RunView) bool { return len(v.Interrupts) == n })
	out := map[string]contracts.Interrupt{}
	for _, i := range v.Interrupts {
		out[i.NodeID] = i
	}
	return out
}

func anybody(contracts.Interrupt, contracts.Decision) error { return nil }

func (w *world) decide(r *execution.Runner, i contracts.Interrupt, body contracts.Resume) contracts.Interrupt {
	w.t.Helper()
	if body.Decision == contracts.DecisionApprove {
		body.ActionSHA256 = i.ActionSHA256
	}
	out, err := r.Decide(w.t.Context(), i.InterruptID, body, decision.Decider{ID: "bob", May: anybody})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func states(v contracts.RunView) map[string]contracts.NodeState {
	out := map[string]contracts.NodeState{}
	for _, n := range v.Nodes {
		out[n.NodeID] = n.State
	}
	return out
}
