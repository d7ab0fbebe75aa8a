package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Target is the graph to edit.
type Target struct {
	Graph *flow.Graph
	Kind  flow.Kind
	Defs  flow.Definitions
}

func refuse(format string, args ...any) error {
	return contracts.Errorf(contracts.CodeInvalid, format, args...)
}

func text(value string) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage(`""`) // a string can always be encoded
	}
	return raw
}

// Spot returns the spot of a role by its id, or the only one if id is "".
func (t Target) Spot(role Role, id string) (Spot, error) {
	if id != "" {
		if s, found := Find(t.Graph, t.Defs, id); found {
			return s, nil
		}
		if kind, named := strings.CutSuffix(id, "#"); named {
			return t.ofKind(role, kind)
		}
		return Spot{}, refuse("there is no part %q in the flow", id)
	}
	spots := Spots(t.Graph, t.Defs, role)
	switch len(spots) {
	case 1:
		return spots[0], nil
	case 0:
		return Spot{}, refuse("nothing in the flow has a %s", role)
	}
	return Spot{}, refuse("%d parts of the flow have a %s; say which: %s", len(spots), role, labels(spots))
}

// ofKind returns the only spot of a role at a node of a kind, for a node given by its kind:
// "calculator" if calculator_0 is the only one.
func (t Target) ofKind(role Role, kind string) (Spot, error) {
	all := Spots(t.Graph, t.Defs, role)
	spots := slices.DeleteFunc(slices.Clone(all), func(s Spot) bool { return s.Def.Name != kind })
	switch {
	case len(spots) == 1:
		return spots[0], nil
	case len(spots) > 1:
		return Spot{}, refuse("the flow has %d of the kind %s; say which: %s", len(spots), kind, labels(spots))
	case len(all) == 0:
		return Spot{}, refuse("nothing in the flow has a %s", role)
	}
	return Spot{}, refuse("the flow has no %s of the kind %s; it has %s", role, kind, labels(all))
}

func labels(spots []Spot) string {
	var out []string
	for _, s := range spots {
		out = append(out, s.Label())
	}
	return clip(strings.Join(out, "; "), 400)
}

// Model changes the model at a spot: the model name within the same kind, or the kind of the node,
// which keeps its connections.
func (t Target) Model(at Spot, kind, name, credential string) ([]flow.Op, error) {
	def, known := t.Defs.Node(kind)
	if !known || !isModel(def) {
		return nil, refuse("%q is no kind of chat model", kind)
	}
	param := ""
	for _, p := range []string{"modelName", "model"} {
		if _, has := def.Input(p); has {
			param = p
			break
		}
	}
	if param == "" {
		return nil, refuse("%s does not take the name of a model", def.Label)
	}
	if kind == at.Def.Name {
		return withCredential([]flow.Op{at.Set(at.Param, text(name))}, at, credential), nil
	}
	if at.Path == "" {
		id := t.free(kind)
		ops := []flow.Op{&flow.ReplaceNode{OpType: flow.OpReplaceNode, NodeID: at.Node.ID(), NodeName: kind, NewNodeID: id, Params: map[string]json.RawMessage{param: text(name)}}}
		if credential != "" {
			ops = append(ops, &flow.BindCredential{OpType: flow.OpBindCredential, NodeID: id, CredentialID: credential})
		}
		return ops, nil
	}
	ops := []flow.Op{
		&flow.SetParam{OpType: flow.OpSetParam, NodeID: at.Node.ID(), ParamName: at.Path, Value: text(kind)},
		&flow.SetParam{OpType: flow.OpSetParam, NodeID: at.Node.ID(), ParamName: at.Path + "Config." + param, Value: text(name)},
	}
	if held := at.Text("temperature"); held != "" {
		if _, has := def.Input("temperature"); has {
			ops = append(ops, &flow.SetParam{OpType: flow.OpSetParam, NodeID: at.Node.ID(), ParamName: at.Path + "Config.temperature", Value: text(held)})
		}
	}
	return withCredential(ops, at, credential), nil
}

func withCredential(ops []flow.Op, at Spot, credential string) []flow.Op {
	if credential == "" {
		return ops
	}
	return append(ops, &flow.BindCredential{OpType: flow.OpBindCredential, NodeID: at.Node.ID(), ParamName: at.Path, CredentialID: credential})
}

