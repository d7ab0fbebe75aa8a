package goal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Approach is one way to build a goal.
type Approach struct {
	// Value names it in a choice, Label says for people what it comes to.
	Value string    `json:"value"`
	Label string    `json:"label"`
	Kind  flow.Kind `json:"type"`
	Ops   []flow.Op `json:"-"`
	// Open is what only a person can fill in, in Flowise.
	Open []string `json:"open,omitempty"`
}

// The approaches.
const (
	ByReply     = "reply"
	ByNodes     = "chatflow"
	ByAgentflow = "agentflow"
)

// Tools are what a flow is built with: the definitions of nodes, and the
// credentials that there are, by their types.
type Tools struct {
	Defs flow.Definitions
	// Have are the types of credentials that exist, with the one to use.
	Have map[string]string
}

// Approaches gives the ways to build what features ask for, the best first.
func (t Tools) Approaches(f Features) ([]Approach, error) {
	var out []Approach
	var faults []string
	for _, build := range []func(Features) (Approach, error){t.byReply, t.byNodes, t.byAgentflow} {
		a, err := build(f)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case len(a.Ops) > 0:
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, contracts.Errorf(contracts.CodeInvalid, "no flow of these features can be built: %s", strings.Join(faults, "; "))
	}
	if len(f.Form)+len(f.APIs) > 0 { // only an agent flow has forms and calls as steps
		slices.SortStableFunc(out, func(a, b Approach) int {
			return cmp.Compare(order(a.Value == ByAgentflow), order(b.Value == ByAgentflow))
		})
	}
	return out, nil
}

func order(first bool) int {
	if first {
		return 0
	}
	return 1
}

// builder collects the ops of one approach.
type builder struct {
	Tools
	f     Features
	ops   []flow.Op
	count map[string]int
	// made is the node that already gives what an anchor takes, by kind.
	made map[string]string
	open []string
}

func (t Tools) builder(f Features) *builder {
	return &builder{Tools: t, f: f, count: map[string]int{}, made: map[string]string{}}
}

func refuse(format string, args ...any) error {
	return contracts.Errorf(contracts.CodeInvalid, format, args...)
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // texts, numbers and lists of them can be written
	}
	return b
}

// replyNode answers what its parameter says.
const (
	replyNode  = "directReplyAgentflow"
	replyParam = "directReplyMessage"
)

// byReply builds a flow that always answers the same.
func (t Tools) byReply(f Features) (Approach, error) {
	if f.Reply == "" {
		return Approach{}, nil
	}
	b := t.builder(f)
	start := b.add("startAgentflow", nil)
	reply := b.add(replyNode, map[string]json.RawMessage{replyParam: raw(f.Reply)})
	b.connect(start, reply, "")
	return Approach{Value: ByReply, Label: "A fixed answer, without a model", Kind: flow.Agentflow, Ops: b.ops}, nil
}

// byNodes builds a flow of one chain or agent and the nodes that it needs: which
// one follows from the anchors that the features ask for.
func (t Tools) byNodes(f Features) (Approach, error) {
	if f.Reply != "" || len(f.Form) > 0 {
		return Approach{}, nil
	}
	b := t.builder(f)
	head, err := b.head()
	if err != nil {
		return Approach{}, err
	}
	id := b.add(head.Name, b.prompt(head))
	if err := b.complete(head, id, 0); err != nil {
		return Approach{}, err
	}
	return Approach{Value: ByNodes, Label: b.label(head), Kind: flow.Chatflow, Ops: b.ops, Open: b.open}, nil
}

// wants are the classes of nodes that the features need the head to take.
func (f Features) wants() []string {
	out := []string{"Model"}
	if len(f.Documents) > 0 && !f.Agent {
		out = append(out, "Retriever")
	}
	if f.Agent {
		out = append(out, "Tool")
	}
	if f.Memory == nil || *f.Memory {
		out = append(out, "Memory")
	}
	if f.Moderation != "" {
		out = append(out, "Moderation")
	}
	return out
}

// takes tells whether an anchor takes a class of nodes.
func takes(p *knowledge.Param, class string) bool {
	switch class {
	case "Model":
		return p.Type == "BaseChatModel" || p.Type == "BaseLanguageModel"
	case "Retriever":
		return p.Type == "BaseRetriever"
	case "Memory":
		return strings.HasSuffix(p.Type, "Memory")
	}
	return p.Type == class
}

