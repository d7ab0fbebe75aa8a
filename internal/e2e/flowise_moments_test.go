package e2e_test

import (
	"crypto/rand"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
)

// door stands before a Flowise and counts what is asked of each flow, so that a
// colleague can act at one moment of the write of one.
type door struct {
	mu    sync.Mutex
	flows map[string]*visits // by the id of the flow
}

// visits are the requests for one flow. act happens once: right before request
// number before is served, or right after number after was, whose answer waits.
type visits struct {
	asked         []string
	before, after int
	act           func()
}

func (d *door) serve(t *testing.T, endpoint string) string {
	t.Helper()
	return inFront(t, endpoint, func(w http.ResponseWriter, r *http.Request, flowise http.Handler) {
		before, after := d.visit(r)
		before()
		answer := httptest.NewRecorder()
		flowise.ServeHTTP(answer, r)
		after()
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // who has gone needs no answer
	})
}

// visit notes a request, and returns what happens before and after it.
func (d *door) visit(r *http.Request) (before, after func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, after = func() {}, func() {}
	v := d.flows[strings.TrimPrefix(r.URL.Path, "/api/v1/chatflows/")]
	if v == nil {
		return before, after
	}
	v.asked = append(v.asked, r.Method)
	switch len(v.asked) {
	case v.before:
		before = v.act
	case v.after:
		after = v.act
	}
	return before, after
}

// watch begins to count the requests for a flow.
func (d *door) watch(id string, before, after int, act func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flows[id] = &visits{before: before, after: after, act: act}
}

func (d *door) asked(id string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string{}, d.flows[id].asked...)
}

// course is how a write goes when nobody interferes: so many requests for its
// flow before its gate, and the number of the request that writes.
type course struct{ gate, write int }

// moments are those of a write at which somebody may save the same flow in
// Flowise's own page.
var moments = []struct {
	name string
	at   func(course) (before, after int) // which request; neither while the gate is open
}{
	{"before the proposal", func(course) (int, int) { return 1, 0 }},
	{"between the two looks of the proposal, where it has two", func(c course) (int, int) { return 0, max(0, c.gate-1) }},
	{"between the proposal and the gate", func(c course) (int, int) { return 0, c.gate }},
	{"between the gate and the approval", func(course) (int, int) { return 0, 0 }},
	{"between the approval and the next look", func(c course) (int, int) { return c.gate + 1, 0 }},
	{"before the last look", func(c course) (int, int) { return c.write - 1, 0 }},
	{"between the last look and the write", func(c course) (int, int) { return c.write, 0 }},
	{"right after the write", func(c course) (int, int) { return 0, c.write }},
}

// fate is what becomes of a colleague's edit, and what people hear of it.
type fate string

const (
	// The approver saw the flow with the edit in it, and the write keeps it.
	goesAlong fate = "the write is done, and the edit is there"
	// The approver saw the flow with the edit in it, and the write replaces it.
	becomesVersion fate = "the write is done, and its answer names the version that has the edit"
	// The approver saw the flow without it.
	asksAgain fate = "a new gate shows the difference, and the edit is there"
	// There is nothing to approve any more.
	isRefused fate = "the write is refused because of the edit, which is there"
	// It came in the same moment, and both are there.
	isTold fate = "both are there, the answer says that somebody edited it, and the edit is a version"
	// It came after the write.
	comesAfter fate = "the edit is there, the answer says that the flow is not as asked, and what was written is a version or there too"
	// The flow was gone when they saved, which Flowise tells them.
	saveFails fate = "the write is done, and Flowise refuses the save"
	// The one exchange that Flowise cannot protect.
	isOverwritten fate = "the write is done, and its answer says for how long nobody could see an edit; the state before it is a version"
)

// kind is one kind of write, and what is expected at each of the moments.
type kind struct {
	prepare func(*cell)        // after the flow was made
	begin   func(*cell) string // starts the write, and gives its run
	wrote   string             // what stands in a graph that it writes
	want    [8]fate
}

