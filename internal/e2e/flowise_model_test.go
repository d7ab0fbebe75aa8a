package e2e_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// The instructions of the steps, by words of their skills.
const (
	classifying = "Say whether the goal asks for a new flow"
	planning    = "what success means in sentences"
	scoping     = "Bound the change before it is written"
	patching    = "Write a JSON list of ops"
	judging     = "The verdict of `test_chatflow`"
)

// contracted is the plan of a model.
func contracted(action, name, goal string, criteria ...string) scripted.Answer {
	return whole(`{"contract":` + asJSON(map[string]any{
		"action": action, "name": name, "goal": goal, "domain_targets": []string{}, "credentials": []string{},
		"data_fields": []string{}, "pii_fields": []string{}, "success_criteria": criteria,
	}) + `,"approaches":[]}`)
}

// replying is the patch of a model that makes a flow with one reply.
func replying(reply string) scripted.Answer {
	return whole(`{"ops":[{"op_type":"AddNode","node_id":"startAgentflow_0","node_name":"startAgentflow"},` +
		`{"op_type":"AddNode","node_id":"directReplyAgentflow_0","node_name":"directReplyAgentflow","params":{"directReplyMessage":` + asJSON(reply) + `}},` +
		`{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"directReplyAgentflow_0"}]}`)
}

// changing is the patch of a model that changes the reply.
func changing(reply string) scripted.Answer {
	return whole(`{"ops":[{"op_type":"SetParam","node_id":"directReplyAgentflow_0","param_name":"directReplyMessage","value":` + asJSON(reply) + `}]}`)
}

// routed is how a model reads a sentence that asks for a development.
func routed(sentence string) scripted.Rule {
	return scripted.Rule{Contains: sentence, Answer: calls("flowise.develop_chatflow", map[string]any{"goal": sentence})}
}

// receptionist is a model that makes a flow, changes it as is said of it, and changes
// it later by its name.
func receptionist(name string) *scripted.Script {
	return says(
		scripted.Rule{System: classifying, Contains: "further", Answer: whole(`{"intent":"update","target_name":` + asJSON(name) + `,"needs":[],"confidence":0.9}`)},
		scripted.Rule{System: classifying, Answer: whole(`{"intent":"create","target_name":"","needs":[],"confidence":0.9}`)},
		scripted.Rule{System: planning, Contains: "further", Answer: contracted("update", name, "Guests are told that it is closed.", `answers with "closed"`)},
		scripted.Rule{System: planning, Contains: "an hour later", Answer: contracted("update", name, "Guests are told an hour later.", `answers with "ten"`)},
		scripted.Rule{System: planning, Answer: contracted("create", name, "Guests learn the hour.", `answers with "nine"`)},
		scripted.Rule{System: scoping, Answer: whole(`{"max_ops":6,"focus_nodes":[],"protected_nodes":[]}`)},
		scripted.Rule{System: patching, Contains: "told that it is closed", Answer: changing("We are closed.")},
		scripted.Rule{System: patching, Contains: "an hour later", Answer: changing("We open at ten.")},
		scripted.Rule{System: patching, Answer: replying("We open at nine.")},
		scripted.Rule{System: judging, Answer: whole(`{"opinion":"ok","reasons":[]}`)},
		routed(closing(name)),
	)
}

// closing is the sentence that changes it by its name.
func closing(name string) string {
	return `develop the chatflow "` + name + `" further so that it says that we are closed`
}

