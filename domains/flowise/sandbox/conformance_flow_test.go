package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domains/flowise/internal/api"
)

// node returns a node with only what the runtime reads.
func node(id, name, category, inputs, params, outputs string) string {
	return fmt.Sprintf(`{"id":%q,"type":"customNode","position":{"x":0,"y":0},"data":{"id":%q,"label":%q,"version":1,"name":%q,"type":%q,`+
		`"category":%q,"baseClasses":[],"inputs":%s,"inputParams":%s,"inputAnchors":[],"outputAnchors":[],"outputs":%s}}`,
		id, id, id, name, name, category, inputs, params, outputs)
}

func joined(source, handle, target string) string {
	return fmt.Sprintf(`{"source":%q,"sourceHandle":%q,"target":%q,"targetHandle":%q,"type":"agentFlow","id":"%s-%s"}`,
		source, handle, target, target, source, target)
}

func graphOf(nodes, edges string) string { return `{"nodes":[` + nodes + `],"edges":[` + edges + `]}` }

const accepts = `[{"label":"Message","name":"directReplyMessage","type":"string","acceptVariable":true}]`

func echo(code string) string {
	text, err := json.Marshal(code)
	if err != nil {
		return ""
	}
	return graphOf(node("customFunction_0", "customFunction", "Utilities", `{"javascriptFunction":`+string(text)+`}`, "[]", `{"output":"EndingNode"}`), "")
}

func pong(params string) string {
	return graphOf(
		node("startAgentflow_0", "startAgentflow", "Agent Flows", `{"startInputType":"chatInput"}`, "[]", "{}")+","+
			node("directReplyAgentflow_0", "directReplyAgentflow", "Agent Flows", `{"directReplyMessage":"Pong: {{ question }}"}`, params, "{}"),
		joined("startAgentflow_0", "startAgentflow_0-output-startAgentflow", "directReplyAgentflow_0"))
}

// saved stores a flow on the server for one test.
func saved(t *testing.T, client *api.Client, kind api.FlowType, data string) api.Flow {
	t.Helper()
	f, err := client.CreateFlow(t.Context(), api.NewFlow{ID: newID(t), Name: t.Name(), Type: kind, FlowData: data})
	if err != nil {
		t.Fatal(err)
	}
	removed(t, client, f.ID)
	return f
}

func function(t *testing.T, _ target, client *api.Client) {
	f := saved(t, client, api.Chatflow, echo(`return "echo:" + $flow.input`))
	for _, ask := range []func() (api.Answer, error){
		func() (api.Answer, error) { return client.Predict(t.Context(), f.ID, api.Question{Question: "hi"}) },
		func() (api.Answer, error) {
			return client.Stream(t.Context(), f.ID, api.Question{Question: "hi"}, func(api.Event) error { return nil })
		},
	} {
		got, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != "echo:hi" || got.Question != "hi" || got.ChatID == "" || got.ChatMessageID == "" || got.SessionID != got.ChatID || got.Streamed {
			t.Errorf("answer = %+v", got)
		}
	}
	number := saved(t, client, api.Chatflow, echo(`return 40 + 2`))
	_, err := client.Predict(t.Context(), number.ID, api.Question{Question: "hi"})
	wantError(t, err, api.KindFailed, "Cannot create property 'question' on number '42'")
}

