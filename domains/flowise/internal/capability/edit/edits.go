package edit

import (
	"context"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// InPart selects the part of a flow to change, by its id from find_part.
type InPart struct {
	Part string `json:"part,omitempty" max:"300" pattern:"^[A-Za-z][A-Za-z0-9_]*(/[^#]+)?#[A-Za-z0-9_]*$" description:"Which part of the flow, by its name; needed only where several would do"`
}

// kindPrefix marks a value as the name of a kind, as opposed to a search text.
const kindPrefix = "kind:"

func kindOf(value string) string { return strings.TrimPrefix(value, kindPrefix) }

// Model are the parameters of a change of the model.
type Model struct {
	site.FlowRef
	policy.Base
	InPart
	Model      string `json:"model" min:"1" max:"200" pattern:"^[A-Za-z0-9_]+:.+$" description:"Name of the model"`
	Credential string `json:"credential,omitempty" max:"200" description:"Credential for it: its name, type or id; needed only for another provider"`
}

func (*Editor) model(_ context.Context, _ domainkit.Call, t edit.Target, in Model) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleModel, in.Part)
	if err != nil {
		return nil, err
	}
	kind, name, named := strings.Cut(in.Model, ":")
	if !named {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "model %q is not of the form kind:name; find_model gives it", in.Model)
	}
	credential := in.Credential
	if kind == at.Def.Name && boundAlready(at) {
		credential = "" // the bound one serves the same provider
	}
	return t.Model(at, kind, name, credential)
}

// boundAlready reports whether the model has a credential.
func boundAlready(at edit.Spot) bool {
	return at.Path == "" && at.Node.Credential() != "" || at.Path != "" && at.Text("FLOWISE_CREDENTIAL_ID") != ""
}

// Temperature are the parameters of a change of the temperature.
type Temperature struct {
	site.FlowRef
	policy.Base
	InPart
	Temperature float64 `json:"temperature" min:"0" max:"2" description:"How freely the model answers: 0 is the most predictable"`
}

func (*Editor) temperature(_ context.Context, _ domainkit.Call, t edit.Target, in Temperature) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleTemperature, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Temperature(at, in.Temperature), nil
}

// Prompt are the parameters of a change of the system prompt.
type Prompt struct {
	site.FlowRef
	policy.Base
	InPart
	Prompt string `json:"prompt" min:"1" max:"20000" description:"The text by which the model is told how to behave"`
}

func (*Editor) prompt(_ context.Context, _ domainkit.Call, t edit.Target, in Prompt) ([]flow.Op, error) {
	at, err := t.Spot(edit.RolePrompt, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Prompt(at, in.Prompt)
}

// Instruction are the parameters of an addition to a prompt.
type Instruction struct {
	site.FlowRef
	policy.Base
	InPart
	Instruction string `json:"instruction" min:"1" max:"4000" description:"What shall be added to the prompt; of a whole request, what stands in quotation marks or behind the name of the flow"`
}

func (e *Editor) extend(ctx context.Context, call domainkit.Call, t edit.Target, in Instruction) ([]flow.Op, error) {
	at, err := t.Spot(edit.RolePrompt, in.Part)
	if err != nil {
		return nil, err
	}
	f, err := e.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return nil, err
	}
	return t.ExtendPrompt(at, edit.Instruction(in.Instruction, f.Name))
}

// Reply are the parameters of a change of the fixed reply.
type Reply struct {
	site.FlowRef
	policy.Base
	InPart
	Reply string `json:"reply" min:"1" max:"20000" description:"What it shall answer, whatever it is asked"`
}

func (*Editor) reply(_ context.Context, _ domainkit.Call, t edit.Target, in Reply) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleReply, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Reply(at, in.Reply), nil
}

// Credential are the parameters of a change of the credential.
type Credential struct {
	site.FlowRef
	policy.Base
	Credential string `json:"credential" min:"1" max:"200" description:"Credential to use: its name, type or id"`
}

func (e *Editor) credential(ctx context.Context, call domainkit.Call, t edit.Target, in Credential) ([]flow.Op, error) {
	all, _, err := e.site.Credentials(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	named, err := site.CredentialOf(all, in.Credential)
	if err != nil {
		return nil, err
	}
	return t.Credential(named.ID, named.Type)
}

// Memory are the parameters of a change of the memory.
type Memory struct {
	site.FlowRef
	policy.Base
	InPart
	Memory string `json:"memory" default:"kind:bufferMemory" max:"100" pattern:"^kind:[A-Za-z0-9_]+$" description:"Kind of memory, such as bufferMemory, which keeps the whole conversation"`
	Size   int    `json:"size,omitempty" min:"1" max:"1000" description:"How many messages a window keeps"`
}

func (*Editor) memory(_ context.Context, _ domainkit.Call, t edit.Target, in Memory) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleMemory, in.Part)
	if err != nil {
		return nil, err
	}
	ops, err := t.Memory(at, kindOf(in.Memory))
	if err != nil || in.Size == 0 {
		return ops, err
	}
	return t.Sized(ops, kindOf(in.Memory), in.Size)
}

// NoMemory are the parameters of the removal of a memory.
type NoMemory struct {
	site.FlowRef
	policy.Base
	InPart
}

func (*Editor) noMemory(_ context.Context, _ domainkit.Call, t edit.Target, in NoMemory) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleMemory, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Memory(at, "")
}

