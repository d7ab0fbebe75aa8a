// Package develop has the steps of developing a chatflow that a model performs if there is one:
// here they read the goal, plan and write the ops by rules. The workflow develop_chatflow calls
// them as fallbacks of its reason steps.
package develop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/goal"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Developer has the steps.
type Developer struct {
	site   *site.Site
	author *author.Author
}

// New returns a Developer.
func New(s *site.Site, a *author.Author) *Developer { return &Developer{s, a} }

// Register adds the capabilities.
func (d *Developer) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, d.site, domainkit.Capability{Name: "read_goal"}, d.readGoal),
		site.Add(svc, d.site, domainkit.Capability{Name: "hydrate_context"}, d.hydrateContext),
		site.Add(svc, d.site, domainkit.Capability{Name: "discover"}, d.hydrateContext),
		site.Add(svc, d.site, domainkit.Capability{Name: "plan_from_goal"}, d.planFromGoal),
		site.Add(svc, d.site, domainkit.Capability{Name: "default_scope"}, d.defaultScope),
		site.Add(svc, d.site, domainkit.Capability{Name: "ops_from_contract"}, d.opsFromContract),
		site.Add(svc, d.site, domainkit.Capability{Name: "compile_ops"}, d.compileOps),
	)
}

const (
	modeCreate = "create"
	modeUpdate = "update"
)

// Wish are the parameters of read_goal.
type Wish struct {
	site.Place
	Goal string `json:"goal" min:"3" max:"4000" description:"What the chatflow shall do"`
}

// Intent is the result of read_goal.
type Intent struct {
	Intent     string  `json:"intent"`
	TargetName string  `json:"target_name"`
	Confidence float64 `json:"confidence"`
	// Needs are the credential types that the goal requires.
	Needs    []string      `json:"needs"`
	Name     string        `json:"name"`
	Features goal.Features `json:"features"`
	Unread   []string      `json:"unread"`
	Says     string        `json:"says"`
}

// Summary describes what was read.
func (i Intent) Summary() string { return i.Says }

func (d *Developer) readGoal(ctx context.Context, call domainkit.Call, in Wish) (Intent, error) {
	tools, err := d.tools(ctx, call)
	if err != nil {
		return Intent{}, err
	}
	read := goal.Read(in.Goal, tools.Defs)
	out := Intent{
		Intent: modeCreate, Name: read.Name, Confidence: .5, Needs: []string{}, Features: read.Features,
		Unread: append([]string{}, read.Unread...), Says: present.Clip(read.Summary(), 280),
	}
	if len(read.Words()) > 0 {
		out.Confidence = .8
	}
	if read.Update {
		out.Intent, out.TargetName = modeUpdate, read.Target
		return out, nil
	}
	ways, err := tools.Approaches(read.Features)
	if err != nil {
		return Intent{}, refusal(err)
	}
	out.Needs = credentialsOf(ways[0].Ops)
	return out, nil
}

// tools returns the definitions and credentials of a server. If the server does not return its
// credentials, there are none, and the result says so.
func (d *Developer) tools(ctx context.Context, call domainkit.Call) (goal.Tools, error) {
	defs, err := d.site.Definitions(ctx, call.Instance)
	if err != nil {
		return goal.Tools{}, err
	}
	out := goal.Tools{Defs: defs, Have: map[string]string{}}
	all, _, err := d.site.Credentials(ctx, call.Instance)
	if err != nil {
		return out, err
	}
	for _, c := range author.NewestFirst(all) {
		if out.Have[c.Type] == "" {
			out.Have[c.Type] = c.ID
		}
	}
	return out, nil
}

func refusal(err error) error {
	if e, ours := errors.AsType[*contracts.Error](err); ours && e.Code == contracts.CodeInvalid {
		return domainkit.Refusef(contracts.ErrPrecondition, "%s", e.Message)
	}
	return site.Failure(err)
}

func credentialsOf(ops []flow.Op) []string {
	out := []string{}
	for _, op := range ops {
		if bind, is := op.(*flow.BindCredential); is && !slices.Contains(out, bind.CredentialType) {
			out = append(out, bind.CredentialType)
		}
	}
	return out
}

// Surroundings are the parameters of hydrate_context.
type Surroundings struct {
	site.Place
	Goal    string   `json:"goal" max:"4000" description:"What the chatflow shall do"`
	Needs   []string `json:"needs,omitempty" max:"30" description:"Types of credentials that it needs, such as openAIApi"`
	Refresh bool     `json:"refresh_credentials,omitempty" description:"Ask the server anew which credentials there are"`
}

