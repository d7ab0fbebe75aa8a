package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/sample"
)

// patience is how long a test waits for what must happen; nothing is measured
// against it.
const patience = 60 * time.Second

// wait is how long one request lets the server hold its answer.
func wait() client.Opt { return client.Opt{Wait: 30 * time.Second} }

// site is a running server as its callers see it: an admin, rita who asks and
// otto who approves.
type site struct {
	t     *testing.T
	url   string
	dir   string
	key   string
	log   *apptest.Log
	admin *client.Client
	rita  *client.Client
	otto  *client.Client
	// server is the one in this process, if it runs here.
	server *app.App
}

// startSite starts a server in this process, with its store in a folder of its
// own.
func startSite(t *testing.T, change ...func(*app.Config)) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), log: &apptest.Log{}}
	cfg := serverConfig(s.dir, slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	for _, c := range change {
		c(&cfg)
	}
	s.server = apptest.Start(t, cfg)
	s.url = s.server.URL()
	s.people()
	return s
}

// people makes the clients of the three.
func (s *site) people() {
	s.t.Helper()
	s.key = adminKey(s.t, s.dir)
	s.admin = s.with(s.key)
	s.rita, _ = s.person("rita", "operator")
	s.otto, _ = s.person("otto", "approver")
}

func adminKey(t *testing.T, dir string) string {
	t.Helper()
	return apptest.Key(t, filepath.Join(dir, "admin.key"))
}

// with returns a client with this key.
func (s *site) with(key string) *client.Client {
	s.t.Helper()
	return apptest.Client(s.t, client.Config{URL: s.url, Key: key})
}

// person makes a key for somebody.
func (s *site) person(name string, roles ...string) (*client.Client, string) {
	s.t.Helper()
	key, err := s.admin.CreateKey(s.t.Context(), contracts.KeySpec{Kind: "user", Principal: name, Roles: roles})
	if err != nil {
		s.t.Fatalf("key for %s: %v", name, err)
	}
	return s.with(key.Text), key.Text
}

// register makes a domain known, and fails the test unless it is in use then.
func (s *site) register(reg contracts.Registration) {
	s.t.Helper()
	report, err := s.admin.RegisterDomain(s.t.Context(), reg)
	if err != nil {
		s.t.Fatalf("register %s: %v\n%s", reg.Domain, err, asJSON(faultsOf(err)))
	}
	if report.Outcome != contracts.DomainActive {
		s.t.Fatalf("register %s: %s", reg.Domain, asJSON(report))
	}
	if s.server == nil {
		return
	}
	if err := s.server.Settled(s.t.Context()); err != nil { // until then a provisional index reads
		s.t.Fatal(err)
	}
}

func faultsOf(err error) []contracts.Fault {
	if ours, ok := errors.AsType[*contracts.Error](err); ok {
		return ours.Faults
	}
	return nil
}

// ask starts a session of rita's with a sentence.
func (s *site) ask(message string) contracts.SessionResponse {
	s.t.Helper()
	r, err := s.rita.StartSession(s.t.Context(), contracts.StartSession{Message: message}, wait())
	if err != nil {
		s.t.Fatalf("ask %q: %v", message, err)
	}
	return r
}

// run plans intents given as data and runs the plan for rita, without waiting.
func (s *site) run(intents ...contracts.Intent) contracts.SessionResponse {
	s.t.Helper()
	r, err := s.runWith(contracts.PlanRequest{Intents: intents}, contracts.RunPlan{})
	if err != nil {
		s.t.Fatalf("run %s: %v", asJSON(intents), err)
	}
	return r
}

func (s *site) runWith(plan contracts.PlanRequest, run contracts.RunPlan) (contracts.SessionResponse, error) {
	for i := range plan.Intents {
		plan.Intents[i].ID = "i" + strconv.Itoa(i+1)
		plan.Intents[i].Confidence, plan.Intents[i].Source = 1, "caller"
	}
	preview, err := s.rita.Plan(s.t.Context(), plan)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	if preview.PlanHash == "" {
		return contracts.SessionResponse{}, fmt.Errorf("there is no plan: %s", asJSON(preview))
	}
	run.PlanHash = preview.PlanHash
	return s.rita.RunPlan(s.t.Context(), run, client.Opt{})
}

// call is an intent given as data.
func call(ref string, params map[string]any) contracts.Intent {
	domain, name, _ := strings.Cut(ref, ".")
	return contracts.Intent{Domain: domain, Capability: name, Parameters: params}
}

// gates waits until n gates of a run are open, and gives them in the order of
// their nodes.
func (s *site) gates(runID string, n int) []contracts.Interrupt {
	s.t.Helper()
	return eventually(s.t, fmt.Sprintf("%d open gates of %s", n, runID), func() ([]contracts.Interrupt, bool) {
		open, err := s.rita.Gates(s.t.Context(), client.GatesFilter{RunID: runID, Status: contracts.InterruptOpen})
		return byNode(open), err == nil && len(open) == n
	})
}