// free returns the id of a new node of a kind.
func (t Target) free(kind string) string {
	for i := 0; ; i++ {
		id := kind + "_" + strconv.Itoa(i)
		if _, taken := t.Graph.Find(id); !taken {
			return id
		}
	}
}

// Temperature sets the temperature of a model.
func (Target) Temperature(at Spot, value float64) []flow.Op {
	number := strconv.FormatFloat(value, 'f', -1, 64)
	if p, has := at.Place.Param(at.Param); has && p.Type == "number" && strings.HasPrefix(at.held(), `"`) {
		return []flow.Op{at.Set(at.Param, text(number))} // the canvas's format
	}
	return []flow.Op{at.Set(at.Param, json.RawMessage(number))}
}

func (s Spot) held() string {
	raw, _ := s.Value(s.Param)
	return string(raw)
}

// Prompt sets the instructions of a node. For an agent with messages it sets the system message,
// which it adds if there is none.
func (Target) Prompt(at Spot, prompt string) ([]flow.Op, error) {
	p, has := at.Place.Param(at.Param)
	if !has {
		return nil, refuse("%s has no %s", at.Node.ID(), at.Param)
	}
	if p.Type != "array" {
		return []flow.Op{at.Set(at.Param, text(prompt))}, nil
	}
	var messages []map[string]any
	if raw, ok := at.Value(at.Param); ok && json.Unmarshal(raw, &messages) != nil {
		messages = nil // empty text
	}
	system := slices.IndexFunc(messages, func(m map[string]any) bool { return m["role"] == "system" })
	if system >= 0 {
		path := fmt.Sprintf("%s[%d].content", at.Param, system)
		return []flow.Op{&flow.SetParam{OpType: flow.OpSetParam, NodeID: at.Node.ID(), ParamName: path, Value: text(prompt)}}, nil
	}
	messages = append([]map[string]any{{"role": "system", "content": prompt}}, messages...)
	raw, err := json.Marshal(messages)
	if err != nil {
		return nil, refuse("the messages of %s cannot be written", at.Node.ID())
	}
	return []flow.Op{at.Set(at.Param, raw)}, nil
}

// Reply sets the fixed answer of a node.
func (Target) Reply(at Spot, reply string) []flow.Op { return []flow.Op{at.Set(at.Param, text(reply))} }

// Credential binds a credential wherever the flow takes one of its type.
func (t Target) Credential(id, kind string) ([]flow.Op, error) {
	var ops []flow.Op
	var takes []string
	for _, place := range flow.CredentialPlaces(t.Graph, t.Defs) {
		takes = append(takes, place.Types...)
		if slices.Contains(place.Types, kind) && place.Bound != id {
			ops = append(ops, place.Bind(id))
		}
	}
	switch {
	case len(ops) > 0:
		return ops, nil
	case slices.Contains(takes, kind):
		return nil, refuse("nothing would change: the flow uses this credential already")
	case len(takes) == 0:
		return nil, refuse("nothing in the flow takes a credential")
	}
	slices.Sort(takes)
	return nil, refuse("nothing in the flow takes a credential of type %s; it takes %s", kind, clip(strings.Join(slices.Compact(takes), ", "), 200))
}

// ExtendPrompt appends an instruction to a prompt.
func (t Target) ExtendPrompt(at Spot, instruction string) ([]flow.Op, error) {
	said := at.Text(at.Param)
	if p, has := at.Place.Param(at.Param); has && p.Type == "array" {
		said = systemMessage(at)
	}
	said = strings.TrimSpace(said)
	if strings.Contains(said, instruction) {
		return nil, refuse("nothing would change: the prompt says so already")
	}
	if said != "" {
		said += "\n"
	}
	return t.Prompt(at, said+instruction)
}

// systemMessage returns the first system message of an agent.
func systemMessage(at Spot) string {
	raw, _ := at.Value(at.Param)
	var messages []struct{ Role, Content string }
	if json.Unmarshal(raw, &messages) != nil {
		return "" // empty text
	}
	for _, m := range messages {
		if m.Role == "system" {
			return m.Content
		}
	}
	return ""
}

