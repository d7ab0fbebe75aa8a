package e2e_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// modelled starts a server of answers and gives the setting of a site that asks
// it. Messages are read without it unless change says otherwise.
func modelled(t *testing.T, engine app.ModelEngine, answers scripted.Answerer, change ...func(*app.LanguageModel)) (*scripted.Server, func(*app.Config)) {
	t.Helper()
	server := scripted.New(answers)
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	base := h.URL
	if engine == app.EngineOpenAI {
		base += "/v1"
	}
	m := app.LanguageModel{Model: app.ModelConfig{Engine: engine, Model: "scripted", BaseURL: base, Key: "sk-e2e-model-key-77", Timeout: 5 * time.Second}, Understanding: app.UnderstandLocal}
	for _, c := range change {
		c(&m)
	}
	return server, func(c *app.Config) { c.Mind = m }
}

// byModel lets the model read messages.
func byModel(m *app.LanguageModel) { m.Understanding = app.UnderstandModel }

func says(rules ...scripted.Rule) *scripted.Script { return &scripted.Script{Rules: rules} }

func whole(text string) scripted.Answer { return scripted.Answer{JSON: json.RawMessage(text)} }

// calls answers with one call of a function.
func calls(name string, arguments map[string]any) scripted.Answer {
	return scripted.Answer{Calls: []scripted.Call{{Name: name, Arguments: arguments}}}
}

// noted is a depot with a workflow whose steps think: it looks at a crate, has a
// note written about it, has that judged, and labels the crate with the note.
func noted(m *contracts.Manifest) {
	spoken(m)
	m.Skills = map[string]string{"note": "Write a label for the crate, one word.", "fair": "Is the label fair?"}
	schema := map[string]any{
		"type": "object", "required": []any{"value"}, "additionalProperties": true, "properties": map[string]any{"value": map[string]any{"type": "string", "minLength": 1}},
	}
	m.Workflows = []contracts.Workflow{{
		Name: "note_crate", Description: "Writes a note about a crate and labels it so.", Schema: object("id"),
		Metadata: contracts.WorkflowMetadata{IntentHints: &contracts.IntentHints{Examples: []string{`write a note about crate "k1"`, `note down what is in crate "m7"`}}},
		Steps: []contracts.Step{
			{ID: "look", Kind: contracts.StepTool, Tool: "peek", Params: map[string]any{"id": "${params.id}"}},
			{ID: "note", Kind: contracts.StepReason, DependsOn: []string{"look"}, Reason: &contracts.ReasonStep{
				Skill: "note", OutputSchema: schema, MaxOutputTokens: 64,
				Inputs:   map[string]any{"id": "${params.id}", "value": "${steps.look.facts.value}", "summary": "${steps.look.summary}"},
				Fallback: &contracts.Fallback{Capability: "peek", Params: map[string]any{"id": "${params.id}"}},
			}},
			{ID: "fair", Kind: contracts.StepVerify, DependsOn: []string{"look", "note"}, Verify: &contracts.VerifyStep{
				Assertions: []contracts.Condition{{Expr: "${steps.note.facts.value != ''}"}},
				Judge:      &contracts.Judge{Skill: "fair", Inputs: map[string]any{"label": "${steps.note.facts.value}"}},
			}},
			{ID: "label", Kind: contracts.StepTool, DependsOn: []string{"note", "fair"}, Tool: "put_keyed", Params: map[string]any{
				"id": "${params.id}", "value": "${steps.note.facts.value}",
			}},
		},
	}}
}

const fair = `{"opinion":"ok","reasons":[]}`

func thoughtful() *scripted.Script {
	return says(
		scripted.Rule{System: "Write a label", Answer: whole(`{"value":"apples"}`)},
		scripted.Rule{System: "Is the label fair", Answer: whole(fair)},
	)
}

// noting starts the workflow about the one crate of a depot.
func (s *site) noting() string {
	s.t.Helper()
	return s.run(call("depot.note_crate", map[string]any{"id": "k1"})).RunIDs[0]
}

func stocked(t *testing.T) *depot {
	t.Helper()
	d := newDepot(t, "depot", noted)
	d.mu.Lock()
	d.values["k1"] = "pears"
	d.mu.Unlock()
	return d
}

