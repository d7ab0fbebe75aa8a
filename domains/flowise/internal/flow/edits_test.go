package flow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// edit is a generated edit with its expected result. The label is derived only from the definitions
// and the flow, not from the code under test: "" is valid, a pointer means that the op is refused,
// "CATEGORY pointer" is a finding in the result.
type edit struct {
	ops, op, finding string
}

// generator generates edits of one flow.
type generator struct {
	random *rand.Rand
	defs   *knowledge.Snapshot
	kind   flow.Kind
	doc    object
	nodes  []object
	edges  []object
}

func newGenerator(tb testing.TB, s sample) *generator {
	tb.Helper()
	g := &generator{random: rand.New(rand.NewPCG(51, uint64(len(s.data)))), defs: definitions(tb), kind: s.kind, doc: document(tb, s.data)}
	g.nodes, g.edges = list(g.doc["nodes"]), list(g.doc["edges"])
	return g
}

func list(v any) []object {
	var out []object
	items, _ := v.([]any)
	for _, item := range items {
		if m, ok := item.(object); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(m object, key string) string {
	s, _ := m[key].(string)
	return s
}

func dataOf(n object) object {
	d, _ := n["data"].(object)
	return d
}

func pick[T any](g *generator, items []T) (one T, ok bool) {
	if len(items) == 0 {
		return one, false
	}
	return items[g.random.IntN(len(items))], true
}

func keep[T any](items []T, fits func(T) bool) []T {
	var out []T
	for _, item := range items {
		if fits(item) {
			out = append(out, item)
		}
	}
	return out
}

func quoted(format string, args ...any) string {
	for i, a := range args {
		raw, _ := json.Marshal(a) //nolint:errchkjson // texts and numbers
		args[i] = string(raw)
	}
	return fmt.Sprintf(format, args...)
}

// next returns an edit of a kind, or false if the flow has no place for it.
func (g *generator) next(kind int) (edit, bool) {
	switch kind % 10 {
	case 0:
		return edit{ops: `[{"op_type":"AddNode","node_name":"noSuchNode"}]`, op: "/0/node_name"}, true
	case 1:
		return g.addNote(), true
	case 2:
		return g.setText(`"another value"`, "")
	case 3:
		return g.setText(`{"an":"object"}`, "/0/value")
	case 4:
		return g.setUnknown()
	case 5:
		return g.setOption()
	case 6:
		return g.disconnect()
	case 7:
		return g.remove()
	case 8:
		return g.connectNew()
	default:
		return g.connectWrong()
	}
}

func (g *generator) addNote() edit {
	name := "stickyNote"
	if g.kind == flow.Agentflow {
		name = "stickyNoteAgentflow"
	}
	return edit{ops: quoted(`[{"op_type":"AddNode","node_name":%s,"params":{"note":"look here"}}]`, name)}
}

// setText sets a text parameter that the current canvas always displays.
func (g *generator) setText(value, label string) (edit, bool) {
	n, p, ok := g.param(func(p object) bool { return text(p, "type") == "string" && p["show"] == nil && p["hide"] == nil })
	if !ok {
		return edit{}, false
	}
	return edit{ops: quoted(`[{"op_type":"SetParam","node_id":%s,"param_name":%s,"value":`, text(n, "id"), text(p, "name")) + value + `}]`, op: label}, true
}

func (g *generator) setUnknown() (edit, bool) {
	n, ok := pick(g, g.nodes)
	return edit{ops: quoted(`[{"op_type":"SetParam","node_id":%s,"param_name":"noSuchParam","value":1}]`, text(n, "id")), op: "/0/param_name"}, ok
}

func (g *generator) setOption() (edit, bool) {
	n, p, ok := g.param(func(p object) bool {
		return text(p, "type") == "options" && len(list(p["options"])) > 0 && p["freeSolo"] == nil && p["show"] == nil && p["hide"] == nil
	})
	if !ok {
		return edit{}, false
	}
	option, label := "no such option", "/0/value"
	if g.random.IntN(2) == 0 && text(dataOf(n), "name") != "startAgentflow" {
		chosen, _ := pick(g, list(p["options"]))
		option, label = text(chosen, "name"), ""
	}
	return edit{ops: quoted(`[{"op_type":"SetParam","node_id":%s,"param_name":%s,"value":%s}]`, text(n, "id"), text(p, "name"), option), op: label}, true
}

// param returns a parameter with a unique name. Texts that are names or have a required form are
// left out: the definitions do not say which values are valid.
func (g *generator) param(fits func(object) bool) (node, param object, ok bool) {
	named := []string{"functionInputVariables", "iterationInput", "loopToName", "basepath", "includesTables", "ignoreTables"}
	for _, i := range g.random.Perm(len(g.nodes)) {
		params := list(dataOf(g.nodes[i])["inputParams"])
		once := keep(params, func(p object) bool {
			same := keep(params, func(q object) bool { return text(q, "name") == text(p, "name") })
			return len(same) == 1 && fits(p) && !slices.Contains(named, text(p, "name"))
		})
		if p, found := pick(g, once); found {
			return g.nodes[i], p, true
		}
	}
	return nil, nil, false
}

// hole removes a node whose only edge goes into an anchor that carries values, so that exactly this
// anchor is empty.
func (g *generator) hole(remove func(edge object) string) (edit, bool) {
	for _, i := range g.random.Perm(len(g.edges)) {
		e := g.edges[i]
		anchor, at, ok := g.anchor(e)
		if !ok || g.count("source", text(e, "source")) != 1 || g.count("target", text(e, "source")) != 0 {
			continue
		}
		out := edit{ops: remove(e)}
		if required(g.defs, anchor, dataOf(g.nodes[at])) && g.count("targetHandle", text(e, "targetHandle")) == 1 {
			removed := slices.IndexFunc(g.nodes, func(n object) bool { return text(n, "id") == text(e, "source") })
			if strings.Contains(out.ops, "RemoveNode") && removed < at {
				at--
			}
			out.finding = fmt.Sprintf("INCOMPLETE /nodes/%d/data/inputs/%s", at, text(anchor, "name"))
		}
		return out, true
	}
	return edit{}, false
}

// anchor returns the anchor at which an edge ends, in a node that is part of the run.
func (g *generator) anchor(e object) (anchor object, at int, ok bool) {
	at = slices.IndexFunc(g.nodes, func(n object) bool { return text(n, "id") == text(e, "target") })
	if at < 0 || g.kind != flow.Chatflow {
		return nil, 0, false
	}
	data := dataOf(g.nodes[at])
	inputs, _ := data["inputs"].(object)
	for _, a := range list(data["inputAnchors"]) {
		raw, _ := json.Marshal(inputs[text(a, "name")]) //nolint:errchkjson // decoded before
		whole := strings.Trim(string(raw), `[]"`) == "{{"+text(e, "source")+".data.instance}}"
		if text(a, "id") == text(e, "targetHandle") && (whole || a["list"] == true) {
			return a, at, len(g.edges) > 1
		}
	}
	return nil, 0, false
}

// required checks the node and the current definition, as the canvas does.
func required(defs *knowledge.Snapshot, anchor, data object) bool {
	def, known := defs.Node(text(data, "name"))
	if anchor["optional"] == true || !known {
		return false
	}
	now, described := def.Input(text(anchor, "name"))
	if text(anchor, "name") == "document" && text(data, "name") == "memoryVectorStore" {
		return true
	}
	return !described || !now.Optional
}

func (g *generator) count(key, value string) int {
	return len(keep(g.edges, func(e object) bool { return text(e, key) == value }))
}

func (g *generator) disconnect() (edit, bool) {
	return g.hole(func(e object) string {
		return quoted(`[{"op_type":"Disconnect","source_node_id":%s,"target_node_id":%s}]`, text(e, "source"), text(e, "target"))
	})
}

func (g *generator) remove() (edit, bool) {
	return g.hole(func(e object) string {
		return quoted(`[{"op_type":"RemoveNode","node_id":%s}]`, text(e, "source"))
	})
}

// connectNew adds a node for a list anchor, or a node that runs next.
func (g *generator) connectNew() (edit, bool) {
	if g.kind == flow.Agentflow {
		return edit{ops: `[{"op_type":"AddNode","node_name":"directReplyAgentflow","node_id":"fresh","params":{"directReplyMessage":"hi"}},
			{"op_type":"Connect","source_node_id":"startAgentflow_0","target_node_id":"fresh"}]`}, true
	}
	for _, i := range g.random.Perm(len(g.nodes)) {
		for _, a := range list(dataOf(g.nodes[i])["inputAnchors"]) {
			if a["list"] == true && text(a, "type") == "Tool" {
				return edit{ops: quoted(`[{"op_type":"AddNode","node_name":"calculator","node_id":"fresh"},
					{"op_type":"Connect","source_node_id":"fresh","target_node_id":%s,"target_anchor":%s}]`, text(g.nodes[i], "id"), text(a, "name"))}, true
			}
		}
	}
	return edit{}, false
}

// connectWrong adds a node that the anchor does not accept.
func (g *generator) connectWrong() (edit, bool) {
	if g.kind == flow.Agentflow {
		return edit{ops: `[{"op_type":"AddNode","node_name":"llmAgentflow","node_id":"fresh"},
			{"op_type":"Connect","source_node_id":"fresh","target_node_id":"startAgentflow_0"}]`, op: "/1/target_node_id"}, true
	}
	for _, i := range g.random.Perm(len(g.nodes)) {
		for _, a := range list(dataOf(g.nodes[i])["inputAnchors"]) {
			if types := text(a, "type"); !strings.Contains(types, "TextSplitter") && !strings.Contains(types, "CharacterTextSplitter") {
				return edit{ops: quoted(`[{"op_type":"AddNode","node_name":"characterTextSplitter","node_id":"fresh"},
					{"op_type":"Connect","source_node_id":"fresh","target_node_id":%s,"target_anchor":%s}]`, text(g.nodes[i], "id"), text(a, "name")), op: "/1/target_anchor"}, true
			}
		}
	}
	return edit{}, false
}

// verdict returns the result of compiler and validator in the form of a label.
func verdict(tb testing.TB, base *flow.Graph, e edit, kind flow.Kind, before flow.Report) (op, findings string, data []byte) {
	tb.Helper()
	r, err := flow.Compile(base, ops(tb, e.ops), definitions(tb), flow.Options{Kind: kind})
	if err != nil {
		refused, ok := err.(*contracts.Error) //nolint:errorlint // Compile promises it
		if !ok || len(refused.Faults) == 0 {
			tb.Fatal(err)
		}
		return refused.Faults[0].Pointer, "", nil
	}
	var out []string
	for _, f := range flow.Validate(r.FlowData, definitions(tb), flow.Check{Kind: kind, Template: true}).Since(before) {
		if f.Severity == flow.SeverityError {
			out = append(out, string(f.Category)+" "+f.Pointer)
		}
	}
	return "", strings.Join(out, "; "), r.FlowData
}

// editsOf returns 20 edits of the kinds that fit the flow.
func editsOf(tb testing.TB, s sample) []edit {
	tb.Helper()
	g := newGenerator(tb, s)
	var out []edit
	for kind := 0; len(out) < 20; kind++ {
		if e, ok := g.next(kind); ok {
			out = append(out, e)
		}
	}
	return out
}

func TestMarketplaceEdits(t *testing.T) {
	t.Parallel()
	for _, s := range marketplace(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			base, err := flow.Decompile(s.data)
			if err != nil {
				t.Fatal(err)
			}
			before := flow.Validate(s.data, definitions(t), flow.Check{Kind: s.kind, Template: true})
			for i, e := range editsOf(t, s) {
				op, findings, _ := verdict(t, base, e, s.kind, before)
				if op != e.op || findings != e.finding {
					t.Errorf("edit %d %s\n got %q %q\nwant %q %q", i, e.ops, op, findings, e.op, e.finding)
				}
			}
		})
	}
}