func byNode(gates []contracts.Interrupt) []contracts.Interrupt {
	out := make([]contracts.Interrupt, 0, len(gates))
	for i := range gates {
		at := 0
		for at < len(out) && nodeLess(out[at].NodeID, gates[i].NodeID) {
			at++
		}
		out = append(out[:at], append([]contracts.Interrupt{gates[i]}, out[at:]...)...)
	}
	return out
}

func nodeLess(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// approve approves as otto, exactly what the gate shows.
func (s *site) approve(gate contracts.Interrupt) {
	s.t.Helper()
	if _, err := s.otto.Approve(s.t.Context(), gate, "", client.Opt{}); err != nil {
		s.t.Fatalf("approve %s: %v", gate.Code, err)
	}
}

// node waits until a node of a run is in one of the states.
func (s *site) node(runID, nodeID string, states ...contracts.NodeState) contracts.NodeView {
	s.t.Helper()
	var last contracts.RunView
	view := eventually(s.t, fmt.Sprintf("%s %s to be %v", runID, nodeID, states), func() (contracts.NodeView, bool) {
		view, err := s.rita.Run(s.t.Context(), runID, client.Opt{})
		last = view
		return nodeIn(view, nodeID, states), err == nil && nodeIn(view, nodeID, states).NodeID != ""
	}, func() string { return states2text(last) })
	return view
}

func nodeIn(view contracts.RunView, nodeID string, states []contracts.NodeState) contracts.NodeView {
	for _, n := range view.Nodes {
		for _, state := range states {
			if n.NodeID == nodeID && n.State == state {
				return n
			}
		}
	}
	return contracts.NodeView{}
}

func states2text(view contracts.RunView) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s\n", view.State)
	for _, n := range view.Nodes {
		fmt.Fprintf(&b, "  %s %s %s attempts=%d queued_for=%q summary=%q error=%s\n", n.NodeID, n.Tool, n.State, n.Attempts, n.QueuedFor, n.Summary, asJSON(n.Error))
	}
	return b.String()
}

// ended waits until a run has ended.
func (s *site) ended(runID string) contracts.RunView {
	s.t.Helper()
	var last contracts.RunView
	return eventually(s.t, "the end of "+runID, func() (contracts.RunView, bool) {
		view, err := s.rita.Run(s.t.Context(), runID, client.Opt{Wait: 2 * time.Second})
		last = view
		return view, err == nil && view.State.Terminal()
	}, func() string { return states2text(last) })
}

// sound checks what must hold of every run that ended: its chain, its replay
// and its events without gaps.
func (s *site) sound(view contracts.RunView) {
	s.t.Helper()
	if report, err := s.rita.AuditVerify(s.t.Context(), view.RunID); err != nil || !report.OK {
		s.t.Errorf("audit of %s: %v %s", view.RunID, err, asJSON(report))
	}
	replay, err := s.rita.Replay(s.t.Context(), view.RunID)
	if err != nil || len(replay.Differences) > 0 {
		s.t.Errorf("replay of %s: %v %s", view.RunID, err, asJSON(replay))
	}
	events, err := s.rita.Events(s.t.Context(), view.SessionID, 0, 1000)
	if err != nil {
		s.t.Errorf("events of %s: %v", view.SessionID, err)
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			s.t.Errorf("event %d of session %s has seq %d", i, view.SessionID, e.Seq)
			break
		}
	}
}

// eventually looks until it finds, at most as long as patience.
func eventually[T any](t *testing.T, what string, look func() (T, bool), hints ...func() string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if v, ok := look(); ok {
			return v
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			for _, hint := range hints {
				t.Log(hint())
			}
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func asJSON(v any) string {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(body)
}

// wantCode checks the code of an error.
func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if err == nil || contracts.CodeOf(err) != want {
		t.Errorf("error = %v (%s), want code %s", err, contracts.CodeOf(err), want)
	}
}

// textOf is an answer as plain text.
func textOf(a *contracts.Answer) string {
	if a == nil {
		return ""
	}
	var b strings.Builder
	for _, block := range a.Blocks {
		fmt.Fprintln(&b, block.Kind, block.Title, block.Text, block.Items, block.Columns)
		for _, row := range block.Rows {
			fmt.Fprintln(&b, row...)
		}
	}
	return b.String()
}

// in returns the same site for a subtest.
func (s *site) in(t *testing.T) *site {
	t.Helper()
	out := *s
	out.t = t
	return &out
}

// longTests reports whether slow variants run, too.
func longTests() bool { return sample.Nightly() }

// withBootstrap gives the server a bootstrap file.
func withBootstrap(text string) func(*app.Config) {
	return func(c *app.Config) { c.Bootstrap = []byte(text) }
}

func withoutLoopbackWebhooks(c *app.Config) { c.Webhooks.AllowLoopback = false }