// Memory sets the memory of a node to a kind and replaces the existing one; "" removes it. For an
// agent with built-in memory it sets the switch.
func (t Target) Memory(at Spot, kind string) ([]flow.Op, error) {
	if p, is := at.Place.Param(at.Param); is && p.Type == "boolean" {
		on := json.RawMessage("true")
		if kind == "" {
			on = json.RawMessage("false")
		}
		return []flow.Op{at.Set(at.Param, on)}, nil
	}
	return t.attach(at, kind)
}

// Sized sets the number of messages that the memory added by ops keeps.
func (t Target) Sized(ops []flow.Op, kind string, size int) ([]flow.Op, error) {
	def, known := t.Defs.Node(kind)
	if !known {
		return nil, refuse("there is no kind of node %q", kind)
	}
	p, has := def.Input("k")
	if !has || p.Type != "number" {
		return nil, refuse("%s keeps no number of messages; a window memory does", def.Label)
	}
	if _, own := ops[0].(*flow.SetParam); own {
		return nil, refuse("the flow's own memory keeps no number of messages")
	}
	return withParam(ops, p.Name, strconv.Itoa(size)), nil // the canvas's format
}

// detach disconnects a node from an anchor, and removes it if nothing else uses it.
func (t Target) detach(id string, at Spot) []flow.Op {
	used := 0
	for _, e := range t.Graph.Edges() {
		if e.Source == id {
			used++
		}
	}
	if used > 1 {
		return []flow.Op{&flow.Disconnect{OpType: flow.OpDisconnect, SourceNodeID: id, TargetNodeID: at.Node.ID(), TargetAnchor: at.Param}}
	}
	return []flow.Op{&flow.RemoveNode{OpType: flow.OpRemoveNode, NodeID: id}}
}

// AddTool adds a tool of a kind to an agent.
func (t Target) AddTool(at Spot, kind, credential string) ([]flow.Op, error) {
	if _, known := t.Defs.Node(kind); !known {
		return nil, refuse("there is no kind of tool %q", kind)
	}
	if p, is := at.Place.Param(at.Param); is && p.Type == "array" {
		return addItem(at, p, kind, credential)
	}
	for _, id := range t.Graph.Into(at.Node.ID(), at.Param) {
		if n, _ := t.Graph.Find(id); n.Name() == kind {
			return nil, refuse("nothing would change: %s has a %s already, %s", at.Node.ID(), kind, id)
		}
	}
	id := t.free(kind)
	ops := []flow.Op{
		&flow.AddNode{OpType: flow.OpAddNode, NodeName: kind, NodeID: id},
		&flow.Connect{OpType: flow.OpConnect, SourceNodeID: id, TargetNodeID: at.Node.ID(), TargetAnchor: at.Param},
	}
	return bound(append(ops, t.supply(id, kind, "")...), credential), nil
}

// addItem adds a selected component to a list of components.
func addItem(at Spot, p knowledge.Param, kind, credential string) ([]flow.Op, error) {
	member := ""
	for _, m := range p.Array {
		if m.LoadConfig {
			member = m.Name
		}
	}
	var items []map[string]any
	if raw, ok := at.Value(at.Param); ok && json.Unmarshal(raw, &items) != nil {
		items = nil // empty text
	}
	if slices.ContainsFunc(items, func(i map[string]any) bool { return i[member] == kind }) {
		return nil, refuse("nothing would change: %s has a %s already", at.Node.ID(), kind)
	}
	raw, err := json.Marshal(append(items, map[string]any{member: kind}))
	if err != nil {
		return nil, refuse("the list %s of %s cannot be written", at.Param, at.Node.ID())
	}
	ops := []flow.Op{at.Set(at.Param, raw)}
	if credential != "" {
		ops = append(ops, &flow.BindCredential{
			OpType: flow.OpBindCredential, NodeID: at.Node.ID(), ParamName: fmt.Sprintf("%s[%d].%s", at.Param, len(items), member), CredentialID: credential,
		})
	}
	return ops, nil
}