func TestAModelThinksForTheStepsOfAWorkflow(t *testing.T) {
	t.Parallel()
	for _, engine := range []app.ModelEngine{app.EngineOpenAI, app.EngineAnthropic} {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			server, model := modelled(t, engine, thoughtful())
			s := startSite(t, model)
			d := stocked(t)
			s.register(d.registration())
			runID := s.noting()
			gate := s.gates(runID, 1)[0]
			if gate.Action == nil || gate.Action.Parameters["value"] != "apples" {
				t.Fatalf("the gate is about %s", asJSON(gate.Action))
			}
			s.approve(gate)
			v := s.ended(runID)
			s.sound(v)
			if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified || *v.Verdict.Score != 1 || d.done("k1") != 1 {
				t.Errorf("%s %s", v.State, asJSON(v.Verdict))
			}
			note, judged := nodeIn(v, "note", []contracts.NodeState{contracts.NodeCompleted}), nodeIn(v, "fair", []contracts.NodeState{contracts.NodeCompleted})
			if len(note.Calls) != 1 || note.Calls[0].Tokens.In == 0 || note.Fallback != "" || len(judged.Calls) != 1 {
				t.Errorf("calls %s and %s", asJSON(note.Calls), asJSON(judged.Calls))
			}
			used := note.Calls[0].Tokens.Add(judged.Calls[0].Tokens)
			session, err := s.rita.Session(t.Context(), v.SessionID, client.Opt{})
			if err != nil || session.Tokens != used || v.Tokens != used {
				t.Errorf("the session used %+v, the run %+v, its nodes %+v, %v", session.Tokens, v.Tokens, used, err)
			}
			if server.Count() != 2 {
				t.Errorf("%d requests", server.Count())
			}
		})
	}
}

// A run whose model dies in the middle ends by its fallbacks, and says so.
func TestARunWhoseModelDiesEndsByItsFallbacks(t *testing.T) {
	t.Parallel()
	_, model := modelled(t, app.EngineOpenAI, says(
		scripted.Rule{System: "Is the label fair", Answer: scripted.Answer{Fault: scripted.FaultBroken}},
		scripted.Rule{Answer: scripted.Answer{Fault: scripted.FaultCut}},
	))
	s := startSite(t, model)
	d := stocked(t)
	s.register(d.registration())
	runID := s.noting()
	gate := s.gates(runID, 1)[0]
	if gate.Action.Parameters["value"] != "pears" {
		t.Fatalf("the gate is about %s", asJSON(gate.Action))
	}
	s.approve(gate)
	v := s.ended(runID)
	s.sound(v)
	note := s.node(runID, "note", contracts.NodeCompleted)
	if v.State != contracts.RunCompleted || !strings.Contains(note.Fallback, "scripted") || note.Calls[0].Error == "" {
		t.Errorf("%s, %s", v.State, asJSON(note))
	}
	if judge, _ := s.node(runID, "fair", contracts.NodeCompleted).Facts["judge"].(map[string]any); judge["fault"] == "" || judge["fault"] == nil {
		t.Errorf("the judge is %v", judge)
	}
}

// blob is what a flow may look like: large, and with a secret in it.
var blob = map[string]any{"flowData": strings.Repeat("BLOB-8f31 ", 3000), "apiKey": "sk-planted-secret-41c7d0"} //nolint:gochecknoglobals // a constant that Go cannot spell

// No prompt holds what stands in the raw output of a domain or a secret of the
// site, and none grows with it.
func TestPromptsHoldNothingRaw(t *testing.T) {
	t.Parallel()
	sizes, seen := map[string]int{}, false
	for name, planted := range map[string]bool{"small": false, "large": true} {
		server, model := modelled(t, app.EngineOpenAI, thoughtful(), byModel, func(m *app.LanguageModel) { m.JudgeMode = app.JudgeRuns })
		s := startSite(t, model)
		d := stocked(t)
		if planted {
			raw, err := json.Marshal(blob)
			if err != nil {
				t.Fatal(err)
			}
			d.mu.Lock()
			d.data = raw
			d.mu.Unlock()
		}
		s.register(d.registration())
		runID := s.noting()
		s.approve(s.gates(runID, 1)[0])
		v := s.ended(runID)
		if v.State != contracts.RunCompleted || v.Verdict.Judge == nil {
			t.Fatalf("%s %s", v.State, asJSON(v.Verdict))
		}
		s.ask("what about the crate and its label, and all that")
		if server.Count() < 4 {
			t.Errorf("%d requests", server.Count())
		}
		for _, r := range server.Requests() {
			text := r.System + string(r.Schema)
			for _, turn := range r.Turns {
				text += turn.Text
			}
			for _, tool := range r.Tools {
				text += tool.Name + tool.Description + string(tool.Schema)
			}
			for _, secret := range []string{"BLOB-8f31", "sk-planted-secret", "sk-e2e-model-key-77", s.key, domainToken} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %q is in a prompt: %.300s", name, secret, text)
				}
			}
			sizes[name] += len(text)
			seen = seen || strings.Contains(text, "k1 is pears")
		}
	}
	if !seen {
		t.Error("what a domain says in short is in no prompt: nothing was looked at")
	}
	if sizes["large"] != sizes["small"] {
		t.Errorf("prompts have %d bytes in all, and %d with a large flow", sizes["small"], sizes["large"])
	}
}

