package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/examples/logistics"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// marketplace is a site with the logistics example, and the people of its roles.
type marketplace struct {
	*site
	people map[string]*client.Client // by role

	mu        sync.Mutex // guards now and peak
	now, peak int        // calls under way, and how many there were at most
}

// underWay counts a call until what it gives is called.
func (m *marketplace) underWay() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now++
	m.peak = max(m.peak, m.now)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.now--
	}
}

func startMarketplace(t *testing.T, change ...func(*app.Config)) *marketplace {
	t.Helper()
	svc, err := logistics.New(logistics.Config{
		Now:    func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) },
		People: map[string]string{"carl": "Lone Pine Freight"},
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := svc.Handler()
	if err != nil {
		t.Fatal(err)
	}
	m := &marketplace{site: startSite(t, change...), people: map[string]*client.Client{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/execute" {
			defer m.underWay()()
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	m.register(contracts.Registration{Domain: "logistics", URL: server.URL})
	for role, name := range map[string]string{"driver": "dana", "recruiter": "remy", "admin": "ada", "carrier": "carl"} {
		m.people[role], _ = m.person(name, "requester", "logistics:"+role)
	}
	return m
}

// firstWorkflow is the one of a role: how it is asked for, and what of its table
// must be there.
type firstWorkflow struct {
	role, say, name, column string
	params                  map[string]any
	// writes means that it waits for an approval in the end.
	writes bool
}

func firstWorkflows() []firstWorkflow {
	return []firstWorkflow{
		{"driver", "should I apply to Cedar Line Transport", "compare_carriers", "Carrier", map[string]any{"carriers": []any{"Cedar Line Transport"}}, false},
		{"recruiter", "assess the candidates in the Midwest before outreach", "assess_candidates", "Candidate", map[string]any{"region": "Midwest"}, true},
		{"admin", "triage the platform", "triage_platform", "Evidence", map[string]any{}, false},
		{"carrier", "give me a compliance snapshot of our company", "snapshot_compliance", "Figure", map[string]any{}, false},
	}
}

// play asks for a workflow, approves what waits, and gives the run as it ended.
func (m *marketplace) play(w firstWorkflow) contracts.RunView {
	m.t.Helper()
	r, err := m.people[w.role].StartSession(m.t.Context(), contracts.StartSession{Message: w.say}, wait())
	if err != nil || len(r.RunIDs) != 1 {
		m.t.Fatalf("%s: %v\n%s", w.say, err, asJSON(r))
	}
	if w.writes {
		gate := m.gates(r.RunIDs[0], 1)[0]
		if _, err := m.people[w.role].Approve(m.t.Context(), gate, "", client.Opt{}); err == nil {
			m.t.Errorf("%s: who asks approves", w.say)
		}
		m.approve(gate)
	}
	v := m.ended(r.RunIDs[0])
	m.sound(v)
	return v
}

// well tells what must hold of a workflow that found everything.
func well(t *testing.T, w firstWorkflow, v contracts.RunView) {
	t.Helper()
	if v.Plan.Strategy != contracts.Strategy("workflow:logistics."+w.name) || v.State != contracts.RunCompleted {
		t.Fatalf("%s is %s, %s:\n%s", w.say, v.Plan.Strategy, v.State, states2text(v))
	}
	if v.Verdict == nil || v.Verdict.Status != contracts.VerdictVerified || *v.Verdict.Score != 1 {
		t.Errorf("%s: verdict %s", w.say, asJSON(v.Verdict))
	}
	table := tableOf(v.Answer)
	if table == nil || !slices.ContainsFunc(table.Columns, func(c contracts.Column) bool { return c.Title == w.column }) || len(table.Rows) == 0 {
		t.Errorf("%s: the table is %s", w.say, asJSON(table))
	}
	check := nodeIn(v, "check", []contracts.NodeState{contracts.NodeCompleted})
	if check.Facts["verdict"] != string(contracts.VerdictVerified) || check.Facts["score"] != 1.0 {
		t.Errorf("%s: the check found %v", w.say, check.Facts)
	}
}

func TestEachRoleAsksForItsWorkflowAndNoOther(t *testing.T) {
	t.Parallel()
	m := startMarketplace(t)
	for _, w := range firstWorkflows() {
		v := m.play(w)
		well(t, w, v)
		if w.writes {
			sent := nodeIn(v, "outreach", []contracts.NodeState{contracts.NodeCompleted})
			if !slices.ContainsFunc(sent.Checks, func(c contracts.Check) bool { return c.Name == "read_back" && c.OK }) {
				t.Errorf("the letter was not read back: %s", asJSON(sent.Checks))
			}
		}
		for role, other := range m.people {
			if role == w.role {
				continue
			}
			r, err := other.StartSession(t.Context(), contracts.StartSession{Message: w.say}, wait())
			if err != nil || len(r.RunIDs) != 0 {
				t.Errorf("%s, said by a %s: %v\n%s", w.say, role, err, asJSON(r))
			}
			_, err = other.Plan(t.Context(), contracts.PlanRequest{Intents: []contracts.Intent{call("logistics."+w.name, w.params)}})
			wantCode(t, err, contracts.CodeForbidden)
		}
	}
}

// lastOption is a model that chooses the last option instead of the first, so that
// what it says can be told from what the figures say.
func lastOption(asked scripted.Asked) scripted.Answer {
	for _, w := range firstWorkflows() {
		if len(asked.Tools) > 0 && strings.Contains(asked.Last(), w.say) {
			return calls("logistics."+w.name, w.params)
		}
	}
	if strings.Contains(asked.System, "You check whether") {
		return whole(`{"opinion": "ok", "reasons": []}`)
	}
	ids := regexp.MustCompile(`"id":\s*"([^"]+)"`).FindAllStringSubmatch(asked.Last(), -1)
	if len(ids) == 0 {
		return scripted.Answer{Text: "I do not see any options."}
	}
	body, err := json.Marshal(map[string]any{"choice": ids[len(ids)-1][1], "reason": "The model prefers the last one"})
	if err != nil {
		return scripted.Answer{Text: err.Error()}
	}
	return scripted.Answer{JSON: body}
}

type answerFunc func(scripted.Asked) scripted.Answer

func (f answerFunc) Answer(asked scripted.Asked) scripted.Answer { return f(asked) }

func TestAModelChoosesInTheWorkflowsOfEachRole(t *testing.T) {
	t.Parallel()
	_, model := modelled(t, app.EngineOpenAI, answerFunc(lastOption))
	m := startMarketplace(t, model)
	for _, w := range firstWorkflows() {
		v := m.play(w)
		well(t, w, v)
		if !strings.Contains(textOf(v.Answer), "The model prefers the last one") || v.Tokens.Out == 0 {
			t.Errorf("%s: the model had no part in\n%s", w.say, textOf(v.Answer))
		}
	}
}

// What a model makes up is no option: the check says so.
func TestAModelThatRecommendsWhatIsNotThereDoesNotPass(t *testing.T) {
	t.Parallel()
	_, model := modelled(t, app.EngineOpenAI, answerFunc(func(asked scripted.Asked) scripted.Answer {
		if strings.Contains(asked.System, "You check whether") {
			return whole(`{"opinion": "ok", "reasons": []}`)
		}
		return whole(`{"choice": "ca-999", "reason": "A candidate that nobody has seen"}`)
	}))
	m := startMarketplace(t, model)
	r, err := m.people["recruiter"].StartSession(t.Context(), contracts.StartSession{Message: firstWorkflows()[1].say}, wait())
	if err != nil || len(r.RunIDs) != 1 {
		t.Fatalf("%v\n%s", err, asJSON(r))
	}
	v := m.ended(r.RunIDs[0])
	check := nodeIn(v, "check", []contracts.NodeState{contracts.NodeCompleted})
	letter := nodeIn(v, "outreach", []contracts.NodeState{contracts.NodeSkipped})
	if check.Facts["verdict"] != string(contracts.VerdictDegraded) || letter.NodeID == "" {
		t.Errorf("check %v\n%s", check.Facts, states2text(v))
	}
}

// A source in maintenance takes a branch away: each workflow that rests on it ends
// nevertheless, says what is missing, and writes to nobody.
func TestAWorkflowWithoutOneBranchSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	m := startMarketplace(t)
	for _, source := range []string{"safety", "market", "ads"} {
		r, err := m.people["admin"].StartSession(t.Context(), contracts.StartSession{Message: "put the " + source + " source into maintenance"}, wait())
		if err != nil || len(r.RunIDs) != 1 {
			t.Fatalf("%v\n%s", err, asJSON(r))
		}
		m.approve(m.gates(r.RunIDs[0], 1)[0])
		if v := m.ended(r.RunIDs[0]); v.Verdict.Status != contracts.VerdictVerified {
			t.Fatalf("%s: %s", source, states2text(v))
		}
	}
	missing := map[string]string{
		"driver": "Missing: safety, market.", "recruiter": "Missing: benchmarks, market, trends.",
		"admin": "Missing: campaigns.", "carrier": "Missing: safety, benchmarks.",
	}
	for _, w := range firstWorkflows() {
		w.writes = false
		v := m.play(w)
		text := textOf(v.Answer)
		if v.State != contracts.RunDegraded || v.Verdict.Status != contracts.VerdictDegraded || *v.Verdict.Score != 0.6 {
			t.Errorf("%s: %s %s", w.say, v.State, asJSON(v.Verdict))
		}
		if !strings.Contains(text, missing[w.role]) || !strings.Contains(text, "in maintenance") || tableOf(v.Answer) == nil {
			t.Errorf("%s: want %q and why in\n%s", w.say, missing[w.role], text)
		}
		if w.role == "recruiter" && (nodeIn(v, "outreach", []contracts.NodeState{contracts.NodeSkipped}).NodeID == "" || len(v.Interrupts) != 0) {
			t.Errorf("somebody is written to of half a picture:\n%s", states2text(v))
		}
	}
}

// What is side by side or one after the other, and what begins while somebody is asked,
// is a matter of time alone: the same answers byte for byte, the same actions at the
// same gates, and ledgers that hold. All flags are off at once here; what each lets
// begin is shown in execution.
func TestOneReadAfterTheOtherComesToTheSame(t *testing.T) {
	t.Parallel()
	at := func(value string) *marketplace {
		rollout, err := metrics.ParseRollout([]string{"logistics/parallel_reads=" + value, "logistics/dag_planning=" + value, "branch_approvals=" + value})
		if err != nil {
			t.Fatal(err)
		}
		return startMarketplace(t, func(c *app.Config) { c.Rollout = rollout })
	}
	off := metrics.Flags{DAGPlanning: metrics.FlagOff, ParallelReads: metrics.FlagOff, BranchApprovals: metrics.FlagOff, Verifier: metrics.FlagOn}
	beside, after := at("on"), at("off")
	for _, w := range firstWorkflows() {
		a, b := beside.play(w), after.play(w) // play looks at the ledger and the gate
		well(t, w, a)
		well(t, w, b)
		if diff := cmp.Diff(asJSON(a.Answer.Blocks), asJSON(b.Answer.Blocks)); diff != "" {
			t.Errorf("%s: the answers differ (-side by side +one after the other):\n%s", w.say, diff)
		}
		if a.Plan.PlanHash != b.Plan.PlanHash || metrics.Effective(a.Plan.Flags) != metrics.AllOn() || metrics.Effective(b.Plan.Flags) != off {
			t.Errorf("%s: the plans are %s and %s, the flags %v and %v", w.say, a.Plan.PlanHash, b.Plan.PlanHash, a.Plan.Flags, b.Plan.Flags)
		}
		if diff := cmp.Diff(actionsOf(a), actionsOf(b)); diff != "" {
			t.Errorf("%s: what was approved differs:\n%s", w.say, diff)
		}
	}
	if after.peak != 1 {
		t.Errorf("%d calls were under way at once", after.peak)
	}
}

// actionsOf are what somebody was asked to approve, and who did.
func actionsOf(v contracts.RunView) []string {
	var out []string
	for _, i := range v.Interrupts {
		out = append(out, strings.Join([]string{i.NodeID, asJSON(i.Action), string(i.Status), strings.Join(i.Requesters, ",")}, " "))
	}
	return out
}
