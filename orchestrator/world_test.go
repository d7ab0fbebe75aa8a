package orchestrator_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// office is an invented domain of people and their leave, with the whole core around it.
type office struct {
	health contracts.HealthStatus // result of its health checks [ok]
	absent []string               // registered, and not in the catalog
	gone   bool                   // calls are not answered
	*conversation.Conversation
	orchestratortest.Rooms

	t        *testing.T
	catalog  *contracts.Catalog
	runner   *execution.Runner
	store    *orchestratortest.Store
	notifier orchestrator.Notifier

	mu     sync.Mutex // guards the fields below
	booked map[string]map[string]any
	calls  int
	// offered is the result of a search, if it is not nil.
	offered []any
}

var (
	ana = access.Principal{Kind: access.KindUser, ID: "ana", Roles: []access.Role{access.RoleOperator}}
	bob = access.Principal{Kind: access.KindUser, ID: "bob", Roles: []access.Role{access.RoleApprover}}
	vic = access.Principal{Kind: access.KindUser, ID: "vic", Roles: []access.Role{access.RoleViewer}}
)

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, booked: map[string]map[string]any{}}
	o.catalog = loadCatalog(t, "testdata/people.json")
	store := orchestratortest.NewStore()
	notifier := orchestrator.NewLocalNotifier()
	runner, err := execution.New(execution.Config{}, execution.Deps{Store: store, Invoker: o, Catalogs: o, Observer: notifier})
	if err != nil {
		t.Fatal(err)
	}
	o.runner, o.store, o.notifier = runner, store, notifier
	o.Rooms = o.on(store)
	o.Conversation = o.Rooms.Conversation
	if err := runner.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = runner.Stop(ctx)
	})
	return o
}

// on returns the use cases with another store of runs.
func (o *office) on(runs execution.Store) orchestratortest.Rooms {
	o.t.Helper()
	return orchestratortest.Wire(o.t, orchestratortest.Ports{
		Sessions: o.store, Gates: o.store, Turns: o.store, Previews: o.store, Runs: runs, Runner: o.runner, Catalogs: o, Notifier: o.notifier,
	})
}

func loadCatalog(t *testing.T, path string) *contracts.Catalog {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := contracts.ParseManifest(body)
	if err != nil {
		t.Fatal(err)
	}
	d := &contracts.DomainEntry{Name: m.Domain, Manifest: m}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		policy := contracts.EffectivePolicy(m.Domain, c, c.Metadata.Compensation != nil, contracts.Overlay{}, contracts.SitePolicy{})
		digest, err := contracts.CapabilityDigest(c, policy)
		if err != nil {
			t.Fatal(err)
		}
		d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: policy, Digest: digest})
	}
	return contracts.NewCatalog("test", []*contracts.DomainEntry{d}, nil)
}

// Catalog, Refresh and Health make the office its own registry.
func (o *office) Catalog() *contracts.Catalog           { return o.catalog }
func (o *office) Refresh(context.Context, string) error { return nil }
func (o *office) Health() map[string]contracts.HealthStatus {
	health := map[string]contracts.HealthStatus{"people": cmp.Or(o.health, contracts.HealthOK)}
	for _, name := range o.absent {
		health[name] = contracts.HealthStarting
	}
	return health
}

var staff = map[string]string{"w1": "Ana Souza", "w2": "Bruno Keller", "w3": "Chen Wei", "w4": "Ana Lopes"}

// Invoke implements the domain's capabilities.
func (o *office) Invoke(_ context.Context, c execution.Call) execution.Reply {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls++; o.gone {
		return execution.Reply{Kind: execution.ReplyRefused, Message: contracts.Unreachable}
	}
	worker := fmt.Sprint(c.Parameters["worker"])
	switch c.Entry.Capability.Name {
	case "find_people":
		if o.offered != nil {
			return ok("found", map[string]any{"matches": o.offered})
		}
		return found(fmt.Sprint(c.Parameters["query"]))
	case "get_leave_balances":
		return ok(staff[worker]+" has days left", map[string]any{"worker": staff[worker], "vacation": 12.5, "days": 12.5})
	case "book_leave":
		id := fmt.Sprintf("req-%d", len(o.booked)+1)
		o.booked[c.Context.IdempotencyKey] = c.Parameters
		return ok("booked for "+staff[worker], map[string]any{"request_id": id})
	case "cancel_leave":
		return ok("cancelled "+fmt.Sprint(c.Parameters["request_id"]), map[string]any{"request_id": c.Parameters["request_id"]})
	default:
		return ok("done", map[string]any{})
	}
}

func ok(summary string, facts map[string]any) execution.Reply {
	return execution.Reply{Kind: execution.ReplyResult, Result: contracts.ToolResult{OK: true, Summary: summary, Facts: facts}}
}