// TestAModelDevelopsAChatflow: with a model that plans and writes the patches, a flow
// is made, changed on what a person says of it, changed later by its name and rolled
// back. It answers after each of these, and no step falls back on rules.
func TestAModelDevelopsAChatflow(t *testing.T) {
	t.Parallel()
	name := "Receptionist" + rand.Text()[:5]
	_, model := modelled(t, app.EngineOpenAI, receptionist(name))
	onEachFlowise(t, func(t *testing.T, s *site) {
		answers := func(want string) {
			t.Helper()
			if got := s.told(`ask the chatflow "` + name + `": "When do you open?"`); !strings.Contains(got, want) {
				t.Errorf("it answers %q, not %q", got, want)
			}
		}
		view, told := s.developed(`develop a chatbot called "`+name+`" that tells guests the hour`, say{
			contracts.InterruptPlanApproval: {decides("approve"), decides("approve")},
			contracts.InterruptResultReview: {decides("iterate", "feedback", "we open an hour later"), decides("accept")},
		})
		if view.State != contracts.RunCompleted || !strings.Contains(told, "is done") {
			t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
		}
		thought(t, view, "plan", "compile_patch_ir", "plan#2", "compile_patch_ir#2")
		answers("We open at ten.")

		view, told = s.developed(closing(name), say{
			contracts.InterruptSelectTarget: {"1"},
			contracts.InterruptPlanApproval: {decides("approve"), decides("approve")},
			contracts.InterruptResultReview: {decides("accept")},
		})
		if view.State != contracts.RunCompleted || !strings.Contains(told, "is done") {
			t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
		}
		thought(t, view, "classify_intent", "plan", "define_patch_scope", "compile_patch_ir")
		answers("We are closed.")

		s.approved(`roll back the chatflow "` + name + `" to version 2`)
		answers("We open at ten.")
		view, told = s.developed(closing(name), say{
			contracts.InterruptSelectTarget: {"1"},
			contracts.InterruptPlanApproval: {decides("approve")},
			contracts.InterruptResultReview: {decides("rollback")},
		})
		if view.State != contracts.RunCompleted || !strings.Contains(told, "not accepted") {
			t.Errorf("%s: %s\n%s", view.State, told, states2text(view))
		}
		answers("We open at ten.")
		s.approved(`delete the chatflow "` + name + `"`)
	}, model)
}

// thought holds steps of a run to a model that did them itself.
func thought(t *testing.T, view contracts.RunView, steps ...string) {
	t.Helper()
	for _, step := range steps {
		if n := nodeIn(view, step, []contracts.NodeState{contracts.NodeCompleted}); len(n.Calls) == 0 || n.Fallback != "" {
			t.Errorf("%s was not done by the model: %q %s", step, n.Fallback, asJSON(n.Calls))
		}
	}
}

