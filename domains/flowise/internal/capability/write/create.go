package write

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

//go:embed starters/*.json
var starters embed.FS

// Creation are the parameters of create_chatflow. A new flow starts from a validated graph, a
// pattern, a template or a starter; ops are applied on top.
type Creation struct {
	site.Place
	policy.Made
	Name       string `json:"name" min:"1" max:"200" description:"Name of the new chatflow"`
	Starter    string `json:"starter,omitempty" enum:"reply,conversation,tool_agent" description:"What to begin with: a fixed reply, a conversation with a model, or an agent with tools"`
	Reply      string `json:"reply,omitempty" max:"2000" description:"What a flow that begins with a reply answers"`
	Model      string `json:"model,omitempty" max:"200" pattern:"^[A-Za-z0-9_]+:.+$" description:"Name of the model that it shall use"`
	Credential string `json:"credential,omitempty" max:"200" description:"Credential of the model: its name, type or id"`
	Template   string `json:"template,omitempty" max:"200" description:"Name of a Flowise template to begin with"`
	PatternID  int64  `json:"pattern_id,omitempty" min:"1" description:"A saved pattern to begin with, by its number"`
	Pattern    string `json:"pattern,omitempty" max:"120" description:"Name of a saved pattern to begin with"`
	Category   string `json:"category,omitempty" max:"200" description:"Category to put it into, which people also call its folder"`
	FlowData   string `json:"flow_data,omitempty" description:"The graph, which validate_flow must have passed in this run"`
	// FromPattern counts as a use of the pattern; the graph was created from it.
	FromPattern int64 `json:"from_pattern,omitempty" min:"1" description:"The pattern, by its number, that the graph was made of"`
	// Type is not an enum, because the word "chatflow" in every request would be taken as a choice.
	Type string     `json:"type,omitempty" pattern:"^(CHATFLOW|AGENTFLOW|MULTIAGENT)$" description:"Type of the flow: CHATFLOW, AGENTFLOW or MULTIAGENT; guessed from its nodes unless given"`
	Ops  author.Ops `json:"ops,omitempty" description:"Edits on top, in the form of the Patch IR"`
}

// defaultReply shows that the flow works and repeats the question.
const defaultReply = "You said: {{ question }}"

// The default model of the starters and its credential.
const (
	defaultCredential = "openAIApi"
	defaultModel      = "chatOpenAI"
)

// starterReply is the default starter.
const starterReply = "reply"

// starterChat is the starter if only a model is given.
const starterChat = "conversation"

// base is the graph from which a new flow starts.
type base struct {
	flowData string
	kind     flow.Kind
	how      string
	ops      author.Ops
	// pattern is the id of the pattern, if it is one.
	pattern int64
}

// newFlow plans a new flow.
func (w *Writer) newFlow(ctx context.Context, call domainkit.Call, in Creation) (plan, error) {
	begin, err := w.baseOf(ctx, call, in)
	if err != nil {
		return plan{}, err
	}
	if begin.flowData != "" && in.FlowData == "" {
		if begin, err = speaking(ctx, w.site, call, begin, in.Model, in.Credential); err != nil {
			return plan{}, err
		}
		if begin, err = w.withCredentials(ctx, call, begin, in.Credential); err != nil {
			return plan{}, err
		}
	}
	p := plan{did: "created from " + begin.how, pattern: begin.pattern}
	flowData, kind := begin.flowData, begin.kind
	if in.FlowData == "" {
		if flowData, kind, p.checked, err = w.compileNew(ctx, call, begin); err != nil {
			return plan{}, err
		}
	}
	g, err := flow.Decompile([]byte(flowData))
	if err != nil {
		return plan{}, site.Unreadable(err)
	}
	if kind == "" {
		kind = flow.KindOf(g)
	}
	defs, err := w.site.Definitions(ctx, call.Instance)
	if err != nil {
		return plan{}, err
	}
	p.diff = present.ChangesOf(flow.Compare(flow.Empty(), g, defs))
	p.create = &api.NewFlow{Name: in.Name, Type: api.FlowType(kind), FlowData: flowData}
	if in.Category != "" {
		p.create.Category = &in.Category
	}
	return p, nil
}