// head finds the chain or agent that takes all that is wanted and asks for the
// least beside it.
func (b *builder) head() (*knowledge.Definition, error) {
	wants := b.f.wants()
	var best *knowledge.Definition
	least := 0
	for _, name := range b.Defs.Names() {
		def, _ := b.Defs.Node(name)
		if def == nil || def.Category != "Chains" && def.Category != "Agents" || outdated(def) {
			continue
		}
		if cost, fits := beside(def, wants); fits && (best == nil || cost < least) {
			best, least = def, cost
		}
	}
	if best == nil {
		return nil, refuse("there is no chain and no agent that takes %s", strings.ToLower(strings.Join(wants, ", ")))
	}
	return best, nil
}

// beside tells whether a head takes all that is wanted, and counts what it asks
// for and nobody wants. A label that names what is wanted breaks a tie.
func beside(def *knowledge.Definition, wants []string) (cost int, fits bool) {
	for _, want := range wants {
		if !slices.ContainsFunc(def.Inputs, func(p knowledge.Param) bool { return p.IsAnchor() && takes(&p, want) }) {
			return 0, false
		}
		if slices.Contains(edit.Words(def.Label), strings.ToLower(want)) {
			cost--
		}
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		switch wanted := slices.ContainsFunc(wants, func(w string) bool { return takes(p, w) }); {
		case p.Optional || p.Default != nil || wanted:
		case p.IsAnchor():
			cost += 2
		default:
			cost += 4
		}
	}
	return cost, true
}

// maxDepth bounds how far a node's own needs are followed.
const maxDepth = 6