// TestAModelKeepsToTheScopeOfAChatflow: the model reads the nodes in focus and no
// other, what it may not touch is not touched, and the reviewer is told so. A judge
// that is pleased does not raise a test that failed. What was used up is shown.
func TestAModelKeepsToTheScopeOfAChatflow(t *testing.T) {
	t.Parallel()
	name := "Scoped" + rand.Text()[:5]
	sentence := `develop the chatflow "` + name + `" further so that it tells the new hour`
	asked, model := modelled(t, app.EngineOpenAI, says(
		scripted.Rule{System: classifying, Answer: whole(`{"intent":"update","target_name":` + asJSON(name) + `,"needs":[],"confidence":0.9}`)},
		scripted.Rule{System: planning, Answer: contracted("update", name, "Guests learn the hour.", `answers with "ten"`)},
		scripted.Rule{System: scoping, Answer: whole(`{"max_ops":6,"focus_nodes":["directReplyAgentflow_0"],"protected_nodes":["startAgentflow_0"]}`)},
		scripted.Rule{System: patching, Contains: "leave the start alone", Answer: changing("We open at eleven.")},
		scripted.Rule{System: patching, Contains: "an hour earlier", Answer: changing("We open at ten.")},
		scripted.Rule{System: patching, Answer: whole(`{"ops":[{"op_type":"RenameNode","node_id":"startAgentflow_0","label":"Mine"}]}`)},
		scripted.Rule{System: judging, Answer: whole(`{"opinion":"ok","reasons":[]}`)},
		routed(sentence),
	))
	// One site for one model: what it was asked is counted.
	endpoint, key := flowiseServers()["in memory"](t)
	s := startSite(t, model)
	s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, endpoint, key)})
	s.approved(`create a chatflow called "` + name + `" that replies "We open at nine."`)
	var reviews []contracts.Interrupt
	view, told := s.developed(sentence, say{
		contracts.InterruptSelectTarget: {"1"},
		contracts.InterruptPlanApproval: {decides("approve"), decides("approve"), decides("approve")},
		contracts.InterruptResultReview: {
			decides("iterate", "feedback", "leave the start alone"), decides("iterate", "feedback", "an hour earlier"), decides("accept"),
		},
	}, func(i contracts.Interrupt) {
		if i.Type == contracts.InterruptResultReview {
			reviews = append(reviews, i)
		}
	})
	if view.State != contracts.RunCompleted || !strings.Contains(told, "is done: 1 parameter changed") || len(reviews) != 3 {
		t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
	}
	for n, want := range [][]string{
		{`"problems":["op 0 RenameNode: startAgentflow_0 may not be touched"]`},
		{`nine. → We open at eleven."`, `criterion 1: failed, 0 of 1`, `"verdict":"blocked"`},
		{`eleven. → We open at ten."`, `criterion 1: passed, 1 of 1`, `"verdict":"verified"`},
	} {
		for _, part := range append(want, `"changes":"1 `, `"tokens":`) {
			if shown := compact(reviews[n].Show); !strings.Contains(shown, part) {
				t.Errorf("review %d does not show %s: %s", n+1, part, shown)
			}
		}
	}
	if asks := len(prompts(asked, judging)); asks != 1 {
		t.Errorf("the judge was asked %d times, of one test that failed and one that passed", asks)
	}
	for n, prompt := range prompts(asked, patching) {
		for _, part := range []string{
			`"id":"directReplyAgentflow_0"`, []string{"We open at nine.", "We open at nine.", "We open at eleven."}[n], "AGENTFLOW with 2 nodes",
		} {
			if !strings.Contains(prompt, part) {
				t.Errorf("patch %d is not told %q: %s", n+1, part, prompt)
			}
		}
		if strings.Contains(prompt, `"id":"startAgentflow_0"`) {
			t.Errorf("patch %d is told of a node that is not in focus: %s", n+1, prompt)
		}
	}
	s.approved(`delete the chatflow "` + name + `"`)
}

// prompts are what a model was asked for by steps of these instructions.
func prompts(asked *scripted.Server, instructions string) []string {
	var out []string
	for _, r := range asked.Requests() {
		if strings.Contains(r.System, instructions) {
			out = append(out, r.Turns[len(r.Turns)-1].Text)
		}
	}
	return out
}

// compact is a value as JSON without spaces, with letters as they are.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return b.String()
}

// TestADevelopmentOfAFlowGoesOnByRulesWhenItsTokensAreUsedUp: the model is asked for
// nothing more, its contract is kept by rules, and a person is asked before anything
// is written.
func TestADevelopmentOfAFlowGoesOnByRulesWhenItsTokensAreUsedUp(t *testing.T) {
	t.Parallel()
	plan := contracted("create", "Dear", `A chatbot that always replies "We open at nine".`, `answers with "nine"`)
	plan.Tokens = contracts.Tokens{In: 79_000, Out: 2_000}
	asked, model := modelled(t, app.EngineOpenAI, says(
		scripted.Rule{System: classifying, Answer: whole(`{"intent":"create","target_name":"","needs":[],"confidence":0.9}`)},
		scripted.Rule{System: planning, Answer: plan},
	))
	f, s := counted(t, "", model)
	var gate contracts.Interrupt
	view, _, _ := s.refused(`develop a chatbot called "Dear" that always replies "We open at nine"`, func(i contracts.Interrupt) { gate = i })
	patch := nodeIn(view, "compile_patch_ir", []contracts.NodeState{contracts.NodeCompleted})
	if gate.Type != contracts.InterruptWriteApproval || !strings.Contains(asJSON(patch.Facts), "We open at nine") || asked.Count() != 2 {
		t.Errorf("after %d requests to the model it ends at %s\n%s", asked.Count(), asJSON(gate), states2text(view))
	}
	wrote(t, f)
}

