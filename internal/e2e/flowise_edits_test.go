package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

// sentenceEdit is a sentence, and what it must do to a flow and to nothing else.
// The graphs here are read as plain JSON: nothing of the domain is believed.
type sentenceEdit struct {
	say    string
	shows  string // what its gate must show
	change func(row, graph map[string]any)
}

// tally is the outcome of edits: done as said, or refused before a gate because of what
// the node takes.
type tally struct{ flows, whole, done, refused int }

// mostRefused is how many of a hundred edits may be refused: a made-up value is not
// always one that its parameter takes.
const mostRefused = 5

const editsPerFlow = 10

// TestEveryFlowTakesEditsBySentence plays ten sentences on each flow of the
// marketplace, and compares the flow on the server with the one before: what the
// sentence says is changed, and all else is as it was, to the last value.
//
// Without FLOWISE_EDITS a few flows take them; a part of a name plays the flows that
// have it, and "all" everything, with a report:
//
//	make measure-flowise-edits
func TestEveryFlowTakesEditsBySentence(t *testing.T) {
	t.Parallel()
	for where, server := range flowiseServers() {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			endpoint, key := server(t)
			m := &flowMarket{T: t, s: startSite(t), endpoint: endpoint, key: key}
			m.s.register(contracts.Registration{Domain: "flowise", URL: serveFlowise(t, endpoint, key)})
			wanted := os.Getenv("FLOWISE_EDITS")
			var templates []template
			m.call(http.MethodGet, "/marketplaces/templates", nil, &templates)
			if wanted != "" {
				templates = append(templates, m.older()...)
			}
			var sum tally
			var wrong []string
			for _, template := range templates {
				kind := map[string]string{"Chatflow": "CHATFLOW", "AgentflowV2": "AGENTFLOW", "Agentflow": "MULTIAGENT"}[template.Type]
				if kind == "" || wanted == "" && sum.flows == 2 || wanted != "" && wanted != "all" && !strings.Contains(template.TemplateName, wanted) {
					continue // a tool is no flow
				}
				sum.flows++
				done, refused, faults := m.play(fmt.Sprintf("Edited %s %d", strconv.FormatInt(time.Now().UnixNano()%1e6, 36), sum.flows), kind, template.FlowData)
				sum.done, sum.refused = sum.done+done, sum.refused+refused
				if done+refused+len(faults) == editsPerFlow {
					sum.whole++
				}
				for _, f := range faults {
					wrong = append(wrong, template.TemplateName+": "+f)
				}
			}
			t.Logf("%d flows, %d of them with %d edits; %d edits as said, %d refused before a gate, %d wrong", sum.flows, sum.whole, editsPerFlow, sum.done, sum.refused, len(wrong))
			if 100*sum.refused > mostRefused*(sum.done+sum.refused) {
				t.Errorf("%d of %d edits were refused", sum.refused, sum.done+sum.refused)
			}
			if wanted == "all" && where == "a real one" && sum.whole < 40 {
				t.Errorf("only %d flows took %d edits", sum.whole, editsPerFlow)
			}
			for _, w := range wrong {
				t.Error(w)
			}
		})
	}
}

type template struct{ TemplateName, FlowData, Type string }

// older are the flows that a Flowise comes with and does not list any more.
func (m *flowMarket) older() []template {
	m.Helper()
	files, _ := filepath.Glob(filepath.Join(os.Getenv("FLOWISE_DIR"), "node_modules", "flowise", "marketplaces", "agentflows", "*.json"))
	var out []template
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			m.Fatal(err)
		}
		out = append(out, template{filepath.Base(file), string(body), "Agentflow"})
	}
	return out
}

type flowMarket struct {
	*testing.T
	s             *site
	endpoint, key string
}