// sentence begins a write by a sentence with the name of the flow in it.
func sentence(text string) func(*cell) string {
	return func(c *cell) string {
		r := c.site.ask(strings.ReplaceAll(text, "NAME", c.name))
		if len(r.RunIDs) == 0 {
			c.Fatalf("no run: %s", asJSON(r))
		}
		c.session = r.SessionID
		return r.RunIDs[0]
	}
}

func kindsOfWrite() map[string]kind {
	graph := [8]fate{goesAlong, isRefused, asksAgain, asksAgain, asksAgain, asksAgain, isOverwritten, comesAfter}
	settings := [8]fate{goesAlong, asksAgain, asksAgain, asksAgain, asksAgain, asksAgain, isTold, comesAfter}
	back := [8]fate{becomesVersion, isRefused, asksAgain, asksAgain, asksAgain, asksAgain, isOverwritten, comesAfter}
	gone := [8]fate{becomesVersion, asksAgain, asksAgain, asksAgain, asksAgain, asksAgain, isOverwritten, saveFails}
	undone := [8]fate{isRefused, isRefused, isRefused, isRefused, isRefused, isRefused, isOverwritten, comesAfter}
	unsettled := [8]fate{isRefused, isRefused, isRefused, isRefused, isRefused, isRefused, isTold, comesAfter}
	developed := [8]fate{goesAlong, isRefused, isRefused, isRefused, isRefused, isRefused, isOverwritten, comesAfter}
	return map[string]kind{
		"a reply":         {begin: sentence(`change the reply of the chatflow "NAME" to "ours"`), wrote: "ours", want: graph},
		"a name":          {begin: sentence(`rename the chatflow "NAME" to "NAME ours"`), want: settings},
		"deploying":       {begin: sentence(`deploy the chatflow "NAME"`), want: settings},
		"withdrawal":      {begin: sentence(`undeploy the chatflow "NAME"`), prepare: (*cell).deploy, want: settings},
		"a rollback":      {begin: sentence(`roll back the chatflow "NAME" to version 1`), wrote: "one", want: back},
		"deleting":        {begin: sentence(`delete the chatflow "NAME"`), want: gone},
		"a category":      {begin: sentence(`change the category of the chatflow "NAME" to "People"`), want: settings},
		"undoing a reply": {begin: (*cell).undo, prepare: written(`change the reply of the chatflow "NAME" to "before"`), wrote: "two", want: undone},
		"undoing a name":  {begin: (*cell).undo, prepare: written(`rename the chatflow "NAME" to "NAME before"`), want: unsettled},
		"developing":      {begin: sentence(`develop the chatflow "NAME" further so that it always replies "ours"`), wrote: "ours", want: developed},
	}
}

// TestNobodysEditOfAChatflowIsLostAtAnyMoment: two people change the same flow, one by
// Manifold and one in Flowise's own page.
func TestNobodysEditOfAChatflowIsLostAtAnyMoment(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			d := &door{flows: map[string]*visits{}}
			service := serveFlowise(t, d.serve(t, endpoint), key)
			s := startSite(t)
			s.register(contracts.Registration{Domain: "flowise", URL: service})
			for name, k := range kindsOfWrite() {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					begin := func(t *testing.T) *cell {
						t.Helper()
						c := &cell{colleague: colleague{T: t, service: service, endpoint: endpoint, key: key}, site: s.in(t), door: d, kind: k}
						c.make()
						return c
					}
					quiet := begin(t)
					way := quiet.undisturbed()
					for i, m := range moments {
						t.Run(m.name, func(t *testing.T) {
							t.Parallel()
							c := begin(t)
							c.play(m.at(way))
							c.expect(k.want[i])
						})
					}
				})
			}
		})
	}
}

// cell is one write with one edit.
type cell struct {
	colleague
	site *site
	door *door
	kind kind

	name, session string
	page          string                // the graph as the colleague's page has it
	gateAt        int                   // how many requests there were when the gate opened
	saved         int                   // what Flowise said of the colleague's save
	shown         []contracts.Interrupt // the gates, one after the other
	view          contracts.RunView     // how it ended
	answer        string
}