// TestADevelopmentOfAFlowEndsAtAPersonWhenItsCallsAreUsedUp, with a workflow that may
// make fewer of them.
func TestADevelopmentOfAFlowEndsAtAPersonWhenItsCallsAreUsedUp(t *testing.T) {
	t.Parallel()
	f, s := counted(t, `"tool_calls":5`)
	var last contracts.Interrupt
	view, _ := s.developed(`develop a chatbot called "Dear" that always replies "We open at nine"`, say{
		contracts.InterruptPlanApproval:   {decides("approve")},
		contracts.InterruptBudgetExceeded: {contracts.SayStop},
	}, func(i contracts.Interrupt) { last = i })
	if last.Type != contracts.InterruptBudgetExceeded || last.Show["budget"] != "tool_calls" || last.Show["used"] != 5.0 || last.Show["limit"] != 5.0 {
		t.Errorf("stopped at %s\n%s", asJSON(last), states2text(view))
	}
	if view.State == contracts.RunCompleted {
		t.Errorf("it ended as %s", view.State)
	}
	wrote(t, f)
}

// counted is a site with a Flowise in memory whose requests are seen. Of the
// development, calls is what the manifest says instead of how many it may make.
func counted(t *testing.T, calls string, settings ...func(*app.Config)) (*front, *site) {
	t.Helper()
	endpoint, key := flowiseServers()["in memory"](t)
	f := &front{}
	service := serveFlowise(t, f.serve(t, endpoint), key)
	if calls != "" {
		service = rewritten(t, service, `"tool_calls":80`, calls)
	}
	s := startSite(t, settings...)
	s.register(contracts.Registration{Domain: "flowise", URL: service})
	f.anew()
	return f, s
}

// wrote holds a Flowise to having been asked for reads only.
func wrote(t *testing.T, f *front) {
	t.Helper()
	for _, r := range f.requests() {
		if !strings.HasPrefix(r, "GET ") {
			t.Errorf("asked Flowise for %s", r)
		}
	}
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}

// rewritten is a domain whose manifest says something else in one place.
func rewritten(t *testing.T, domain, says, instead string) string {
	t.Helper()
	target, err := url.Parse(domain)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Header.Del("Accept-Encoding") },
		ModifyResponse: func(r *http.Response) error {
			if !strings.HasSuffix(r.Request.URL.Path, "/manifest") || r.StatusCode != http.StatusOK {
				return nil // such as: it is still the same
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			if !bytes.Contains(body, []byte(says)) {
				t.Errorf("the manifest does not say %s", says)
			}
			body = bytes.Replace(body, []byte(says), []byte(instead), 1)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			r.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return nil
		},
	})
	t.Cleanup(front.Close)
	return front.URL
}