// Context is what a plan must know about the server.
type Context struct {
	MissingCredentials []string            `json:"missing_credentials"`
	Credentials        []Account           `json:"credentials"`
	Patterns           []site.PatternFacts `json:"patterns"`
	Nodes              int                 `json:"nodes"`
	Fingerprint        string              `json:"schema_fingerprint"`
	// PageMissing means that the goal refers to a page without its address.
	PageMissing    bool   `json:"page_missing"`
	SummaryForPlan string `json:"summary_for_plan"`
}

// Account is a credential without its secret.
type Account struct {
	Type string `json:"type"`
	Name string `json:"name"`
	ID   string `json:"credential_id"`
}

// Summary reports the missing credentials.
func (c Context) Summary() string {
	if len(c.MissingCredentials) > 0 {
		return "missing in Flowise: " + strings.Join(c.MissingCredentials, ", ")
	}
	return c.SummaryForPlan
}

func (d *Developer) hydrateContext(ctx context.Context, call domainkit.Call, in Surroundings) (Context, error) {
	defs, err := d.site.Definitions(ctx, call.Instance)
	if err != nil {
		return Context{}, err
	}
	all, stale, err := d.site.Credentials(ctx, call.Instance)
	if err != nil {
		return Context{}, err
	}
	out := Context{MissingCredentials: []string{}, Credentials: []Account{}, Patterns: []site.PatternFacts{}, Nodes: len(defs.Names()), Fingerprint: defs.Fingerprint(), PageMissing: goal.Read(in.Goal, defs).LacksPage()}
	for _, need := range in.Needs {
		fits := slices.DeleteFunc(author.NewestFirst(all), func(c knowledge.Credential) bool { return !strings.EqualFold(c.Type, need) })
		if len(fits) == 0 {
			out.MissingCredentials = append(out.MissingCredentials, need)
			continue
		}
		out.Credentials = append(out.Credentials, Account{need, present.Clip(fits[0].Name, 80), fits[0].ID})
	}
	if out.Patterns, err = d.patternsFor(ctx, call, in.Goal); err != nil {
		return Context{}, err
	}
	out.SummaryForPlan = fmt.Sprintf("%d kinds of nodes; credentials: %s; patterns that may fit: %s",
		out.Nodes, orNone(accountNames(out.Credentials)), orNone(patternNames(out.Patterns)))
	if stale {
		out.SummaryForPlan += "; the credentials are those that were last known"
	}
	return out, nil
}

func accountNames(all []Account) []string {
	var out []string
	for _, a := range all {
		out = append(out, a.Name+" ("+a.Type+")")
	}
	return out
}

func patternNames(all []site.PatternFacts) []string {
	var out []string
	for _, p := range all {
		out = append(out, present.Clip(p.Name, 60))
	}
	return out
}

func orNone(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }

// Contract is what will be built, for a person to approve or edit.
type Contract struct {
	Goal            string        `json:"goal" max:"8000" description:"What the chatflow shall do"`
	Name            string        `json:"name" max:"200" description:"What it is called"`
	Action          string        `json:"action" description:"create or update"`
	Features        goal.Features `json:"features,omitzero" description:"What it has; what its goal says of that, unless given"`
	Credentials     []string      `json:"credentials,omitzero" description:"Types of credentials that it takes"`
	DomainTargets   []string      `json:"domain_targets,omitzero" description:"What it acts on outside of Flowise"`
	DataFields      []string      `json:"data_fields,omitzero" description:"Data that passes through it"`
	PIIFields       []string      `json:"pii_fields,omitzero" description:"Those of them that are personal"`
	SuccessCriteria []string      `json:"success_criteria" description:"What a test must show"`
	Open            []string      `json:"open,omitempty" description:"What a person must fill in, in Flowise"`
	NotBuilt        []string      `json:"not_built,omitempty" description:"What was asked for and is not built"`
}

// Planning are the parameters of plan_from_goal.
type Planning struct {
	site.Place
	Goal     string `json:"goal" min:"3" max:"4000" description:"What the chatflow shall do"`
	Mode     string `json:"mode,omitempty" enum:"create,update" default:"create" description:"Whether a flow is made or changed"`
	Feedback string `json:"feedback,omitempty" max:"4000" description:"What a person said of the last result"`
	Base     string `json:"base,omitempty" description:"The graph that is changed"`
}

// Planned is a contract with the approaches to fulfil it.
type Planned struct {
	Contract   Contract        `json:"contract"`
	Approaches []goal.Approach `json:"approaches"`
	Says       string          `json:"says"`
}