// countUse counts a use of a pattern. A failure is ignored, because the flow already exists.
func (w *Writer) countUse(ctx context.Context, p plan) {
	if p.pattern == 0 {
		return
	}
	if err := w.site.Data.Used(context.WithoutCancel(ctx), p.pattern); err != nil {
		w.site.Log.WarnContext(ctx, "the use of a pattern was not counted", slog.Int64("pattern_id", p.pattern), slog.Any("error", err))
	}
}

// compileNew compiles the graph of a new flow and validates it.
func (w *Writer) compileNew(ctx context.Context, call domainkit.Call, begin base) (string, flow.Kind, *author.Checked, error) {
	g := flow.Empty()
	if begin.flowData != "" {
		var err error
		if g, err = flow.Decompile([]byte(begin.flowData)); err != nil {
			return "", "", nil, site.Unreadable(err)
		}
	}
	made, compiled, err := w.author.Compile(ctx, call, g, begin.ops, begin.kind)
	if err != nil {
		return "", "", nil, err
	}
	if !compiled.OK {
		return "", "", nil, notCompiled(compiled)
	}
	// What a template leaves for its user to fill in is reported, but does not prevent the write.
	_, checked, err := w.author.CheckChange(ctx, call.Instance, begin.flowData, string(made.FlowData), made.Kind)
	return string(made.FlowData), made.Kind, &checked, err
}

func notCompiled(c author.Compiled) error {
	refusal := domainkit.Refusef(contracts.ErrPrecondition, "%s", c.Summary())
	refusal.Detail = map[string]any{"faults": c.Faults, "missing_node_types": c.MissingNodeTypes}
	return refusal
}

// baseOf returns the base of a new flow; more than one is refused.
func (w *Writer) baseOf(ctx context.Context, call domainkit.Call, in Creation) (base, error) {
	beginnings := 0
	for _, given := range []bool{in.FlowData != "", in.Template != "", in.PatternID != 0 || in.Pattern != "", in.Starter != ""} {
		if given {
			beginnings++
		}
	}
	switch {
	case beginnings > 1:
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a flow begins with one of flow_data, template, pattern_id and starter")
	case in.Reply != "" && (beginnings > 0 && in.Starter != starterReply):
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "only a flow that begins with a fixed reply takes a reply; leave it out, or what it would replace")
	case in.Credential != "" && (in.FlowData != "" || beginnings == 0 && len(in.Ops) > 0 && in.Reply == ""):
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a credential is for a starter, a template or a pattern; bind it by the op BindCredential")
	case in.FromPattern != 0 && in.FlowData == "":
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "from_pattern says what a graph was made of; give pattern_id to begin with a pattern")
	case in.FlowData != "" && len(in.Ops) > 0:
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a graph that was validated takes no further ops; compile them into it")
	case in.FlowData != "":
		return base{flowData: in.FlowData, kind: flow.Kind(in.Type), how: "a checked graph", pattern: in.FromPattern}, nil
	case in.PatternID != 0 || in.Pattern != "":
		p, err := w.patternOf(ctx, call, in)
		return base{p.FlowData, flow.Kind(p.Kind), fmt.Sprintf("the pattern %s", p.Name), in.Ops, p.ID}, err
	case in.Template != "":
		t, err := w.site.Template(ctx, call.Instance, in.Template)
		return base{flowData: t.FlowData, kind: flow.Kind(in.Type), how: "the template " + t.Name, ops: in.Ops}, err
	case in.Starter == "" && len(in.Ops) > 0 && in.Reply == "":
		return base{kind: flow.Kind(in.Type), how: "ops", ops: in.Ops}, nil
	}
	if in.Starter == "" && in.Reply == "" && (in.Model != "" || in.Credential != "") {
		in.Starter = starterChat
	}
	speaks, err := modelOf(ctx, w.site, call, in.Model)
	if err != nil {
		return base{}, err
	}
	return readStarter(cmp.Or(in.Starter, starterReply), in, speaks)
}