// TestAPersonChoosesBetweenAChatflowAndAnAgentFlow: both keep the goal, and what is
// chosen is what is made.
func TestAPersonChoosesBetweenAChatflowAndAnAgentFlow(t *testing.T) {
	t.Parallel()
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	server.AddCredential("Team key", "openAIApi")
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	s := startSite(t)
	service := serveFlowise(t, front.URL, server.Key())
	s.register(contracts.Registration{Domain: "flowise", URL: service})
	for approach, kind := range map[string]string{"chatflow": "CHATFLOW", "agentflow": "AGENTFLOW"} {
		var offered []string
		view, told := s.developed(`develop an agent called "Adder `+approach+`" with a calculator`, say{
			contracts.InterruptPlanApproval: {decides("approve", "approach", approach)},
			contracts.InterruptResultReview: {decides("accept")},
		}, func(i contracts.Interrupt) {
			if i.Type == contracts.InterruptPlanApproval {
				for _, o := range i.Options {
					offered = append(offered, asText(o.Value)+o.ID)
				}
			}
		})
		if view.State != contracts.RunCompleted {
			t.Errorf("%s: %s\n%s", view.State, told, states2text(view))
			continue
		}
		if text := strings.Join(offered, " "); !strings.Contains(text, "chatflow") || !strings.Contains(text, "agentflow") {
			t.Errorf("offered %s", text)
		}
		applied := nodeIn(view, "applied", []contracts.NodeState{contracts.NodeCompleted})
		_, got := domaintest.Execute(t, service, "get_chatflow", map[string]any{"chatflow_id": applied.Facts["chatflow_id"]}, map[string]any{"run_id": "r", "node_id": "n", "attempt": 1})
		if got.Facts["type"] != kind {
			t.Errorf("%s makes %v", approach, got.Facts["type"])
		}
	}
}

// farewell is a node that only the server knows.
const farewell = `{"name":"farewellAgentflow","label":"Farewell","version":1,"type":"Farewell","category":"Agent Flows","hideOutput":true,"color":"#4DDBBB",
	"baseClasses":["Farewell"],"description":"Says goodbye","inputs":[{"label":"Message","name":"farewellMessage","type":"string","rows":4,"acceptVariable":true}]}`

// TestADevelopmentLearnsANodeThatOnlyTheServerKnows: the patch is written again when
// the definition was learnt, once in an iteration.
func TestADevelopmentLearnsANodeOfAFlowThatOnlyTheServerKnows(t *testing.T) {
	t.Parallel()
	patch := whole(`{"ops":[{"op_type":"AddNode","node_id":"startAgentflow_0","node_name":"startAgentflow"},` +
		`{"op_type":"AddNode","node_id":"farewellAgentflow_0","node_name":"farewellAgentflow","params":{"farewellMessage":"Goodbye."}},` +
		`{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"farewellAgentflow_0"}]}`)
	asked, model := modelled(t, app.EngineOpenAI, says(
		scripted.Rule{System: classifying, Answer: whole(`{"intent":"create","target_name":"","needs":[],"confidence":0.9}`)},
		scripted.Rule{System: planning, Answer: contracted("create", "Farewell", "Guests are seen off.", "answers every question")},
		scripted.Rule{System: scoping, Answer: whole(`{"max_ops":6,"focus_nodes":[],"protected_nodes":[]}`)},
		scripted.Rule{System: patching, Answer: patch},
	))
	server, err := sandbox.New(sandbox.Config{Nodes: []json.RawMessage{json.RawMessage(farewell)}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	s := startSite(t, model)
	s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, front.URL, server.Key())})
	view, told := s.developed(`develop a chatbot called "Farewell" that sees guests off`, say{
		contracts.InterruptPlanApproval: {decides("approve")},
		contracts.InterruptResultReview: {decides("accept")},
	})
	if !strings.Contains(told, "is done: 2 nodes added") { // that it answers nothing is the server in memory's
		t.Fatalf("%s: %s\n%s", view.State, told, states2text(view))
	}
	repaired := 0
	for _, n := range view.Nodes {
		if strings.HasPrefix(n.NodeID, "repair_schema") && n.State == contracts.NodeCompleted {
			repaired++
			if got := compact(n.Facts["repaired_node_types"]); !strings.Contains(got, `["farewellAgentflow"]`) {
				t.Errorf("it learnt %s", got)
			}
		}
	}
	patches := prompts(asked, patching)
	if repaired != 1 || len(patches) != 2 || !strings.Contains(patches[1], `["farewellAgentflow"]`) {
		t.Errorf("%d repairs, and the patches were asked for with %v\n%s", repaired, patches, states2text(view))
	}
	if made := server.Effects(); len(made) != 1 || made[0].Kind != "flow.create" {
		t.Errorf("made %v", made)
	}
}