// Summary describes what would be built.
func (p Planned) Summary() string { return p.Says }

func (d *Developer) planFromGoal(ctx context.Context, call domainkit.Call, in Planning) (Planned, error) {
	tools, err := d.tools(ctx, call)
	if err != nil {
		return Planned{}, err
	}
	read := goal.Read(in.Goal, tools.Defs)
	contract := Contract{Goal: read.Text, Name: read.Name, Action: in.Mode, Features: read.Features, NotBuilt: read.Unread}
	if in.Mode == modeUpdate {
		// A change is the last message: the flow has the rest already.
		asked := goal.Read(cmp.Or(in.Feedback, in.Goal), tools.Defs)
		contract.Features, contract.NotBuilt = asked.Change(), asked.Unread
		contract.Name = cmp.Or(read.Target, read.Name)
		if len(contract.Features.Words()) == 0 && contract.Features.Instructions == "" {
			contract.NotBuilt = append(contract.NotBuilt, fmt.Sprintf("nothing of %q is read as a change", present.Clip(asked.Text, 200)))
		}
	} else if in.Feedback != "" {
		asked := goal.Read(in.Feedback, tools.Defs)
		contract.Features = goal.Merge(read.Features, asked.Features)
		contract.NotBuilt = append(slices.Clone(read.Unread), asked.Unread...)
	}
	contract.SuccessCriteria = criteria(contract.Features)
	contract.PIIFields = personal(contract.Features.Form)
	contract.DataFields, contract.DomainTargets = contract.Features.Form, contract.Features.APIs
	contract.explicit()
	out := Planned{Contract: contract, Approaches: []goal.Approach{}}
	if in.Mode == modeUpdate {
		out.Says = present.Clip("change: "+orNone(contract.Features.Words())+notBuilt(contract.NotBuilt), 280)
		return out, nil
	}
	if out.Approaches, err = tools.Approaches(contract.Features); err != nil {
		return Planned{}, refusal(err)
	}
	best := out.Approaches[0]
	out.Contract.Credentials, out.Contract.Open = credentialsOf(best.Ops), best.Open
	out.Contract.explicit()
	out.Says = present.Clip(fmt.Sprintf("%s: %s", contract.Name, best.Label)+notBuilt(contract.NotBuilt), 280)
	patterns, err := d.patternsFor(ctx, call, in.Goal)
	for _, p := range patterns {
		out.Approaches = append(out.Approaches, goal.Approach{
			Value: fmt.Sprintf("%s%d", byPattern, p.PatternID), Kind: flow.Kind(p.Type),
			Label: fmt.Sprintf("Begin with the pattern %s (%s, used %s)", present.Clip(p.Name, 60), p.Category, present.Count(p.Uses, "time")),
		})
	}
	if err != nil {
		return Planned{}, err
	}
	templates, err := d.templatesFor(ctx, call, in.Goal)
	for _, t := range templates[:min(len(templates), mostApproaches-len(out.Approaches))] {
		out.Approaches = append(out.Approaches, goal.Approach{
			Value: byTemplate + t.Name, Label: fmt.Sprintf("Begin with Flowise's template %s", present.Clip(t.Name, 80)),
		})
	}
	return out, err
}

// mostApproaches bounds the choices of a person.
const mostApproaches = 4

// byTemplate is the prefix of an approach that uses a template, before its name.
const byTemplate = "template:"

// byPattern is the prefix of an approach that uses a pattern, before its id.
const byPattern = "pattern:"

// explicit replaces nil lists by empty ones, so that the contract states that there are no
// credentials or personal data.
func (c *Contract) explicit() {
	for _, list := range []*[]string{&c.Credentials, &c.DomainTargets, &c.DataFields, &c.PIIFields} {
		if *list == nil {
			*list = []string{}
		}
	}
}

// notBuilt describes what a plan leaves out.
func notBuilt(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; not built: " + strings.Join(names, ", ")
}

// criteria returns what a test can check for features.
func criteria(f goal.Features) []string {
	if f.Reply != "" {
		return []string{fmt.Sprintf("answers with %q", f.Reply)}
	}
	var out []string
	for _, b := range f.Branches {
		if len(b.Says) > 0 {
			out = append(out, fmt.Sprintf("answers with %q where it is asked for %s", b.Reply, b.Says[0]))
		}
	}
	if f.Otherwise != "" {
		out = append(out, fmt.Sprintf("answers with %q where it is asked for anything else", f.Otherwise))
	}
	return append(out, "answers every question")[:max(1, min(len(out), 9))]
}