func agentFlow(t *testing.T, _ target, client *api.Client) {
	f := saved(t, client, api.Agentflow, pong(accepts))
	whole, err := client.Predict(t.Context(), f.ID, api.Question{Question: "hi", ChatID: "chat-1"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	pieces, err := client.Stream(t.Context(), f.ID, api.Question{Question: "hi", ChatID: "chat-1"}, func(e api.Event) error {
		if len(names) == 0 || names[len(names)-1] != e.Name {
			names = append(names, e.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"agentFlowEvent", "nextAgentFlow", "agentFlowExecutedData", "nextAgentFlow", "token", "nextAgentFlow",
		"agentFlowExecutedData", "agentFlowEvent", "metadata", "end",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for name, got := range map[string]api.Answer{"whole": whole, "in pieces": pieces} {
		if got.Text != "Pong: hi" || got.ChatID != "chat-1" || got.SessionID != "chat-1" || len(got.Steps) != 2 {
			t.Errorf("%s: %+v", name, got)
		}
		if len(got.Steps) == 2 && (got.Steps[1].NodeID != "directReplyAgentflow_0" || got.Steps[1].Status != "FINISHED") {
			t.Errorf("%s: last step = %+v", name, got.Steps[1])
		}
	}
	if !pieces.Streamed || whole.Streamed || whole.ExecutionID == "" {
		t.Errorf("streamed: %v, %v; execution %q", pieces.Streamed, whole.Streamed, whole.ExecutionID)
	}
}

// history: answers are stored under the caller's chat id, also within another chat's conversation.
// A failed flow stores nothing, except for an answer on which the server itself failed afterwards.
func history(t *testing.T, _ target, client *api.Client) {
	for name, f := range map[string]api.Flow{
		"chatflow":  saved(t, client, api.Chatflow, echo(`return "Pong: " + $flow.input`)),
		"agentflow": saved(t, client, api.Agentflow, pong(accepts)),
	} {
		got, err := client.Predict(t.Context(), f.ID, api.Question{Question: "hi", ChatID: "mine", Override: map[string]any{"sessionId": "talk"}})
		if err != nil || got.ChatID != "mine" || got.SessionID != "talk" {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		if _, err := client.Predict(t.Context(), f.ID, api.Question{Question: "other", ChatID: "other"}); err != nil {
			t.Fatal(err)
		}
		rows, err := client.History(t.Context(), f.ID, "mine")
		if err != nil || len(rows) != 2 {
			t.Fatalf("%s: %+v %v", name, rows, err)
		}
		if rows[0].Role != api.RoleUser || rows[0].Content != "hi" || rows[1].Role != api.RoleFlow || rows[1].Content != got.Text ||
			rows[1].ID != got.ChatMessageID || rows[1].SessionID != "talk" {
			t.Errorf("%s: %+v, answered %+v", name, rows, got)
		}
		if err := client.DeleteFlow(t.Context(), f.ID); err != nil {
			t.Fatal(err)
		}
		_, err = client.History(t.Context(), f.ID, "mine")
		wantError(t, err, api.KindNotFound, "Unauthorized access")
	}
	_, err := client.History(t.Context(), newID(t), "")
	wantError(t, err, api.KindInvalid, "no chat is named")
	for code, want := range map[string]struct {
		says string
		rows int
	}{
		`return $nowhere`: {"$nowhere is not defined", 0},
		`return 40 + 2`:   {"Cannot create property", 2},
	} {
		failing := saved(t, client, api.Chatflow, echo(code))
		_, err := client.Predict(t.Context(), failing.ID, api.Question{Question: "hi", ChatID: "mine"})
		wantError(t, err, api.KindFailed, want.says)
		if rows, err := client.History(t.Context(), failing.ID, "mine"); err != nil || len(rows) != want.rows {
			t.Errorf("%s: %+v %v", code, rows, err)
		}
	}
}

// form: values fill the variables of a flow with a form and stay for the conversation; without them
// the variables stay as text.
func form(t *testing.T, _ target, client *api.Client) {
	f := saved(t, client, api.Agentflow, graphOf(
		node("startAgentflow_0", "startAgentflow", "Agent Flows", `{"startInputType":"formInput","formInputTypes":[{"type":"string","label":"Name","name":"name"}]}`, "[]", "{}")+","+
			node("directReplyAgentflow_0", "directReplyAgentflow", "Agent Flows", `{"directReplyMessage":"{{ $form.name }}/{{ $form.age }}/{{ question }}"}`, accepts, "{}"),
		joined("startAgentflow_0", "startAgentflow_0-output-startAgentflow", "directReplyAgentflow_0")))
	for _, step := range []struct {
		ask  api.Question
		says string
	}{
		{api.Question{Form: map[string]any{"name": "Ana", "age": 7}, ChatID: "filled"}, "Ana/7/"},
		{api.Question{Question: "more", ChatID: "filled"}, "Ana/7/more"},
		{api.Question{Form: map[string]any{"name": "Bob"}, ChatID: "half"}, "Bob/{{ $form.age }}/"},
		{api.Question{Question: "hi", ChatID: "none"}, "{{ $form.name }}/{{ $form.age }}/hi"},
	} {
		got, err := client.Predict(t.Context(), f.ID, step.ask)
		if err != nil || got.Text != step.says {
			t.Errorf("%+v: %q %v, want %q", step.ask, got.Text, err, step.says)
		}
	}
	rows, err := client.History(t.Context(), f.ID, "filled")
	if err != nil || len(rows) != 4 || rows[0].Content != "age: 7\nname: Ana" {
		t.Errorf("history %+v %v", rows, err)
	}
	_, err = client.Predict(t.Context(), f.ID, api.Question{Question: "hi", Form: map[string]any{"name": "Ana"}})
	wantError(t, err, api.KindFailed, "Question and form cannot be provided at the same time")
}

func condition(t *testing.T, _ target, client *api.Client) {
	params := `[{"label":"Conditions","name":"conditions","type":"array","acceptVariable":true,"array":[` +
		`{"label":"Value 1","name":"value1","type":"string","acceptVariable":true},{"label":"Operation","name":"operation","type":"options"},` +
		`{"label":"Value 2","name":"value2","type":"string","acceptVariable":true}]}]`
	reply := func(id, text string) string {
		return node(id, "directReplyAgentflow", "Agent Flows", `{"directReplyMessage":"`+text+`"}`, accepts, "{}")
	}
	f := saved(t, client, api.Agentflow, graphOf(
		node("startAgentflow_0", "startAgentflow", "Agent Flows", `{"startInputType":"chatInput"}`, "[]", "{}")+","+
			node("conditionAgentflow_0", "conditionAgentflow", "Agent Flows",
				`{"conditions":[{"type":"string","value1":"{{ question }}","operation":"contains","value2":"yes"}]}`, params, "{}")+","+
			reply("directReplyAgentflow_0", "YES")+","+reply("directReplyAgentflow_1", "ELSE"),
		joined("startAgentflow_0", "startAgentflow_0-output-startAgentflow", "conditionAgentflow_0")+","+
			joined("conditionAgentflow_0", "conditionAgentflow_0-output-0", "directReplyAgentflow_0")+","+
			joined("conditionAgentflow_0", "conditionAgentflow_0-output-1", "directReplyAgentflow_1")))
	for question, want := range map[string]string{"oh yes": "YES", "no": "ELSE"} {
		got, err := client.Predict(t.Context(), f.ID, api.Question{Question: question})
		if err != nil || got.Text != want {
			t.Errorf("%s: %q, %v, want %s", question, got.Text, err, want)
		}
	}
}

func unlisted(t *testing.T, _ target, client *api.Client) {
	f := saved(t, client, api.Agentflow, pong("[]"))
	got, err := client.Predict(t.Context(), f.ID, api.Question{Question: "hi"})
	if err != nil || got.Text != "Pong: {{ question }}" {
		t.Errorf("answer = %q, %v, want the text as it stands in the node", got.Text, err)
	}
}

func failingGraphs(t *testing.T, _ target, client *api.Client) {
	end := `{"output":"EndingNode"}`
	fn := func(id, outputs string) string {
		return node(id, "customFunction", "Utilities", `{"javascriptFunction":"return \"x\""}`, "[]", outputs)
	}
	for name, tc := range map[string]struct {
		kind       api.FlowType
		data, want string
	}{
		"nothing in it":                         {api.Chatflow, `{"nodes":[],"edges":[]}`, "Ending nodes not found"},
		"a node of unknown name":                {api.Chatflow, graphOf(node("a_0", "nope", "Chains", "{}", "[]", "{}"), ""), "reading 'filePath'"},
		"no outputs":                            {api.Chatflow, graphOf(fn("customFunction_0", "{}"), ""), "Ending node must be either a Chain or Agent or Engine"},
		"an edge from nowhere":                  {api.Chatflow, graphOf(fn("customFunction_0", end)+","+fn("customFunction_1", end), joined("gone_0", "h", "customFunction_0")), "reading 'flatMap'"},
		"a circle":                              {api.Chatflow, graphOf(fn("a_0", end)+","+fn("a_1", end), joined("a_0", "h", "a_1")+","+joined("a_1", "h", "a_0")), "Ending nodes not found"},
		"an agent flow as a chat":               {api.Chatflow, pong(accepts), "Ending node must be either a Chain or Agent or Engine"},
		"an edge to nowhere from the only node": {api.Chatflow, graphOf(fn("a_0", end), joined("a_0", "h", "gone_0")), "Ending nodes not found"},
		"no start":                              {api.Agentflow, `{"nodes":[],"edges":[]}`, "Start input type not found"},
	} {
		f := saved(t, client, tc.kind, tc.data)
		_, err := client.Predict(t.Context(), f.ID, api.Question{Question: "hi"})
		if !api.IsKind(err, api.KindFailed) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
