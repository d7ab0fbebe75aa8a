package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/flowise"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// flowiseRequest is one line of such a file.
type flowiseRequest struct {
	Say, Useful string
	// Calls are what a model answers that understands it, if one is to be asked.
	Calls []scripted.Call
}

// TestMeasureFlowiseRequests plays a file of requests, {"requests": [{"say",
// "useful", "calls"}]}, against a real Flowise with a small world of flows, and prints what
// became of each: what was answered, which gate opened and how it ended once
// approved, what was asked back. Whether that is what was wanted, a person judges.
// Where requests have calls, [{"name", "arguments"}], a model reads the messages and
// answers with these, unless FLOWISE_READER is local. {yesterday}, {month} and {year} stand for days.
//
//	make measure-flowise REQUESTS=file.json
func TestMeasureFlowiseRequests(t *testing.T) {
	path := os.Getenv("FLOWISE_REQUESTS")
	if path == "" {
		t.Skip("FLOWISE_REQUESTS names no file")
	}
	raw, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Requests []flowiseRequest `json:"requests"`
	}
	now := time.Now().UTC()
	dates := strings.NewReplacer("{yesterday}", now.AddDate(0, 0, -1).Format(time.DateOnly), "{month}", now.Format("2006-01")+"-01", "{year}", now.Format("2006")+"-01-01")
	if err := json.Unmarshal([]byte(dates.Replace(string(raw))), &file); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("FLOWISE_URL") == "" {
		t.Fatal("FLOWISE_URL and FLOWISE_KEY name no server; make measure-flowise starts one")
	}
	encoder := func(c *app.Config) { c.Embeddings.From = cmp.Or(os.Getenv("FLOWISE_EMBEDDINGS"), "auto") }
	s := startSite(t, append(understanding(t, file.Requests), encoder)...)
	w := newFlowiseWorld(t, os.Getenv("FLOWISE_URL"), os.Getenv("FLOWISE_KEY"))
	s.register(contracts.Registration{Domain: "flowise", URL: w.url})
	w.build()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "#\tOUTCOME\tREQUEST\tWHAT HAPPENED\tWANTED")
	for i, r := range file.Requests {
		outcome, what := s.measure(r.Say)
		_, _ = fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\n", i+1, outcome, r.Say, oneLine(what), r.Useful)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}

// understanding puts a model behind the server that answers the requests with their calls.
func understanding(t *testing.T, requests []flowiseRequest) []func(*app.Config) {
	t.Helper()
	var rules []scripted.Rule
	for _, r := range requests {
		if len(r.Calls) > 0 {
			rules = append(rules, scripted.Rule{Contains: r.Say, Answer: scripted.Answer{Calls: r.Calls}})
		}
	}
	if len(rules) == 0 || os.Getenv("FLOWISE_READER") == "local" {
		return nil
	}
	_, model := modelled(t, app.EngineOpenAI, says(rules...), byModel)
	return []func(*app.Config){model}
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 400 {
		return string(runes[:399]) + "…"
	}
	return text
}

// measure says the outcome of one request.
func (s *site) measure(sentence string) (outcome, what string) {
	r, err := s.rita.StartSession(s.t.Context(), contracts.StartSession{Message: sentence}, wait())
	if err != nil {
		return "error", err.Error()
	}
	if len(r.RunIDs) == 0 {
		if r.Interrupt != nil {
			return "asked", r.Interrupt.Prompt + " " + optionsText(*r.Interrupt)
		}
		return "declined", textOf(r.Answer)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		view, err := s.rita.Run(s.t.Context(), r.RunIDs[0], client.Opt{})
		if err != nil {
			return "error", err.Error()
		}
		if view.State.Terminal() {
			return s.finished(view, r.SessionID, outcome, what)
		}
		open, err := s.rita.Gates(s.t.Context(), client.GatesFilter{RunID: r.RunIDs[0], Status: contracts.InterruptOpen})
		if err != nil || len(open) == 0 {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		gate := open[0]
		if gate.Type != contracts.InterruptWriteApproval {
			return "asked", gate.Prompt + " " + optionsText(gate)
		}
		outcome, what = "gate", gate.Prompt
		for _, e := range gate.Evidence {
			if strings.HasSuffix(e.Path, ".label") {
				what += fmt.Sprintf(" | %v", e.Value)
			}
		}
		if _, err := s.otto.Approve(s.t.Context(), gate, "", client.Opt{}); err != nil {
			return outcome, what + " | " + err.Error()
		}
	}
	return "late", what
}

func (s *site) finished(view contracts.RunView, session, outcome, what string) (string, string) {
	text := ""
	if done, err := s.rita.AwaitSession(s.t.Context(), session); err == nil {
		text = textOf(done.Answer)
	}
	for _, n := range view.Nodes {
		if n.Error != nil {
			text = n.Error.Message
		}
	}
	if outcome == "" {
		return string(view.State), text
	}
	return outcome + "→" + string(view.State), what + " | " + text
}

func optionsText(i contracts.Interrupt) string {
	var out []string
	for _, o := range i.Options {
		out = append(out, o.Label)
	}
	return "[" + strings.Join(out, "; ") + "]"
}

// flowiseWorld is a Flowise domain with three servers, of which the first has a few
// flows.
type flowiseWorld struct {
	bot, greeter string // what two chatflows are called, if not "Support Bot" and "Greeter"

	*testing.T
	url              string
	endpoint, apiKey string // of the first
	key              int
}

func newFlowiseWorld(t *testing.T, endpoint, apiKey string) *flowiseWorld {
	t.Helper()
	instances := []flowise.Instance{{ID: "dev", Endpoint: endpoint, APIKey: apiKey, Default: true}}
	for _, id := range []string{"staging", "production"} {
		server, err := sandbox.New(sandbox.Config{})
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(server)
		t.Cleanup(front.Close)
		instances = append(instances, flowise.Instance{ID: id, Endpoint: front.URL, APIKey: server.Key()})
	}
	return &flowiseWorld{T: t, url: serveFlowises(t, instances...), endpoint: endpoint, apiKey: apiKey}
}

func (w *flowiseWorld) execute(capability string, parameters map[string]any) map[string]any {
	w.Helper()
	w.key++
	_, out := domaintest.Execute(w, w.url, capability, parameters, map[string]any{
		"run_id": "world", "node_id": "n", "attempt": 1, "idempotency_key": fmt.Sprintf("world %d %d", w.key, time.Now().UnixNano()),
	})
	if !out.OK {
		w.Fatalf("%s: %v %v", capability, out.Error, out.Error.Detail)
	}
	return out.Facts
}

type ops = []map[string]any

func node(kind string, params map[string]any) map[string]any {
	return map[string]any{"op_type": "AddNode", "node_name": kind, "node_id": kind + "_0", "params": params}
}

func link(from, to, anchor string) map[string]any {
	return map[string]any{"op_type": "Connect", "source_node_id": from + "_0", "target_node_id": to + "_0", "target_anchor": anchor}
}

// build empties the server and makes the flows that requests speak of. A server that
// others use at the same time is not to be emptied.
func (w *flowiseWorld) build() {
	w.Helper()
	w.empty()
	w.make()
}

func (w *flowiseWorld) empty() {
	w.Helper()
	for {
		flows, _ := w.execute("list_chatflows", map[string]any{"limit": 50})["chatflows"].([]any)
		if len(flows) == 0 {
			break
		}
		for _, f := range flows {
			row, _ := f.(map[string]any)
			state := w.execute("get_chatflow", map[string]any{"chatflow_id": row["chatflow_id"]})["state_sha256"]
			w.execute("delete_chatflow", map[string]any{"chatflow_id": row["chatflow_id"], "base_sha256": state})
		}
	}
}

// make makes the flows that requests speak of.
func (w *flowiseWorld) make() {
	w.Helper()
	credential := w.credential("Team OpenAI")
	w.credential("Other OpenAI")
	chat := func(prompt string) ops {
		return ops{
			node("chatOpenAI", map[string]any{"modelName": "gpt-4o", "temperature": "0.9"}), node("bufferMemory", nil),
			node("conversationChain", map[string]any{"systemMessagePrompt": prompt}),
			{"op_type": "BindCredential", "node_id": "chatOpenAI_0", "credential_id": credential},
			link("chatOpenAI", "conversationChain", "model"), link("bufferMemory", "conversationChain", "memory"),
		}
	}
	support := w.create(cmp.Or(w.bot, "Support Bot"), chat("You help customers"))
	for _, prompt := range []string{"Help them politely", "Help them briefly", "Help them in English", "Help them well"} {
		w.setPrompt(support, prompt)
	}
	helper := w.create("Customer Helper", chat("You are the first"))
	w.setPrompt(helper, "You are the second")
	w.create("Onboarding", chat("You welcome colleagues"))
	w.create("Helper", chat("You help"))
	w.execute("create_chatflow", map[string]any{"name": cmp.Or(w.greeter, "Greeter"), "reply": "Hello"})
	w.create("Sales agent", ops{
		node("chatOpenAI", map[string]any{"modelName": "gpt-4o"}), node("bufferMemory", nil), node("currentDateTime", nil), node("toolAgent", nil),
		{"op_type": "BindCredential", "node_id": "chatOpenAI_0", "credential_id": credential},
		link("chatOpenAI", "toolAgent", "model"), link("bufferMemory", "toolAgent", "memory"), link("currentDateTime", "toolAgent", "tools"),
	})
	w.create("FAQ RAG", ops{
		node("plainText", map[string]any{"text": "We are open from nine to five."}), node("openAIEmbeddings", nil), node("memoryVectorStore", nil),
		node("chatOpenAI", map[string]any{"modelName": "gpt-4o"}), node("conversationalRetrievalQAChain", nil),
		{"op_type": "BindCredential", "node_id": "chatOpenAI_0", "credential_id": credential},
		{"op_type": "BindCredential", "node_id": "openAIEmbeddings_0", "credential_id": credential},
		link("plainText", "memoryVectorStore", "document"), link("openAIEmbeddings", "memoryVectorStore", "embeddings"),
		link("chatOpenAI", "conversationalRetrievalQAChain", "model"),
		{"op_type": "Connect", "source_node_id": "memoryVectorStore_0", "source_anchor": "retriever", "target_node_id": "conversationalRetrievalQAChain_0", "target_anchor": "vectorStoreRetriever"},
	})
	broken := chat("You answer questions about holidays")
	w.save("HR bot", append(broken[:3:3], broken[4:]...))
}

func (w *flowiseWorld) create(name string, edits ops) string {
	w.Helper()
	id, _ := w.execute("create_chatflow", map[string]any{"name": name, "ops": edits})["chatflow_id"].(string)
	return id
}

func (w *flowiseWorld) setPrompt(id, prompt string) {
	w.Helper()
	base := w.execute("get_chatflow", map[string]any{"chatflow_id": id})["sha256"]
	w.execute("set_prompt", map[string]any{"chatflow_id": id, "prompt": prompt, "base_sha256": base})
}

// credential makes a credential on the first server.
func (w *flowiseWorld) credential(name string) string {
	w.Helper()
	all, _ := w.execute("list_credentials", map[string]any{"limit": 60})["credentials"].([]any)
	for _, c := range all {
		if row, _ := c.(map[string]any); row["name"] == name {
			id, _ := row["credential_id"].(string)
			return id
		}
	}
	var made struct{ ID string }
	w.direct("/credentials", map[string]any{"name": name, "credentialName": "openAIApi", "plainDataObj": map[string]any{"openAIApiKey": "sk-none"}}, &made)
	return made.ID
}

// save puts a flow on the server past the domain, as somebody in Flowise does.
func (w *flowiseWorld) save(name string, edits ops) {
	w.Helper()
	_, made := domaintest.Execute(w, w.url, "compile_flow", map[string]any{"ops": edits}, map[string]any{"run_id": "world", "node_id": "n", "attempt": 1})
	var graph string
	if err := json.Unmarshal(made.Artifacts["flow_data"], &graph); err != nil {
		w.Fatalf("%v %v", err, made.Error)
	}
	w.direct("/chatflows", map[string]any{"name": name, "type": "CHATFLOW", "flowData": graph}, &struct{}{})
}

func (w *flowiseWorld) direct(path string, body map[string]any, out any) {
	w.Helper()
	status, answer := overHTTP(w.T, "POST", w.endpoint+"/api/v1"+path, w.apiKey, asJSON(body))
	if err := json.Unmarshal(answer, out); err != nil || status != 200 {
		w.Fatalf("%s: %d %s", path, status, answer)
	}
}