// does has the domain do a write, as a step of another run.
func (c *cell) does(capability string, parameters map[string]any) map[string]any {
	c.Helper()
	_, out := domaintest.Execute(c, c.service, capability, parameters, map[string]any{"run_id": rand.Text(), "node_id": "n", "attempt": 1, "idempotency_key": rand.Text()})
	if !out.OK {
		c.Fatalf("%s: %v", capability, out.Error)
	}
	return out.Facts
}

// make makes a flow with two versions.
func (c *cell) make() {
	c.Helper()
	c.name = "Shared " + rand.Text()[:8]
	made := c.does("create_chatflow", map[string]any{"name": c.name, "reply": "one"})
	c.id, _ = made["chatflow_id"].(string)
	c.does("apply_patch", map[string]any{"chatflow_id": c.id, "base_sha256": made["sha256"], "ops": []any{
		map[string]any{"op_type": "SetParam", "node_id": "directReplyAgentflow_0", "param_name": "directReplyMessage", "value": "two"},
	}})
	if c.kind.prepare != nil {
		c.kind.prepare(c)
	}
}

func (c *cell) deploy() {
	c.Helper()
	state := c.execute("get_chatflow", map[string]any{"chatflow_id": c.id}).Facts["state_sha256"]
	c.does("deploy_chatflow", map[string]any{"chatflow_id": c.id, "base_sha256": state})
}

// written has something written that can be undone.
func written(text string) func(*cell) {
	return func(c *cell) {
		c.Helper()
		run := sentence(text)(c)
		c.shown = c.site.gates(run, 1)
		c.site.approve(c.shown[0])
		if view := c.site.ended(run); view.State != contracts.RunCompleted {
			c.Fatalf("%s", states2text(view))
		}
	}
}

func (c *cell) undo() string {
	c.Helper()
	gate := c.shown[0]
	c.shown = nil
	r, err := c.site.rita.Compensate(c.Context(), gate.RunID, gate.NodeID, client.Opt{})
	if err != nil || len(r.RunIDs) == 0 {
		c.Fatalf("undo: %v %s", err, asJSON(r))
	}
	c.session = r.SessionID
	return r.RunIDs[len(r.RunIDs)-1]
}

// save is what the colleague does: Flowise's own page, which was opened before the
// write began, sends the whole graph.
func (c *cell) save() {
	from := strings.Index(c.page, `"label":"`) + len(`"label":"`)
	until := from + strings.Index(c.page[from:], `"`)
	c.last = "by hand " + rand.Text()
	edited := asJSON(map[string]any{"flowData": c.page[:from] + c.last + c.page[until:]})
	c.saved, _ = overHTTP(c.T, http.MethodPut, c.endpoint+"/api/v1/chatflows/"+c.id, c.key, edited)
}

// undisturbed has the write done with nobody about, to learn how it goes.
func (c *cell) undisturbed() course {
	c.Helper()
	c.play(-1, -1)
	asked := c.door.asked(c.id)
	way := course{gate: c.gateAt, write: 1 + slices.IndexFunc(asked, func(method string) bool { return method != http.MethodGet })}
	if c.view.State != contracts.RunCompleted || len(c.shown) != 1 || way.write < way.gate+2 {
		c.Fatalf("undisturbed, it goes %+v of %v: %s\n%s", way, asked, c.answer, states2text(c.view))
	}
	return way
}

// play has the write done, with the edit before or after a request, or, where both
// are 0, while the gate is open.
func (c *cell) play(before, after int) {
	c.Helper()
	c.page = c.graph()
	c.door.watch(c.id, before, after, c.save)
	run := c.kind.begin(c)
	seen := map[string]bool{}
	c.view = eventually(c.T, "the end of the write", func() (contracts.RunView, bool) {
		view, err := c.site.rita.Run(c.Context(), run, client.Opt{})
		if err != nil {
			return view, false
		}
		for _, i := range view.Interrupts {
			if i.Status == contracts.InterruptOpen && !seen[i.InterruptID] {
				seen[i.InterruptID] = true
				c.decide(i, before == 0 && after == 0)
			}
		}
		return view, view.State.Terminal()
	})
	session, err := c.site.rita.AwaitSession(c.Context(), c.session)
	if err != nil {
		c.Fatal(err)
	}
	c.answer = textOf(session.Answer)
}