// RemoveTool removes a tool from the flow, or from the list of an agent.
func (t Target) RemoveTool(at Spot) ([]flow.Op, error) {
	if at.Path == "" {
		return []flow.Op{&flow.RemoveNode{OpType: flow.OpRemoveNode, NodeID: at.Node.ID()}}, nil
	}
	list, rest, _ := strings.Cut(at.Path, "[")
	index, err := strconv.Atoi(strings.SplitN(rest, "]", 2)[0])
	raw, _ := at.Node.Input(list)
	var items []json.RawMessage
	if err != nil || json.Unmarshal(raw, &items) != nil || index >= len(items) {
		return nil, refuse("%s is in no list of tools", at.Path)
	}
	left, err := json.Marshal(slices.Delete(items, index, index+1))
	if err != nil {
		return nil, refuse("the list %s of %s cannot be written", list, at.Node.ID())
	}
	return []flow.Op{&flow.SetParam{OpType: flow.OpSetParam, NodeID: at.Node.ID(), ParamName: list, Value: left}}, nil
}

// Source changes the source of a loader. If the source is a URL and the loader reads none, the
// loader is replaced by the one for web pages.
func (t Target) Source(at Spot, source string) ([]flow.Op, error) {
	web := strings.Contains(source, "://")
	if p, has := at.Place.Param(at.Param); has && (p.Type == "string") == web {
		if p.Type != "string" {
			return nil, refuse("a file is uploaded in Flowise's canvas; give an address, or upload it at %s", at.Node.ID())
		}
		return []flow.Op{at.Set(at.Param, text(source))}, nil
	}
	if !web {
		return nil, refuse("%q is no address of a page; a file is uploaded in Flowise's canvas", clip(source, 80))
	}
	const pages = "cheerioWebScraper"
	return []flow.Op{&flow.ReplaceNode{
		OpType: flow.OpReplaceNode, NodeID: at.Node.ID(), NodeName: pages, NewNodeID: t.free(pages), Params: map[string]json.RawMessage{"url": text(source)},
	}}, nil
}

// denyList is the moderation parameter with the denied words, one per line.
const denyList = "denyList"

// Moderation adds a check of the input before a node. A check for denied words requires them.
func (t Target) Moderation(at Spot, kind, credential, denied string) ([]flow.Op, error) {
	ops, err := t.attach(at, kind)
	if err != nil {
		return nil, err
	}
	def, _ := t.Defs.Node(kind)
	list, lists := def.Input(denyList)
	words := strings.FieldsFunc(denied, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	switch {
	case lists && !list.Optional && len(words) == 0:
		return nil, refuse("%s needs the words that it shall refuse: add \"that refuses\" and the words, in quotation marks and with commas between", def.Label)
	case !lists && len(words) > 0:
		return nil, refuse("%s takes no words; Simple Prompt Moderation does", def.Label)
	case lists:
		return withParam(ops, denyList, strings.Join(words, "\n")), nil
	}
	return bound(ops, credential), nil
}

// Replace replaces a node by one of another kind of the same category.
func (t Target) Replace(at Spot, kind, credential string) ([]flow.Op, error) {
	def, known := t.Defs.Node(kind)
	switch {
	case !known:
		return nil, refuse("there is no kind of node %q", kind)
	case at.Path != "":
		return nil, refuse("%s is a part of %s; change that", at.Path, at.Node.ID())
	case def.Category != at.Def.Category:
		return nil, refuse("%s is of the category %s, and %s of %s", kind, def.Category, at.Node.ID(), at.Def.Category)
	}
	return bound(t.instead(at.Node.ID(), kind), credential), nil
}

// Parameter sets a parameter given by name or label.
func (Target) Parameter(at Spot, called, value string) ([]flow.Op, error) {
	want := Words(called)
	var known []string
	for _, p := range at.Params() {
		if p.Type == "credential" {
			continue
		}
		known = append(known, p.Name)
		if !slices.Equal(want, Words(p.Name)) && !slices.Equal(want, Words(p.Label)) {
			continue
		}
		raw := text(value)
		switch p.Type {
		case "number", "boolean", "array", "json", "datagrid":
			if json.Valid([]byte(value)) {
				raw = json.RawMessage(value)
			}
		case "options":
			for _, o := range p.Options {
				if strings.EqualFold(o.Label, value) || strings.EqualFold(o.Name, value) {
					raw = text(o.Name)
				}
			}
		}
		return []flow.Op{at.Set(p.Name, raw)}, nil
	}
	return nil, refuse("%s has no parameter %q; there are %s", at.Node.ID(), called, clip(strings.Join(known, ", "), 300))
}
