package flowise

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
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
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
	Type string `json:"type,omitempty" pattern:"^(CHATFLOW|AGENTFLOW|MULTIAGENT)$" description:"Type of the flow: CHATFLOW, AGENTFLOW or MULTIAGENT; guessed from its nodes unless given"`
	Ops  Ops    `json:"ops,omitempty" description:"Edits on top, in the form of the Patch IR"`
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
	ops      Ops
}

// createChatflow creates a flow under an id that is made of the key, so that a
// repeat creates nothing twice, whatever was lost.
func (d *domain) createChatflow(ctx context.Context, call domainkit.Call, in Creation) (Written, error) {
	begin, err := d.baseOf(ctx, call, in)
	if err != nil {
		return Written{}, err
	}
	if in.Credential != "" && (in.Template != "" || in.PatternID != 0) {
		if begin, err = d.withCredential(ctx, call, begin, in.Credential); err != nil {
			return Written{}, err
		}
	}
	flowData, kind := begin.flowData, begin.kind
	if in.FlowData == "" {
		if flowData, kind, err = d.compileNew(ctx, call, begin); err != nil {
			return Written{}, err
		}
	}
	if kind == "" {
		g, err := flow.Decompile([]byte(flowData))
		if err != nil {
			return Written{}, unreadable(err)
		}
		kind = flow.KindOf(g)
	}
	out, err := d.create(ctx, call, opCreate, api.NewFlow{Name: in.Name, Type: api.FlowType(kind), FlowData: flowData}, "created from "+begin.how)
	if err == nil && in.PatternID != 0 {
		// The flow is there; a use that could not be counted does not undo it.
		if err := d.data.Used(context.WithoutCancel(ctx), in.PatternID); err != nil {
			d.log.WarnContext(ctx, "the use of a pattern was not counted", slog.Int64("pattern_id", in.PatternID), slog.Any("error", err))
		}
	}
	return out, err
}

// compileNew makes the graph of a new flow here, so that it is also validated
// here.
func (d *domain) compileNew(ctx context.Context, call domainkit.Call, begin base) (string, flow.Kind, error) {
	g := flow.Empty()
	if begin.flowData != "" {
		var err error
		if g, err = flow.Decompile([]byte(begin.flowData)); err != nil {
			return "", "", unreadable(err)
		}
	}
	made, compiled, err := d.compile(ctx, call, g, begin.ops, begin.kind)
	if err != nil {
		return "", "", err
	}
	if !compiled.OK {
		return "", "", notCompiled(compiled)
	}
	return string(made.FlowData), made.Kind, d.passing(ctx, call, string(made.FlowData), made.Kind)
}

func notCompiled(c Compiled) error {
	refusal := domainkit.Refusef(contracts.ErrPrecondition, "%s", c.Summary())
	refusal.Detail = map[string]any{"faults": c.Faults, "missing_node_types": c.MissingNodeTypes}
	return refusal
}

// create sends a new flow that the guard lets through.
func (d *domain) create(ctx context.Context, call domainkit.Call, operation string, f api.NewFlow, how string) (Written, error) {
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return Written{}, failure(err)
	}
	f.ID = keyedID(operation, call.Instance, call.IdempotencyKey)
	sha := hashOf(f.FlowData)
	if err := d.data.Begin(ctx, store.Operation{
		Instance: call.Instance, Capability: operation, Key: call.IdempotencyKey, ChatflowID: f.ID, AfterSHA256: sha, AfterName: f.Name,
	}); err != nil {
		return Written{}, err
	}
	made, err := d.guarded(ctx, call, sha, func() (api.Flow, error) { return client.CreateFlow(ctx, f) })
	if err != nil {
		return Written{}, failure(err)
	}
	return d.written(ctx, call, made, how, "")
}

// baseOf gives what a new flow begins with; more than one beginning is refused.
func (d *domain) baseOf(ctx context.Context, call domainkit.Call, in Creation) (base, error) {
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
		p, err := d.usable(ctx, call, in.PatternID, false)
		return base{p.FlowData, flow.Kind(p.Kind), fmt.Sprintf("the pattern %s", p.Name), in.Ops}, err
	case in.Template != "":
		t, err := d.template(ctx, call.Instance, in.Template)
		return base{t.FlowData, flow.Kind(in.Type), "the template " + t.Name, in.Ops}, err
	case in.Starter == "" && len(in.Ops) > 0 && in.Reply == "":
		return base{"", flow.Kind(in.Type), "ops", in.Ops}, nil
	}
	return readStarter(cmp.Or(in.Starter, starterReply), in)
}

// withCredential binds a credential wherever a graph takes one of its type.
func (d *domain) withCredential(ctx context.Context, call domainkit.Call, begin base, wanted string) (base, error) {
	g, err := flow.Decompile([]byte(begin.flowData))
	if err != nil {
		return base{}, unreadable(err)
	}
	defs, err := d.definitions(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	all, _, err := d.credentials(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	found, err := credentialOf(all, wanted)
	if err != nil {
		return base{}, err
	}
	var bind Ops
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
		takes := cmp.Or(strings.Join(sortedKeys(taken), ", "), "none")
		return base{}, domainkit.Refusef(contracts.ErrPrecondition, "%s is a credential of type %s, and %s takes %s", clip(found.Name, 80), found.Type, begin.how, clip(takes, 200))
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
	FlowRef
	Name string `json:"name,omitempty" max:"200" description:"Name of the copy"`
}

// duplicateChatflow copies the graph and the settings of a flow; the copy is
// neither deployed nor public.
func (d *domain) duplicateChatflow(ctx context.Context, call domainkit.Call, in Duplicate) (Written, error) {
	f, err := d.flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Written{}, err
	}
	if err := d.passing(ctx, call, f.FlowData, kindOf(f.Type)); err != nil {
		return Written{}, err
	}
	return d.create(ctx, call, opDuplicate, api.NewFlow{
		Name: cmp.Or(in.Name, clip(f.Name, 190)+" (copy)"), Type: f.Type, FlowData: f.FlowData, ChatbotConfig: f.ChatbotConfig, APIConfig: f.APIConfig,
		Analytic: f.Analytic, SpeechToText: f.SpeechToText, TextToSpeech: f.TextToSpeech, FollowUpPrompts: f.FollowUpPrompts, Category: f.Category,
	}, "copied from "+clip(f.Name, 80))
}