// decide approves what is shown first; what is shown after somebody's edit is
// rejected.
func (c *cell) decide(i contracts.Interrupt, edit bool) {
	c.Helper()
	answers := map[contracts.InterruptType]any{
		contracts.InterruptSelectTarget: "1", contracts.InterruptPlanApproval: decides("approve"), contracts.InterruptResultReview: decides("accept"),
	}
	if answer, asked := answers[i.Type]; asked {
		if _, err := c.site.rita.Resume(c.Context(), c.session, contracts.Resume{InterruptID: i.InterruptID, Response: answer}, client.Opt{}); err != nil {
			c.Fatalf("%v: %s", err, asJSON(i))
		}
		return
	}
	if c.shown = append(c.shown, i); len(c.shown) > 1 {
		if _, err := c.site.otto.Reject(c.Context(), i, "look at it first", client.Opt{}); err != nil {
			c.Fatal(err)
		}
		return
	}
	c.gateAt = len(c.door.asked(c.id))
	if edit {
		c.save()
	}
	c.site.approve(i)
}

// expect holds the outcome of the edit to what was expected of it.
func (c *cell) expect(want fate) {
	c.Helper()
	done := c.view.State == contracts.RunCompleted
	there, gates := c.stands(), len(c.shown)
	version := c.versionOf(c.last)
	said := func(words string) bool { return strings.Contains(c.answer, words) }
	ok := map[fate]bool{
		goesAlong:      done && gates == 1 && there,
		becomesVersion: done && gates == 1 && !there && version != "" && said(version),
		asksAgain:      !done && gates == 2 && there && len(c.shown[gates-1].Difference) > 0,
		isRefused:      !done && gates < 2 && there && said("changed meanwhile"),
		isTold:         done && gates == 1 && there && c.author(version) == "somebody in Flowise" && said("in the same moment"),
		comesAfter:     there && gates == 1 && said("not as asked when read back") && (c.kind.wrote == "" || c.versionOf(c.kind.wrote) != ""),
		saveFails:      done && gates == 1 && c.saved == http.StatusNotFound,
		isOverwritten:  done && gates == 1 && !there && c.versionOf("two") != "" && c.unseen(),
	}
	if !ok[want] {
		c.Errorf("expected: %s\nstate %s, %d gates, there %v, version %q, save %d, requests %v\nanswer %s\n%s",
			want, c.view.State, gates, there, version, c.saved, c.door.asked(c.id), c.answer, states2text(c.view))
	}
}

// unseen reports whether somebody is told that an edit may be written over: in the answer,
// or, of the steps of a development, where the write stands.
func (c *cell) unseen() bool {
	const words = " ms before is not in it"
	return strings.Contains(c.answer, words) || strings.Contains(states2text(c.view), words)
}

// stands reports whether the edit is on the server.
func (c *cell) stands() bool {
	_, answer := overHTTP(c.T, http.MethodGet, c.endpoint+"/api/v1/chatflows/"+c.id, c.key, "")
	return strings.Contains(string(answer), c.last)
}

// author is who made a version, as the history tells.
func (c *cell) author(version string) string {
	c.Helper()
	rows, _ := c.execute("list_changes", map[string]any{"chatflow_id": c.id}).Facts["changes"].([]any)
	for _, row := range rows {
		if row, _ := row.(map[string]any); row["version"] == version {
			by, _ := row["by"].(string)
			return by
		}
	}
	return ""
}

// versionOf returns the label of the newest version that has a text and that stood
// in the history when the write had ended.
func (c *cell) versionOf(text string) string {
	c.Helper()
	rows, _ := c.execute("list_versions", map[string]any{"chatflow_id": c.id, "limit": 8}).Facts["versions"].([]any)
	for i := 0; i+1 < len(rows); i++ {
		newer, _ := rows[i].(map[string]any)
		older, _ := rows[i+1].(map[string]any)
		diff := c.execute("diff_versions", map[string]any{"chatflow_id": c.id, "from": older["version"], "to": newer["version"]})
		if strings.Contains(asJSON(diff.Facts)+string(diff.Artifacts["diff"]), text) {
			label, _ := newer["version"].(string)
			return label
		}
	}
	return ""
}