// patternOf finds the pattern by its id or name.
func (w *Writer) patternOf(ctx context.Context, call domainkit.Call, in Creation) (store.Pattern, error) {
	id := in.PatternID
	if id == 0 {
		all, err := w.site.Data.Patterns(ctx)
		if err != nil {
			return store.Pattern{}, err
		}
		named := slices.DeleteFunc(all, func(p store.Pattern) bool { return !site.SameName(p.Name, in.Pattern) })
		switch len(named) {
		case 0:
			return store.Pattern{}, domainkit.Refusef(contracts.ErrNotFound, "there is no pattern %q; search_patterns names them", in.Pattern)
		case 1:
		default:
			return store.Pattern{}, domainkit.Refusef(contracts.ErrPrecondition, "%d patterns are called %q; say which by its number", len(named), in.Pattern)
		}
		id = named[0].ID
	}
	return w.site.Usable(ctx, call, id, false)
}

// readStarter returns the base of a starter with its placeholders filled in.
func readStarter(name string, in Creation, speaks spoken) (base, error) {
	raw, err := starters.ReadFile("starters/" + name + ".json")
	if err != nil {
		return base{}, fmt.Errorf("read starter %s: %w", name, err)
	}
	var starter struct {
		Type flow.Kind `json:"type"`
		Ops  []any     `json:"ops"`
	}
	if err := json.Unmarshal(raw, &starter); err != nil {
		return base{}, fmt.Errorf("read starter %s: %w", name, err)
	}
	if in.Credential != "" && !bytes.Contains(raw, []byte("${credential}")) {
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a flow that begins with the starter %s uses no credential; leave it out, or begin with a conversation or a tool agent", name)
	}
	values := map[string]string{
		"${reply}": cmp.Or(in.Reply, defaultReply), "${credential}": cmp.Or(in.Credential, speaks.credential), "${model}": speaks.kind, "${model_id}": speaks.kind + "_0",
	}
	out := base{kind: starter.Type, how: "the starter " + name}
	for _, op := range starter.Ops {
		filled, err := json.Marshal(fill(op, values))
		if err != nil {
			return base{}, fmt.Errorf("fill starter %s: %w", name, err)
		}
		if speaks.credential != "" || !bytes.Contains(filled, []byte(flow.OpBindCredential)) {
			out.ops = append(out.ops, filled)
		}
	}
	if in.Model != "" && !bytes.Contains(raw, []byte("${model}")) {
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a flow that begins with the starter %s uses no model; leave it out, or begin with a conversation or a tool agent", name)
	}
	if in.Model != "" {
		named, err := json.Marshal(&flow.SetParam{OpType: flow.OpSetParam, NodeID: speaks.kind + "_0", ParamName: speaks.param, Value: speaks.name})
		if err != nil {
			return base{}, fmt.Errorf("name the model: %w", err)
		}
		out.ops = append(out.ops, named)
	}
	out.ops = append(out.ops, in.Ops...)
	return out, nil
}

func fill(v any, values map[string]string) any {
	switch v := v.(type) {
	case string:
		if value, is := values[v]; is {
			return value
		}
	case map[string]any:
		for key := range v {
			v[key] = fill(v[key], values)
		}
	case []any:
		for i := range v {
			v[i] = fill(v[i], values)
		}
	}
	return v
}

// Duplicate are the parameters of duplicate_chatflow.
type Duplicate struct {
	site.FlowRef
	policy.Made
	Name     string `json:"name,omitempty" max:"200" description:"Name of the copy"`
	Category string `json:"category,omitempty" max:"200" description:"Category to put the copy into, which people also call its folder"`
}

// duplicate plans a copy of a flow's graph and settings. The copy is neither deployed nor public.
// Faults of the flow do not prevent the copy.
func (w *Writer) duplicate(ctx context.Context, call domainkit.Call, in Duplicate) (plan, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return plan{}, err
	}
	if in.Category != "" {
		f.Category = &in.Category
	}
	return plan{
		create: &api.NewFlow{
			Name: cmp.Or(in.Name, present.Clip(f.Name, 190)+" (copy)"), Type: f.Type, FlowData: f.FlowData, ChatbotConfig: f.ChatbotConfig, APIConfig: f.APIConfig,
			Analytic: f.Analytic, SpeechToText: f.SpeechToText, TextToSpeech: f.TextToSpeech, FollowUpPrompts: f.FollowUpPrompts, Category: f.Category,
		},
		did: "copied from " + present.Clip(f.Name, 80), known: true,
	}, nil
}
