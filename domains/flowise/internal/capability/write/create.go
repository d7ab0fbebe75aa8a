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
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

//go:embed starters/*.json
var starters embed.FS

// Creation is a wish for a new chatflow. What it begins with is a checked
// graph, a pattern, a template or a starter; ops go on top.
type Creation struct {
	Name       string `json:"name" min:"1" max:"200" description:"Name of the new chatflow"`
	Starter    string `json:"starter,omitempty" enum:"reply,conversation,tool_agent" description:"What to begin with: a fixed reply, a conversation with a model, or an agent with tools"`
	Reply      string `json:"reply,omitempty" max:"2000" description:"What a flow that begins with a reply answers"`
	Credential string `json:"credential,omitempty" max:"200" description:"Credential of the model: its name, type or id"`
	Template   string `json:"template,omitempty" max:"200" description:"Name of a Flowise template to begin with"`
	PatternID  int64  `json:"pattern_id,omitempty" min:"1" description:"A saved pattern to begin with"`
	FlowData   string `json:"flow_data,omitempty" description:"The graph, which validate_flow must have passed in this run"`
	// Type is no enum, since the word "chatflow" of every request would be taken
	// for a choice.
	Type string     `json:"type,omitempty" pattern:"^(CHATFLOW|AGENTFLOW|MULTIAGENT)$" description:"Type of the flow: CHATFLOW, AGENTFLOW or MULTIAGENT; guessed from its nodes unless given"`
	Ops  author.Ops `json:"ops,omitempty" description:"Edits on top, in the form of the Patch IR"`
}

// defaultReply shows that the flow works and what it was asked.
const defaultReply = "You said: {{ question }}"

// defaultCredential is that of the starters' model.
const defaultCredential = "openAIApi"

// starterReply is what a flow begins with unless something else is said.
const starterReply = "reply"

// base is a graph that a new flow begins with.
type base struct {
	flowData string
	kind     flow.Kind
	how      string
	ops      author.Ops
}

// createChatflow creates a flow under an id that is made of the key, so that a
// repeat creates nothing twice, whatever was lost.
func (w *Writer) createChatflow(ctx context.Context, call domainkit.Call, in Creation) (Written, error) {
	begin, err := w.baseOf(ctx, call, in)
	if err != nil {
		return Written{}, err
	}
	if in.Credential != "" && (in.Template != "" || in.PatternID != 0) {
		if begin, err = w.withCredential(ctx, call, begin, in.Credential); err != nil {
			return Written{}, err
		}
	}
	flowData, kind := begin.flowData, begin.kind
	if in.FlowData == "" {
		if flowData, kind, err = w.compileNew(ctx, call, begin); err != nil {
			return Written{}, err
		}
	}
	if kind == "" {
		g, err := flow.Decompile([]byte(flowData))
		if err != nil {
			return Written{}, site.Unreadable(err)
		}
		kind = flow.KindOf(g)
	}
	out, err := w.create(ctx, call, site.OpCreate, api.NewFlow{Name: in.Name, Type: api.FlowType(kind), FlowData: flowData}, "created from "+begin.how)
	if err == nil && in.PatternID != 0 {
		// The flow is there; a use that could not be counted does not undo it.
		if err := w.site.Data.Used(context.WithoutCancel(ctx), in.PatternID); err != nil {
			w.site.Log.WarnContext(ctx, "the use of a pattern was not counted", slog.Int64("pattern_id", in.PatternID), slog.Any("error", err))
		}
	}
	return out, err
}

// compileNew makes the graph of a new flow here, so that it is also validated
// here.
func (w *Writer) compileNew(ctx context.Context, call domainkit.Call, begin base) (string, flow.Kind, error) {
	g := flow.Empty()
	if begin.flowData != "" {
		var err error
		if g, err = flow.Decompile([]byte(begin.flowData)); err != nil {
			return "", "", site.Unreadable(err)
		}
	}
	made, compiled, err := w.author.Compile(ctx, call, g, begin.ops, begin.kind)
	if err != nil {
		return "", "", err
	}
	if !compiled.OK {
		return "", "", notCompiled(compiled)
	}
	return string(made.FlowData), made.Kind, w.author.Passing(ctx, call, string(made.FlowData), made.Kind)
}

func notCompiled(c author.Compiled) error {
	refusal := domainkit.Refusef(contracts.ErrPrecondition, "%s", c.Summary())
	refusal.Detail = map[string]any{"faults": c.Faults, "missing_node_types": c.MissingNodeTypes}
	return refusal
}