// personal returns the fields that usually hold personal data.
func personal(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool {
		return !slices.ContainsFunc([]string{"name", "mail", "phone", "address", "birth", "nome", "nombre", "telef"}, func(w string) bool { return strings.Contains(strings.ToLower(f), w) })
	})
}

// Scoping are the parameters of the capability that limits a patch.
type Scoping struct {
	site.Place
	Contract Contract `json:"contract" description:"What shall be built"`
	Mode     string   `json:"mode,omitempty" enum:"create,update" default:"create" description:"Whether a flow is made or changed"`
}

// Scope limits a patch.
type Scope struct {
	MaxOps         int      `json:"max_ops"`
	FocusNodes     []string `json:"focus_nodes"`
	ProtectedNodes []string `json:"protected_nodes"`
}

// Summary reports the maximum number of ops.
func (s Scope) Summary() string { return fmt.Sprintf("at most %d ops", s.MaxOps) }

// Limits of a patch: a new flow of connected nodes needs more ops than an edit.
const (
	opsToCreate = 40
	opsToChange = 12
)

func (*Developer) defaultScope(_ context.Context, _ domainkit.Call, in Scoping) (Scope, error) {
	out := Scope{MaxOps: opsToCreate, FocusNodes: []string{}, ProtectedNodes: []string{}}
	if in.Mode == modeUpdate {
		out.MaxOps = opsToChange
	}
	return out, nil
}

// Building are the parameters of ops_from_contract.
type Building struct {
	site.Place
	Contract Contract `json:"contract" description:"What shall be built"`
	Approach string   `json:"approach,omitempty" max:"100" description:"Which of the approaches; the first unless given"`
	Base     string   `json:"base,omitempty" description:"The graph that is changed; none for a new flow"`
}

// Patch is a contract compiled to ops.
type Patch struct {
	Ops author.Ops `json:"ops"`
	// Left lists the parts of the contract that do not fit into the flow.
	Left []string `json:"left"`
}

// Summary reports the number of ops.
func (p Patch) Summary() string {
	text := present.Count(len(p.Ops), "op")
	if len(p.Left) > 0 {
		text += "; not done: " + p.Left[0]
	}
	return text
}

// said returns the features in the goal of a contract.
func said(in Building, defs flow.Definitions) goal.Features {
	read := goal.Read(in.Contract.Goal, defs)
	if in.Base != "" {
		return read.Change()
	}
	return read.Features
}

func (d *Developer) opsFromContract(ctx context.Context, call domainkit.Call, in Building) (Patch, error) {
	tools, err := d.tools(ctx, call)
	if err != nil {
		return Patch{}, err
	}
	if len(in.Contract.Features.Words()) == 0 { // a model's contract states its goal only as text
		in.Contract.Features = said(in, tools.Defs)
	}
	if in.Base != "" {
		return change(tools, in)
	}
	ways, err := tools.Approaches(in.Contract.Features)
	if err != nil {
		return Patch{}, refusal(err)
	}
	way := ways[0]
	if i := slices.IndexFunc(ways, func(a goal.Approach) bool { return a.Value == in.Approach }); i >= 0 {
		way = ways[i]
	}
	return patch(way.Ops, nil)
}

// Aim is a goal, and the graph to change.
type Aim struct {
	Wish

	FlowData string `json:"flow_data,omitempty" description:"The graph that is changed; none for a new flow"`
}

// compileOps compiles a goal to ops without a contract. Plans across domains call it in each
// domain.
func (d *Developer) compileOps(ctx context.Context, call domainkit.Call, in Aim) (Patch, error) {
	return d.opsFromContract(ctx, call, Building{Place: in.Place, Contract: Contract{Goal: in.Goal}, Base: in.FlowData})
}

func change(tools goal.Tools, in Building) (Patch, error) {
	g, err := flow.Decompile([]byte(in.Base))
	if err != nil {
		return Patch{}, site.Unreadable(err)
	}
	ops, left, err := tools.Change(g, flow.KindOf(g), in.Contract.Features)
	if err != nil {
		return Patch{}, refusal(err)
	}
	if len(ops) == 0 && in.Contract.Action == modeUpdate {
		// The requester sees this with the result and can rephrase.
		left = append(left, in.Contract.NotBuilt...)
		left = append(left, "say it as a change of one thing, such as \"change the model to …\" or \"it must always reply …\"")
	}
	return patch(ops, left)
}

func patch(ops []flow.Op, left []string) (Patch, error) {
	list, err := author.Encode(ops)
	return Patch{Ops: list, Left: append([]string{}, left...)}, err
}