// complete connects what a node cannot work without, and what the features want.
func (b *builder) complete(def *knowledge.Definition, id string, depth int) error {
	if depth > maxDepth {
		return refuse("%s needs more nodes than can be followed", def.Label)
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		if !p.IsAnchor() {
			b.mind(def, id, p)
			continue
		}
		kinds, err := b.fill(def, p, depth)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			if err := b.attach(kind, id, p, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// mind says what a person must fill in: files are uploaded in Flowise's canvas.
func (b *builder) mind(def *knowledge.Definition, id string, p *knowledge.Param) {
	if p.Optional || p.Default != nil || len(p.Show) > 0 || b.given(id, p.Name) {
		return
	}
	if p.Type == "file" || p.Type == "folder" || p.Type == "string" || p.Type == "password" {
		b.open = append(b.open, fmt.Sprintf("%s of %s (%s)", p.Label, def.Label, id))
	}
}

func (b *builder) given(id, param string) bool {
	return slices.ContainsFunc(b.ops, func(op flow.Op) bool {
		add, is := op.(*flow.AddNode)
		return is && add.NodeID == id && add.Params[param] != nil
	})
}

// want is a node that an anchor gets.
type want struct {
	kind   string
	params map[string]json.RawMessage
	key    string
}

// fill says which nodes an anchor gets: those that the features name, or one that
// fits where it cannot be empty.
func (b *builder) fill(def *knowledge.Definition, p *knowledge.Param, depth int) ([]want, error) {
	switch {
	case p.Type == "Tool":
		return b.tools()
	case p.Type == "Document" && b.retrieves(def):
		return b.documents(), nil
	case p.Type == "Moderation" && depth == 0 && b.f.Moderation != "":
		return []want{{kind: b.f.Moderation}}, nil
	case takes(p, "Memory") && depth == 0:
		return b.memories(p)
	case p.Type == "TextSplitter" && depth > 0:
		return b.one(p)
	case p.Optional:
		return nil, nil
	}
	return b.one(p)
}

func (b *builder) retrieves(def *knowledge.Definition) bool { return def.Category == "Vector Stores" }

// memories gives a head its memory; one that cannot be without keeps it although
// nobody asked.
func (b *builder) memories(p *knowledge.Param) ([]want, error) {
	if b.f.Memory != nil && !*b.f.Memory && p.Optional {
		return nil, nil
	}
	return b.one(p)
}

// tools are those that are named, calls of addresses, and a look into the
// documents; an agent needs one at least.
func (b *builder) tools() ([]want, error) {
	var out []want
	for _, kind := range b.f.Tools {
		out = append(out, want{kind: kind})
	}
	how := defaults["get"]
	if b.f.Post {
		how = defaults["post"]
	}
	for i, url := range b.f.APIs {
		out = append(out, want{kind: how, key: fmt.Sprint(how, i), params: map[string]json.RawMessage{how + "Url": raw(url), how + "Name": raw(fmt.Sprintf("call_api_%d", i+1))}})
	}
	if len(b.f.Documents) > 0 {
		kind, err := b.lookUp()
		if err != nil {
			return nil, err
		}
		out = append(out, want{kind: kind, params: map[string]json.RawMessage{
			"name": raw("search_documents"), "description": raw("Searches the documents that answers must come from."),
		}})
	}
	if len(out) == 0 {
		return []want{{kind: "calculator"}, {kind: "currentDateTime"}}, nil
	}
	return out, nil
}

// lookUp is the tool that asks a retriever.
func (b *builder) lookUp() (string, error) {
	for _, name := range b.Defs.Names() {
		def, _ := b.Defs.Node(name)
		if def != nil && def.Category == "Tools" && !outdated(def) && slices.ContainsFunc(def.Inputs, func(p knowledge.Param) bool { return p.Type == "BaseRetriever" && !p.Optional }) {
			return name, nil
		}
	}
	return "", refuse("there is no tool that looks into documents")
}

// documents are the loaders of what the flow answers from.
func (b *builder) documents() []want {
	var out []want
	for i, d := range b.f.Documents {
		kind := cmp.Or(d.Kind, "plainText")
		w := want{kind: kind, key: fmt.Sprint(kind, i)}
		if def, known := b.Defs.Node(kind); known && d.Address != "" {
			for j := range def.Inputs {
				if p := &def.Inputs[j]; p.Type == "string" && strings.Contains(strings.ToLower(p.Name), "url") {
					w.params = map[string]json.RawMessage{p.Name: raw(d.Address)}
					break
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// one is the node that fits an anchor best: named, else of the same account as
// what is there already, else one that needs least.
func (b *builder) one(p *knowledge.Param) ([]want, error) {
	var best *knowledge.Definition
	least := 0
	for _, name := range b.Defs.Names() {
		def, _ := b.Defs.Node(name)
		if def == nil || outdated(def) || !gives(def, p.Type) {
			continue
		}
		if cost := b.cost(def, p.Type); best == nil || cost < least {
			best, least = def, cost
		}
	}
	if best == nil {
		return nil, refuse("no node gives the %s that is needed", p.Label)
	}
	w := want{kind: best.Name}
	if best.Name == b.f.Model && b.f.ModelName != "" {
		if name := modelParam(best); name != "" {
			w.params = map[string]json.RawMessage{name: raw(b.f.ModelName)}
		}
	}
	return []want{w}, nil
}

func modelParam(def *knowledge.Definition) string {
	for _, name := range []string{"modelName", "model"} {
		if _, has := def.Input(name); has {
			return name
		}
	}
	return ""
}

// gives tells whether a node can be connected to an anchor of a type.
func gives(def *knowledge.Definition, class string) bool {
	if def.HideOutput {
		return false
	}
	if len(def.Outputs) == 0 {
		return slices.Contains(def.BaseClasses, class)
	}
	return slices.ContainsFunc(def.Outputs, func(o knowledge.Output) bool { return !o.Hidden && slices.Contains(o.BaseClasses, class) })
}

// cost ranks the nodes that fit: what people named or what is there already comes
// first, an account that nobody has last.
func (b *builder) cost(def *knowledge.Definition, class string) int {
	cost := 0
	switch {
	case def.Name == b.f.Model || def.Name == b.f.Store || b.made[def.Name] != "":
		cost -= 1000
	case b.sharesAccount(def):
		cost -= 300
	}
	if def.Name == defaults[class] {
		cost -= 150
	}
	if kinds := accounts(def); slices.ContainsFunc(kinds, func(k string) bool { return b.Have[k] != "" }) {
		cost -= 100
	} else if def.Credential != nil {
		cost += 100
	}
	holds := slices.ContainsFunc(def.Inputs, func(p knowledge.Param) bool { return p.Type == "Document" })
	if len(b.f.Documents) > 0 && (class == "BaseRetriever" || class == "VectorStore") && !holds {
		cost += 500 // what is filled elsewhere holds other documents
	}
	for i := range def.Inputs {
		switch p := &def.Inputs[i]; {
		case p.Optional || p.Default != nil || len(p.Show) > 0:
		case p.IsAnchor():
			cost += 20
		default: // nobody has said it
			cost += 40
		}
	}
	return cost + len(def.Label)/4
}

// accounts are the types of credentials of which a node cannot be without one.
func accounts(def *knowledge.Definition) []string {
	if def.Credential == nil || def.Credential.Optional {
		return nil
	}
	return def.Credential.CredentialNames
}

// sharesAccount tells whether a node uses a credential that the flow uses anyway.
func (b *builder) sharesAccount(def *knowledge.Definition) bool {
	return slices.ContainsFunc(accounts(def), func(k string) bool {
		return slices.ContainsFunc(b.ops, func(op flow.Op) bool {
			bind, is := op.(*flow.BindCredential)
			return is && bind.CredentialType == k
		})
	})
}

// attach connects a node to an anchor; one that is there already serves twice.
func (b *builder) attach(w want, to string, p *knowledge.Param, depth int) error {
	key := cmp.Or(w.key, w.kind)
	id := b.made[key]
	if id == "" {
		def, known := b.Defs.Node(w.kind)
		if !known {
			return refuse("there is no node %q", w.kind)
		}
		id = b.add(w.kind, w.params)
		b.made[key] = id
		if err := b.complete(def, id, depth+1); err != nil {
			return err
		}
	}
	b.connectAs(id, to, p)
	return nil
}

// add makes a node, with the credential that it cannot be without.
func (b *builder) add(kind string, params map[string]json.RawMessage) string {
	id := fmt.Sprintf("%s_%d", kind, b.count[kind])
	b.count[kind]++
	b.ops = append(b.ops, &flow.AddNode{OpType: flow.OpAddNode, NodeName: kind, NodeID: id, Params: params})
	if def, known := b.Defs.Node(kind); known {
		b.bind(def, id, "")
	}
	return id
}

func (b *builder) bind(def *knowledge.Definition, id, param string) {
	kinds := accounts(def)
	if len(kinds) == 0 {
		return
	}
	kind := kinds[0]
	for _, k := range kinds {
		if b.Have[k] != "" {
			kind = k
			break
		}
	}
	b.ops = append(b.ops, &flow.BindCredential{OpType: flow.OpBindCredential, NodeID: id, ParamName: param, CredentialID: cmp.Or(b.Have[kind], kind), CredentialType: kind})
}

func (b *builder) connect(from, to, anchor string) {
	b.ops = append(b.ops, &flow.Connect{OpType: flow.OpConnect, SourceNodeID: from, TargetNodeID: to, TargetAnchor: anchor})
}

// connectAs connects a node by that of its outputs which the anchor takes.
func (b *builder) connectAs(from, to string, p *knowledge.Param) {
	kind := from[:strings.LastIndexByte(from, '_')]
	def, _ := b.Defs.Node(kind)
	if def != nil {
		for _, o := range def.Outputs {
			if slices.Contains(o.BaseClasses, p.Type) {
				b.output(from, o.Name)
				break
			}
		}
	}
	b.connect(from, to, p.Name)
}

// output chooses which of its outputs a new node has.
func (b *builder) output(id, name string) {
	for _, op := range b.ops {
		if add, is := op.(*flow.AddNode); is && add.NodeID == id && add.Output == "" {
			add.Output = name
		}
	}
}

// prompt tells a head how to behave, where it has a system message. One that
// answers from documents keeps its own, which says how to use them.
func (b *builder) prompt(def *knowledge.Definition) map[string]json.RawMessage {
	if b.f.Instructions == "" || slices.ContainsFunc(def.Inputs, func(p knowledge.Param) bool { return takes(&p, "Retriever") }) {
		return nil
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		if name := strings.ToLower(p.Name); p.Type == "string" && strings.Contains(name, "system") {
			return map[string]json.RawMessage{p.Name: raw(instructions(b.f.Instructions))}
		}
	}
	return nil
}

// instructions make a system message of what was asked for.
func instructions(text string) string {
	text = strings.NewReplacer("{", "(", "}", ")").Replace(text) // braces are variables of a prompt
	return "You are an assistant that was set up for this: " + text
}

// label says what a flow is made of.
func (b *builder) label(head *knowledge.Definition) string {
	var parts []string
	for _, op := range b.ops {
		add, is := op.(*flow.AddNode)
		if !is || add.NodeName == head.Name {
			continue
		}
		if def, known := b.Defs.Node(add.NodeName); known && !slices.Contains(parts, def.Label) {
			parts = append(parts, def.Label)
		}
	}
	return fmt.Sprintf("%s with %s", head.Label, strings.Join(parts, ", "))
}