func (m *flowMarket) call(method, path string, body, out any) {
	m.Helper()
	var text string
	if body != nil {
		text = asJSON(body)
	}
	status, answer := overHTTP(m.T, method, m.endpoint+"/api/v1"+path, m.key, text)
	if err := json.Unmarshal(answer, out); err != nil || status != http.StatusOK {
		m.Fatalf("%s %s: %d %v %.200s", method, path, status, err, answer)
	}
}

// play saves a flow as somebody in Flowise does, edits it by sentences, and tells
// how many did just what they say, and how many were refused and did nothing.
func (m *flowMarket) play(name, kind, flowData string) (done, refused int, wrong []string) {
	m.Helper()
	var made struct{ ID string }
	m.call(http.MethodPost, "/chatflows", map[string]any{"name": name, "type": kind, "flowData": flowData}, &made)
	defer m.call(http.MethodDelete, "/chatflows/"+made.ID, nil, &struct{}{})
	for _, e := range editsOf(m.T, name, flowData) {
		before, graphBefore := m.row(made.ID)
		said := m.s.edited(e.say, e.shows)
		if said == "" {
			e.change(before, graphBefore)
		}
		after, graphAfter := m.row(made.ID)
		same := reflect.DeepEqual(loose(graphBefore), loose(graphAfter)) && reflect.DeepEqual(before, after)
		switch {
		case !same:
			wrong = append(wrong, e.say+": it did something else: "+said)
		case said == "":
			done++
		case strings.Contains(said, `"type": "precondition"`):
			m.Logf("refused: %s: %s", e.say, said)
			refused++
		default:
			wrong = append(wrong, e.say+": "+said)
		}
	}
	return done, refused, wrong
}

// row reads a flow: its settings, and its graph as plain JSON.
func (m *flowMarket) row(id string) (row, graph map[string]any) {
	m.Helper()
	m.call(http.MethodGet, "/chatflows/"+id, nil, &row)
	text, _ := row["flowData"].(string)
	if err := json.Unmarshal([]byte(text), &graph); err != nil {
		m.Fatal(err)
	}
	delete(row, "flowData")
	delete(row, "updatedDate")
	return row, graph
}

// loose makes numbers and truths of texts, which Flowise takes for the same.
func loose(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if k != "display" { // which parameters the canvas shows follows from the others
				out[k] = loose(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = loose(inner)
		}
		return out
	case float64, bool:
		return fmt.Sprint(v)
	}
	return v
}

// edited asks for an edit and approves it if the gate shows what it must; "" is done, else
// it says what came.
func (s *site) edited(sentence, shows string) string {
	r := s.ask(sentence)
	if len(r.RunIDs) == 0 {
		if r.Interrupt != nil {
			return "asked: " + r.Interrupt.Prompt
		}
		return "declined: " + textOf(r.Answer)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		view, err := s.rita.Run(s.t.Context(), r.RunIDs[0], client.Opt{})
		if err != nil {
			return err.Error()
		}
		if view.State == contracts.RunCompleted {
			return ""
		}
		if view.State.Terminal() {
			return states2text(view)
		}
		for _, i := range view.Interrupts {
			if i.Status != contracts.InterruptOpen {
				continue
			}
			if i.Type != contracts.InterruptWriteApproval {
				return "asked: " + i.Prompt
			}
			if shown := i.Prompt + fmt.Sprint(i.Evidence); !strings.Contains(shown, shows) {
				return fmt.Sprintf("the gate does not show %q: %s", shows, shown)
			}
			s.approve(i)
		}
	}
	return "it did not end"
}