// TestLiveEdits: what passes is accepted by a real server byte by byte.
func TestLiveEdits(t *testing.T) {
	s := live(t)
	for _, one := range marketplace(t) {
		t.Run(one.name, func(t *testing.T) {
			if s.keptEdits(t, one, func(string, edit) {}) == 0 {
				t.Error("no edit was valid")
			}
		})
	}
}

// keptEdits stores every valid edit of a sample, each on top of the same row, checks the stored
// bytes, and returns the number of edits.
func (s server) keptEdits(t *testing.T, one sample, then func(id string, e edit)) (valid int) {
	t.Helper()
	base, err := flow.Decompile(one.data)
	if err != nil {
		t.Fatal(err)
	}
	id, refusal := s.create(t, one.kind, one.data)
	if refusal != "" {
		t.Fatalf("the server refused the sample: %s", refusal)
	}
	before := flow.Validate(one.data, definitions(t), flow.Check{Kind: one.kind, Template: true})
	sent := map[string]bool{}
	for _, e := range editsOf(t, one) {
		op, findings, data := verdict(t, base, e, one.kind, before)
		if op != e.op || findings != e.finding {
			t.Errorf("%s\n got %q %q\nwant %q %q", e.ops, op, findings, e.op, e.finding)
		}
		if op != "" || findings != "" {
			continue
		}
		valid++
		if sent[string(data)] {
			continue // a duplicate
		}
		sent[string(data)] = true
		if status, answer := s.call(t, http.MethodPut, "/chatflows/"+id, map[string]any{"flowData": string(data)}); status != http.StatusOK {
			t.Errorf("the server refused %s: %s", e.ops, answer)
			continue
		}
		var row struct{ FlowData string }
		if _, answer := s.call(t, http.MethodGet, "/chatflows/"+id, nil); json.Unmarshal(answer, &row) != nil || row.FlowData != string(data) {
			t.Errorf("the server keeps other bytes after %s", e.ops)
		}
		then(id, e)
	}
	return valid
}
