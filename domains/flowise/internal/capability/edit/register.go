// Package edit changes parts of flows in people's terms: the model, the prompt, the memory, a tool.
// Look-ups find the part in the flow and the kinds of nodes. Each edit results in a proposal like
// any other write.
package edit

import (
	"context"
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/write"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Editor has the capabilities that edit flows.
type Editor struct {
	site   *site.Site
	author *author.Author
	writer *write.Writer
}

// New returns an Editor; the writer sends the planned edits.
func New(s *site.Site, a *author.Author, w *write.Writer) *Editor { return &Editor{s, a, w} }

// Register adds the capabilities.
func (e *Editor) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, e.site, domainkit.Capability{Name: "find_part"}, e.findPart),
		site.Add(svc, e.site, domainkit.Capability{Name: "find_kind"}, e.findKind),
		site.Add(svc, e.site, domainkit.Capability{Name: "find_model"}, e.findModel),
		site.Add(svc, e.site, domainkit.Capability{Name: "choose_kind_credential"}, e.chooseKindCredential),
		site.Add(svc, e.site, domainkit.Capability{Name: "find_credential"}, e.findCredential),
		add(e, svc, "set_model", e.model, part(edit.RoleModel), model(), credential("model")),
		add(e, svc, "set_temperature", e.temperature, part(edit.RoleTemperature)),
		add(e, svc, "set_prompt", e.prompt, part(edit.RolePrompt)),
		add(e, svc, "extend_prompt", e.extend, part(edit.RolePrompt)),
		add(e, svc, "set_memory", e.memory, part(edit.RoleMemory), kind("memory", "Memory")),
		add(e, svc, "remove_memory", e.noMemory, part(edit.RoleMemory)),
		add(e, svc, "add_tool", e.addTool, part(edit.RoleTools), kind("tool", "Tools"), credential("tool")),
		add(e, svc, "remove_tool", e.removeTool, named("tool", edit.RoleTool)),
		add(e, svc, "set_source", e.source, part(edit.RoleSource)),
		add(e, svc, "add_moderation", e.moderation, part(edit.RoleModeration), kind("moderation", "Moderation"), credential("moderation")),
		add(e, svc, "replace_node", e.replace, named("part", edit.RoleNode), kind("kind"), credential("kind")),
		add(e, svc, "set_parameter", e.parameter, named("part", edit.RoleNode), holding("part")),
		add(e, svc, "set_reply", e.reply, part(edit.RoleReply)),
		add(e, svc, "set_credential", e.credential, credentialNamed()),
		add(e, svc, "repair_chatflow", e.repair),
		add(e, svc, "copy_setting", e.copySetting, otherFlow()),
	)
}

// changing is implemented by the parameters of an edit.
type changing interface {
	Flow() string
	Bound() policy.Base
}

// add adds an edit. What its parameters name is looked up before the edit is proposed.
func add[In changing](e *Editor, svc *domainkit.Service, name string, ops func(context.Context, domainkit.Call, edit.Target, In) ([]flow.Op, error), searches ...[]contracts.PreStep) error {
	md := policy.Changing[In](name, true)
	md.RiskLevel = contracts.RiskMedium
	md.Phases = []string{"intent", "patch", "apply"}
	md.ParameterSpecs = e.aliases(searches)
	steps := md.Flow.Pre[:1:1] // first the flow, last the proposal
	for _, s := range searches {
		steps = append(steps, s...)
	}
	md.Flow.Pre = append(steps, md.Flow.Pre[1:]...)
	return write.AddChange(e.writer, svc, name, md, func(ctx context.Context, call domainkit.Call, f api.Flow, in In) (author.Ops, error) {
		target, err := e.author.Target(ctx, call.Instance, f)
		if err != nil {
			return nil, err
		}
		list, err := ops(ctx, call, target, in)
		if err != nil {
			return nil, refusal(err)
		}
		return author.Encode(list)
	})
}

// refusal converts an error of code invalid to a refusal with its message.
func refusal(err error) error {
	if e, ours := errors.AsType[*contracts.Error](err); ours && e.Code == contracts.CodeInvalid {
		return domainkit.Refusef(contracts.ErrPrecondition, "%s", e.Message)
	}
	return site.Failure(err)
}