// create sends a new flow that the guard lets through.
func (w *Writer) create(ctx context.Context, call domainkit.Call, operation string, f api.NewFlow, how string) (Written, error) {
	client, err := w.site.Pool.Client(call.Instance)
	if err != nil {
		return Written{}, site.Failure(err)
	}
	f.ID = site.KeyedID(operation, call.Instance, call.IdempotencyKey)
	sha := site.HashOf(f.FlowData)
	if err := w.site.Data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: operation, Key: call.IdempotencyKey, ChatflowID: f.ID, AfterSHA256: sha, AfterName: f.Name,
	}); err != nil {
		return Written{}, err
	}
	made, err := w.rules.Guarded(ctx, call, sha, func() (api.Flow, error) { return client.CreateFlow(ctx, f) })
	if err != nil {
		return Written{}, site.Failure(err)
	}
	return w.written(ctx, call, made, how, "")
}

// baseOf gives what a new flow begins with; more than one beginning is refused.
func (w *Writer) baseOf(ctx context.Context, call domainkit.Call, in Creation) (base, error) {
	beginnings := 0
	for _, given := range []bool{in.FlowData != "", in.Template != "", in.PatternID != 0, in.Starter != ""} {
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
	case in.FlowData != "" && len(in.Ops) > 0:
		return base{}, domainkit.Refusef(contracts.ErrInvalidParameters, "a graph that was validated takes no further ops; compile them into it")
	case in.FlowData != "":
		return base{flowData: in.FlowData, kind: flow.Kind(in.Type), how: "a checked graph"}, nil
	case in.PatternID != 0:
		p, err := w.site.Usable(ctx, call, in.PatternID, false)
		return base{p.FlowData, flow.Kind(p.Kind), fmt.Sprintf("the pattern %s", p.Name), in.Ops}, err
	case in.Template != "":
		t, err := w.site.Template(ctx, call.Instance, in.Template)
		return base{t.FlowData, flow.Kind(in.Type), "the template " + t.Name, in.Ops}, err
	case in.Starter == "" && len(in.Ops) > 0 && in.Reply == "":
		return base{"", flow.Kind(in.Type), "ops", in.Ops}, nil
	}
	return readStarter(cmp.Or(in.Starter, starterReply), in)
}

// withCredential binds a credential wherever a graph takes one of its type.
func (w *Writer) withCredential(ctx context.Context, call domainkit.Call, begin base, wanted string) (base, error) {
	g, err := flow.Decompile([]byte(begin.flowData))
	if err != nil {
		return base{}, site.Unreadable(err)
	}
	defs, err := w.site.Definitions(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	all, _, err := w.site.Credentials(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	found, err := site.CredentialOf(all, wanted)
	if err != nil {
		return base{}, err
	}
	var bind author.Ops
	taken := map[string]bool{}
	for _, place := range flow.CredentialPlaces(g, defs) {
		for _, kind := range place.Types {
			taken[kind] = true
		}
		if !slices.Contains(place.Types, found.Type) {
			continue
		}
		op, err := json.Marshal(place.Bind(found.ID))
		if err != nil {
			return base{}, fmt.Errorf("bind the credential to %s: %w", place.NodeID, err)
		}
		bind = append(bind, op)
	}
	if len(bind) == 0 {
		takes := cmp.Or(strings.Join(present.SortedKeys(taken), ", "), "none")
		return base{}, domainkit.Refusef(contracts.ErrPrecondition, "%s is a credential of type %s, and %s takes %s", present.Clip(found.Name, 80), found.Type, begin.how, present.Clip(takes, 200))
	}
	begin.ops = append(bind, begin.ops...)
	return begin, nil
}

// readStarter gives the ops of a starter, with its places filled in.
func readStarter(name string, in Creation) (base, error) {
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
		"${reply}": cmp.Or(in.Reply, defaultReply), "${credential}": cmp.Or(in.Credential, defaultCredential),
	}
	out := base{kind: starter.Type, how: "the starter " + name}
	for _, op := range starter.Ops {
		filled, err := json.Marshal(fill(op, values))
		if err != nil {
			return base{}, fmt.Errorf("fill starter %s: %w", name, err)
		}
		out.ops = append(out.ops, filled)
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

// Duplicate is a wish for a copy of a chatflow.
type Duplicate struct {
	site.FlowRef
	Name string `json:"name,omitempty" max:"200" description:"Name of the copy"`
}

// duplicateChatflow copies the graph and the settings of a flow; the copy is
// neither deployed nor public.
func (w *Writer) duplicateChatflow(ctx context.Context, call domainkit.Call, in Duplicate) (Written, error) {
	f, err := w.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	if err := w.author.Passing(ctx, call, f.FlowData, site.KindOf(f.Type)); err != nil {
		return Written{}, err
	}
	return w.create(ctx, call, site.OpDuplicate, api.NewFlow{
		Name: cmp.Or(in.Name, present.Clip(f.Name, 190)+" (copy)"), Type: f.Type, FlowData: f.FlowData, ChatbotConfig: f.ChatbotConfig, APIConfig: f.APIConfig,
		Analytic: f.Analytic, SpeechToText: f.SpeechToText, TextToSpeech: f.TextToSpeech, FollowUpPrompts: f.FollowUpPrompts, Category: f.Category,
	}, "copied from "+present.Clip(f.Name, 80))
}