func found(query string) execution.Reply {
	matches := []any{}
	for _, id := range []string{"w1", "w2", "w3", "w4"} {
		if strings.Contains(strings.ToLower(staff[id]), strings.ToLower(query)) {
			matches = append(matches, map[string]any{"value": id, "label": staff[id]})
		}
	}
	return ok(fmt.Sprintf("%d found", len(matches)), map[string]any{"matches": matches})
}

// offer sets the result of every search.
func (o *office) offer(matches []any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.offered = matches
}

// unmask allows a personal parameter in prompts.
func (o *office) unmask(capability, parameter string) {
	entry, _ := o.catalog.Capability(capability)
	spec := entry.Capability.Metadata.ParameterSpecs[parameter]
	spec.PII = false
	entry.Capability.Metadata.ParameterSpecs[parameter] = spec
}

func (o *office) bookings() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.booked)
}

const patience = 20 * time.Second

// ask starts a session of ana.
func (o *office) ask(message string) contracts.SessionResponse {
	o.t.Helper()
	r, err := o.StartSession(o.t.Context(), ana, contracts.StartSession{Message: message}, "", patience)
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

func (o *office) approve(who access.Principal, i contracts.Interrupt) error {
	o.t.Helper()
	_, err := o.Decide(o.t.Context(), who, i.Code, contracts.Resume{
		Decision: contracts.DecisionApprove, ActionSHA256: i.ActionSHA256,
	}, patience)
	return err
}

func text(a *contracts.Answer) string {
	if a == nil {
		return ""
	}
	var b strings.Builder
	for _, block := range a.Blocks {
		fmt.Fprintln(&b, block.Text, block.Items)
		for _, row := range block.Rows {
			fmt.Fprintln(&b, row...)
		}
	}
	return b.String()
}

// inChat returns a message in a chat with earlier answers.
func inChat(conversationID, key, words string) conversation.Input {
	return conversation.Input{Key: key, Message: words, Thread: &conversation.Thread{Conversation: conversationID, Continued: true}}
}

func chatOf(ctx context.Context, c *conversation.Conversation, who access.Principal, in conversation.Input) (orchestrator.SessionView, error) {
	outcome, err := c.Handle(ctx, who, in)
	if err != nil {
		return orchestrator.SessionView{}, err
	}
	return c.View(ctx, who, outcome)
}

// The interfaces, as far as these tests need them: each takes an input, and shows
// its result.

func (o *office) Chat(ctx context.Context, who access.Principal, in conversation.Input) (orchestrator.SessionView, error) {
	return chatOf(ctx, o.Conversation, who, in)
}

func (o *office) told(ctx context.Context, who access.Principal, in conversation.Input, wait time.Duration) (contracts.SessionResponse, error) {
	outcome, err := o.Handle(ctx, who, in)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	return o.SessionOf(ctx, outcome, wait)
}

func (o *office) StartSession(ctx context.Context, who access.Principal, body contracts.StartSession, key string, wait time.Duration) (contracts.SessionResponse, error) {
	return o.told(ctx, who, conversation.Input{Start: &body, Key: key}, wait)
}

func (o *office) Say(ctx context.Context, who access.Principal, sessionID, message, key string, wait time.Duration) (contracts.SessionResponse, error) {
	return o.told(ctx, who, conversation.Input{SessionID: sessionID, Message: message, Key: key}, wait)
}

func (o *office) Resume(ctx context.Context, who access.Principal, sessionID string, body contracts.Resume, wait time.Duration) (contracts.SessionResponse, error) {
	return o.told(ctx, who, conversation.Input{SessionID: sessionID, Resume: &body}, wait)
}

func (o *office) Decide(ctx context.Context, who access.Principal, gate string, body contracts.Resume, wait time.Duration) (contracts.Interrupt, error) {
	outcome, err := o.Handle(ctx, who, conversation.Input{Gate: gate, Resume: &body})
	if err == nil && wait > 0 {
		_, err = o.SessionOf(ctx, outcome, wait)
	}
	return outcome.Decided, err
}

// RunPlan and Compensate start a run, and wait for the state of its session.
func (o *office) RunPlan(ctx context.Context, who access.Principal, body contracts.RunPlan, key string, wait time.Duration) (contracts.SessionResponse, error) {
	begun, err := o.Runs.RunPlan(ctx, who, body, key)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	return o.SessionOf(ctx, conversation.Outcome{SessionID: begun.SessionID, RunID: begun.RunID, New: begun.New}, wait)
}

func (o *office) Compensate(ctx context.Context, who access.Principal, runID, nodeID string, wait time.Duration) (contracts.SessionResponse, error) {
	id, _, err := o.Runs.Compensate(ctx, who, runID, nodeID)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	return o.Session(ctx, who, id, wait)
}