// A process that is killed while a model is asked asks it once more, and for
// nothing else.
func TestKill9DuringACallOfAModelPaysForThatOneAlone(t *testing.T) {
	t.Parallel()
	slow := thoughtful()
	slow.Rules[1].Times, slow.Rules[1].DelayMS = 1, 60_000
	slow.Rules = append(slow.Rules, scripted.Rule{System: "Is the label fair", Answer: whole(fair)})
	server, config := modelled(t, app.EngineOpenAI, slow, byModel)
	var cfg app.Config
	config(&cfg)
	p := startProcess(t, "--reasoning-engine", "openai", "--reasoning-model", "scripted", "--reasoning-base-url", cfg.Mind.Model.BaseURL)
	d := stocked(t)
	p.register(d.registration())
	runID := p.noting()
	eventually(t, "the judge to be asked", func() (int, bool) { return server.Count(), server.Count() == 2 })
	p.again()
	p.approve(p.gates(runID, 1)[0])
	v := p.ended(runID)
	p.sound(v)
	asked := map[string]int{}
	for _, r := range server.Requests() {
		for _, skill := range []string{"Write a label", "Is the label fair"} {
			if strings.Contains(r.System, skill) {
				asked[skill]++
			}
		}
	}
	if v.State != contracts.RunCompleted || asked["Write a label"] != 1 || asked["Is the label fair"] != 2 {
		t.Errorf("%s after %v", v.State, asked)
	}
}

// What was read of a message is kept before anything is built on it.
func TestKill9WhileAMessageIsRead(t *testing.T) {
	t.Parallel()
	script := says(
		scripted.Rule{Contains: "azure", Times: 1, Answer: scripted.Answer{DelayMS: 60_000}},
		scripted.Rule{Contains: "azure", Answer: calls("put_keyed", map[string]any{"id": "k1", "value": "azure"})},
	)
	server, config := modelled(t, app.EngineOpenAI, script, byModel)
	var cfg app.Config
	config(&cfg)
	p := startProcess(t, "--reasoning-engine", "openai", "--reasoning-model", "scripted", "--reasoning-base-url", cfg.Mind.Model.BaseURL)
	d := stocked(t)
	p.register(d.registration())
	const words = `crate "k1" wants labelling, azure it should say`
	first := make(chan chatted, 1)
	go func() { first <- p.chat(words, "0") }()
	eventually(t, "the model to be asked", func() (int, bool) { return server.Count(), server.Count() == 1 })
	p.kill()
	<-first
	p.start()
	again := p.chat(words, "1")
	if again.err != nil || server.Count() != 2 {
		t.Errorf("%+v after %d requests", again, server.Count())
	}
	third := p.chat(words, "2")
	if third.err != nil || server.Count() != 2 {
		t.Errorf("a repeat that was answered asked again: %+v, %d requests", third, server.Count())
	}
}

func TestAMessageThatTheModelReads(t *testing.T) {
	t.Parallel()
	const words = `crate "k1" wants labelling, azure it should say`
	t.Run("with it", func(t *testing.T) {
		t.Parallel()
		server, model := modelled(t, app.EngineAnthropic, says(scripted.Rule{Contains: "azure", Answer: calls("put_keyed", map[string]any{"id": "k1", "value": "azure"})}), byModel)
		s := startSite(t, model)
		d := stocked(t)
		s.register(d.registration())
		r := s.ask(words)
		if server.Count() != 1 || r.Tokens.In == 0 || r.Tokens.Out == 0 {
			t.Errorf("%d requests, %+v", server.Count(), r.Tokens)
		}
		if len(r.Interrupts) != 1 {
			t.Fatalf("%s", asJSON(r))
		}
	})
	t.Run("without it", func(t *testing.T) {
		t.Parallel()
		_, model := modelled(t, app.EngineOpenAI, says(scripted.Rule{Answer: scripted.Answer{Fault: scripted.FaultKey}}), byModel)
		s := startSite(t, model)
		d := stocked(t)
		s.register(d.registration())
		if r := s.ask(`what is for lunch today`); r.Answer == nil || !strings.Contains(asJSON(r.Answer), "Read without the model") {
			t.Errorf("%s", asJSON(r))
		}
	})
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		server, model := modelled(t, app.EngineOpenAI, says())
		s := startSite(t, model)
		d := stocked(t)
		s.register(d.registration())
		if s.ask(words); server.Count() != 0 {
			t.Errorf("%d requests", server.Count())
		}
	})
}