// Tool are the parameters of adding a tool.
type Tool struct {
	site.FlowRef
	policy.Base
	InPart
	Tool       string `json:"tool" min:"1" max:"100" pattern:"^kind:[A-Za-z0-9_]+$" description:"Kind of tool, such as calculator"`
	Credential string `json:"credential,omitempty" max:"200" description:"Credential for it: its name, type or id"`
}

func (*Editor) addTool(_ context.Context, _ domainkit.Call, t edit.Target, in Tool) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleTools, in.Part)
	if err != nil {
		return nil, err
	}
	return t.AddTool(at, kindOf(in.Tool), in.Credential)
}

// OldTool are the parameters of removing a tool.
type OldTool struct {
	site.FlowRef
	policy.Base
	Tool string `json:"tool" min:"1" max:"300" pattern:"^[A-Za-z][A-Za-z0-9_]*(/[^#]+)?#[A-Za-z0-9_]*$" description:"Which tool of the flow, by its name"`
}

func (*Editor) removeTool(_ context.Context, _ domainkit.Call, t edit.Target, in OldTool) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleTool, in.Tool)
	if err != nil {
		return nil, err
	}
	return t.RemoveTool(at)
}

// Source are the parameters of a change of the documents.
type Source struct {
	site.FlowRef
	policy.Base
	InPart
	Source string `json:"source" min:"1" max:"2000" description:"Address of the page that it shall answer from"`
}

func (*Editor) source(_ context.Context, _ domainkit.Call, t edit.Target, in Source) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleSource, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Source(at, in.Source)
}

// Moderation are the parameters of a change of the moderation.
type Moderation struct {
	site.FlowRef
	policy.Base
	InPart
	Moderation string `json:"moderation" min:"1" max:"100" pattern:"^kind:[A-Za-z0-9_]+$" description:"Kind of moderation, such as OpenAI Moderation"`
	Denied     string `json:"denied,omitempty" max:"4000" description:"Words or phrases that it shall refuse, with commas between"`
	Credential string `json:"credential,omitempty" max:"200" description:"Credential for it: its name, type or id"`
}

func (*Editor) moderation(_ context.Context, _ domainkit.Call, t edit.Target, in Moderation) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleModeration, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Moderation(at, kindOf(in.Moderation), in.Credential, in.Denied)
}

// Replacement are the parameters of the replacement of a node.
type Replacement struct {
	site.FlowRef
	policy.Base
	Part       string `json:"part" min:"1" max:"300" pattern:"^[A-Za-z][A-Za-z0-9_]*(/[^#]+)?#[A-Za-z0-9_]*$" description:"Which node of the flow, by its name"`
	Kind       string `json:"kind" min:"1" max:"100" pattern:"^kind:[A-Za-z0-9_]+$" description:"Kind of node to put in its place"`
	Credential string `json:"credential,omitempty" max:"200" description:"Credential for it: its name, type or id"`
}

func (*Editor) replace(_ context.Context, _ domainkit.Call, t edit.Target, in Replacement) ([]flow.Op, error) {
	at, err := t.Spot(edit.RoleNode, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Replace(at, kindOf(in.Kind), in.Credential)
}

// Parameter are the parameters of setting a node parameter.
type Parameter struct {
	site.FlowRef
	policy.Base
	Part      string `json:"part,omitempty" max:"300" pattern:"^[A-Za-z][A-Za-z0-9_]*(/[^#]+)?#[A-Za-z0-9_]*$" description:"Which node of the flow, by its name; needed only where several have the parameter"`
	Parameter string `json:"parameter" min:"1" max:"100" description:"Which parameter, by its name or its label"`
	Value     string `json:"value" max:"20000" description:"Its new value"`
}

func (*Editor) parameter(_ context.Context, _ domainkit.Call, t edit.Target, in Parameter) ([]flow.Op, error) {
	if in.Part == "" {
		return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "say which part of the flow has the parameter; find_part gives it")
	}
	at, err := t.Spot(edit.RoleNode, in.Part)
	if err != nil {
		return nil, err
	}
	return t.Parameter(at, in.Parameter, in.Value)
}

// Likeness are the parameters of copying a setting from another flow.
type Likeness struct {
	site.FlowRef
	policy.Base
	Setting string `json:"setting" enum:"model,temperature,prompt,memory" description:"What to take over"`
	Like    string `json:"like" pattern:"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$" description:"The chatflow to take it from"`
}

func (e *Editor) copySetting(ctx context.Context, call domainkit.Call, t edit.Target, in Likeness) ([]flow.Op, error) {
	f, err := e.site.Flow(ctx, call, in.Like)
	if err != nil {
		return nil, err
	}
	other, err := e.author.Target(ctx, call.Instance, f)
	if err != nil {
		return nil, err
	}
	return t.Like(edit.Role(in.Setting), other)
}

// Repair are the parameters of repair_chatflow.
type Repair struct {
	site.FlowRef
	policy.Base
}

// repair plans the fixes that need no input.
func (e *Editor) repair(ctx context.Context, call domainkit.Call, t edit.Target, _ Repair) ([]flow.Op, error) {
	mender, err := e.author.Mender(ctx, call, t)
	if err != nil {
		return nil, err
	}
	wrong := mender.Errors()
	if len(wrong) == 0 {
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "nothing is wrong with the flow that the checks can see")
	}
	ops, left := mender.Mend(wrong...)
	if len(ops) == 0 {
		return nil, domainkit.Refusef(contracts.ErrPrecondition, "nothing of it can be mended without being told how: %s; %s", left[0].Message, left[0].Fix)
	}
	return ops, nil
}
