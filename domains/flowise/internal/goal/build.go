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
	// Value identifies the approach in a choice; Label describes it for people.
	Value string    `json:"value"`
	Label string    `json:"label"`
	Kind  flow.Kind `json:"type"`
	Ops   []flow.Op `json:"-"`
	// Open lists what only a person can fill in, in Flowise.
	Open []string `json:"open,omitempty"`
}

// The approaches.
const (
	ByReply     = "reply"
	ByNodes     = "chatflow"
	ByAgentflow = "agentflow"
)

// Tools are the node definitions and credentials with which flows are built.
type Tools struct {
	Defs flow.Definitions
	// Have maps each existing credential type to the credential to use.
	Have map[string]string
}

// Approaches returns the ways to build features, best first.
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
	if len(f.Form)+len(f.APIs) > 0 { // only an agent flow has forms and API calls as steps
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
	// made maps a kind to the node that was already added for an anchor.
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
		return json.RawMessage("null") // texts, numbers and lists of them can be encoded
	}
	return b
}

// replyNode is the node that answers with its parameter replyParam.
const (
	replyNode  = "directReplyAgentflow"
	replyParam = "directReplyMessage"
)

// byReply builds a flow that always gives the same answer.
func (t Tools) byReply(f Features) (Approach, error) {
	if f.Reply == "" || len(f.Branches) > 0 {
		return Approach{}, nil
	}
	b := t.builder(f)
	start := b.add("startAgentflow", nil)
	reply := b.add(replyNode, map[string]json.RawMessage{replyParam: raw(f.Reply)})
	b.connect(start, reply, "")
	return Approach{Value: ByReply, Label: "A fixed answer, without a model", Kind: flow.Agentflow, Ops: b.ops}, nil
}

// byNodes builds a flow of one chain or agent with the nodes that it needs. The features determine
// the anchors, and these determine the chain or agent.
func (t Tools) byNodes(f Features) (Approach, error) {
	if f.Reply != "" || len(f.Form)+len(f.Branches) > 0 {
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

// wants returns the classes of nodes that the head must accept for the features.
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

// takes reports whether an anchor accepts a class of nodes.
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

// head returns the chain or agent that accepts everything wanted and requires the least in
// addition.
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

// beside reports whether a head accepts everything wanted, and how much else it requires. A label
// that names a wanted class breaks a tie.
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

// add adds a node, with the credential that it requires.
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

// connectAs connects a node with the output that the anchor accepts.
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

// output selects the output of a new node.
func (b *builder) output(id, name string) {
	for _, op := range b.ops {
		if add, is := op.(*flow.AddNode); is && add.NodeID == id && add.Output == "" {
			add.Output = name
		}
	}
}

// prompt sets the system message of a head, if it has one. A head that answers from documents keeps
// its own, which says how to use them.
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

// instructions converts the goal to a system message.
func instructions(text string) string {
	text = strings.NewReplacer("{", "(", "}", ")").Replace(text) // braces are variables in a prompt
	return "You are an assistant that was set up for this: " + text
}

// label lists the nodes of a flow.
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