// editsOf writes ten sentences for a flow, from what stands in its graph: names,
// the category, then parameters of its nodes, texts and numbers and switches.
func editsOf(t *testing.T, name, flowData string) []sentenceEdit {
	t.Helper()
	var graph struct {
		Nodes []struct{ Data map[string]any }
	}
	if err := json.Unmarshal([]byte(flowData), &graph); err != nil {
		t.Fatal(err)
	}
	out := []sentenceEdit{
		{fmt.Sprintf(`move the chatflow "%s" to the folder "HR"`, name), "HR", func(row, _ map[string]any) { row["category"] = "HR" }},
		{fmt.Sprintf(`deploy the chatflow "%s"`, name), "deploy", func(row, _ map[string]any) { row["deployed"] = true }},
	}
	if models := ofRole(graph.Nodes, "Chat Models", "temperature"); len(models) == 1 && strings.Count(strings.ToLower(flowData), "temperature\":\"") == 1 {
		out = append(out, sentenceEdit{
			fmt.Sprintf(`set the temperature of the chatflow "%s" to 0.37`, name), "0.37",
			func(_, graph map[string]any) { setIn(graph, models[0], "temperature", "0.37") },
		})
	}
	var settable [][3]string // node, parameter, value; one of each node in turn, so that many nodes are met
	byNode := map[string][][3]string{}
	for _, n := range graph.Nodes {
		id, _ := n.Data["id"].(string)
		params, _ := n.Data["inputParams"].([]any)
		times := map[string]int{}
		for _, p := range params {
			param, _ := p.(map[string]any)
			times[fmt.Sprint(param["name"])]++
		}
		for i, p := range params {
			param, _ := p.(map[string]any)
			called, _ := param["name"].(string)
			value := map[string]string{"number": strconv.Itoa(3 + i), "string": "Changed by words", "boolean": "true"}[fmt.Sprint(param["type"])]
			inputs, _ := n.Data["inputs"].(map[string]any)
			held, has := inputs[called]
			shown := param["show"] == nil && param["hide"] == nil && times[called] == 1
			// An iteration repeats over a list, which no made-up text is.
			if value == "" || !has || !shown || called == "iterationInput" || fmt.Sprint(held) == value || strings.Contains(fmt.Sprint(held), "data.instance") {
				continue
			}
			byNode[id] = append(byNode[id], [3]string{id, called, value})
		}
	}
	ids := slices.Sorted(maps.Keys(byNode))
	for round := range 20 {
		for _, id := range ids {
			if round < len(byNode[id]) {
				settable = append(settable, byNode[id][round])
			}
		}
	}
	for i := range editsPerFlow - len(out) {
		if len(settable) == 0 {
			break
		}
		s := settable[i%len(settable)]
		node, param, value := s[0], s[1], again(s[2], i/len(settable))
		out = append(out, sentenceEdit{
			fmt.Sprintf(`set the parameter %s of the node %s of the chatflow "%s" to "%s"`, param, node, name, value),
			node + "." + param,
			func(_, graph map[string]any) { setIn(graph, node, param, value) },
		})
	}
	return out
}

// ofRole lists the nodes of a category that hold a parameter.
func ofRole(nodes []struct{ Data map[string]any }, category, param string) []string {
	var out []string
	for _, n := range nodes {
		inputs, _ := n.Data["inputs"].(map[string]any)
		if _, has := inputs[param]; has && n.Data["category"] == category {
			out = append(out, fmt.Sprint(n.Data["id"]))
		}
	}
	return out
}

// again is another value of the same kind, for the rounds after the first.
func again(value string, round int) string {
	if n, err := strconv.Atoi(value); err == nil {
		return strconv.Itoa(n + 10*round)
	}
	switch {
	case value == "true" && round%2 == 1:
		return "false"
	case value == "true" || round == 0:
		return value
	}
	return fmt.Sprintf("%s %d times", value, round+1)
}

// setIn changes one input of one node in plain JSON.
func setIn(graph map[string]any, node, param, value string) {
	nodes, _ := graph["nodes"].([]any)
	for _, n := range nodes {
		outer, _ := n.(map[string]any)
		data, _ := outer["data"].(map[string]any)
		if inputs, is := data["inputs"].(map[string]any); is && data["id"] == node {
			inputs[param] = value
		}
	}
}
