package edit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Match is a search result.
type Match struct {
	Value string `json:"value"`
	Label string `json:"label"`
	// Exact means that it is exactly what was searched for.
	Exact bool `json:"exact"`
}

// Matches are search results, likeliest first.
type Matches struct {
	Matches []Match `json:"matches"`
}

// Summary reports their number.
func (m Matches) Summary() string {
	if len(m.Matches) == 1 {
		return "found " + m.Matches[0].Label
	}
	return present.Count(len(m.Matches), "match") + " to choose from"
}

// maxMatches bounds the choices of a person.
const maxMatches = 10

func (m Matches) with(value, label string, exact bool) Matches {
	if len(m.Matches) < maxMatches {
		m.Matches = append(m.Matches, Match{value, present.Clip(label, 200), exact})
	}
	return m
}

// PartQuery are the parameters of find_part.
type PartQuery struct {
	site.FlowRef
	Role  edit.Role `json:"role" enum:"model,temperature,prompt,memory,tools,tool,source,moderation,node,reply,parameter" description:"What the part does in the flow"`
	Query string    `json:"query,omitempty" max:"200" description:"What it is called, or words of it"`
	// Parameter is the parameter that the part must have if Role is "parameter".
	Parameter string `json:"parameter,omitempty" max:"100" description:"The parameter that it has, by its name or its label"`
}

// ofKind returns the query for the parts of a kind.
func ofKind(name string) string { return name + "#" }

// findPart returns the parts of a flow with a role. It refuses a flow without one, so that nobody
// is asked to choose.
func (e *Editor) findPart(ctx context.Context, call domainkit.Call, in PartQuery) (Matches, error) {
	f, err := e.site.Flow(ctx, call, in.ChatflowID)
	if err != nil {
		return Matches{}, err
	}
	target, err := e.author.Target(ctx, call.Instance, f)
	if err != nil {
		return Matches{}, err
	}
	in.Query = strings.TrimSuffix(in.Query, ofKind(""))
	spots, what := edit.Spots(target.Graph, target.Defs, in.Role), string(in.Role)
	if in.Role == edit.RoleParameter {
		spots, what = edit.Holding(target.Graph, target.Defs, in.Parameter), fmt.Sprintf("parameter %q", present.Clip(in.Parameter, 60))
	}
	if len(spots) == 0 {
		return Matches{}, domainkit.Refusef(contracts.ErrPrecondition, "%s has no %s to change", present.Clip(f.Name, 80), what)
	}
	var out Matches
	for _, s := range spots {
		if in.Query == "" {
			out = out.with(s.ID(), s.Label(), true)
		} else if called(s, in.Query) {
			out = out.with(s.ID(), s.Label(), true)
		}
	}
	if in.Query == "" || len(out.Matches) > 0 {
		return out, nil
	}
	for _, s := range spots {
		if shares(s, in.Query) {
			out = out.with(s.ID(), s.Label(), false)
		}
	}
	if len(out.Matches) == 0 {
		return Matches{}, domainkit.Refusef(contracts.ErrNotFound, "%s has no %s %q; there are %s", present.Clip(f.Name, 80), in.Role, in.Query, labels(spots))
	}
	return out, nil
}

func labels(spots []edit.Spot) string {
	var out []string
	for _, s := range spots[:min(8, len(spots))] {
		out = append(out, s.Label())
	}
	return strings.Join(out, "; ")
}

// called reports whether a part has exactly this name.
func called(s edit.Spot, query string) bool {
	return slices.ContainsFunc([]string{s.Node.ID(), s.Node.Label(), s.Def.Label, s.Def.Name, s.ID()}, func(name string) bool { return site.SameName(name, query) })
}

// shares reports whether the name of a part contains all words.
func shares(s edit.Spot, query string) bool {
	have := slices.Concat(edit.Words(s.Node.ID()), edit.Words(s.Node.Label()), edit.Words(s.Def.Label))
	words := edit.Words(query)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(have, w) })
}

// KindQuery are the parameters of find_kind.
type KindQuery struct {
	site.Place
	Query    string `json:"query" min:"1" max:"200" description:"What the kind is called, or words of it"`
	Category string `json:"category,omitempty" max:"60" description:"Only kinds of categories that begin so"`
}

func (e *Editor) findKind(ctx context.Context, call domainkit.Call, in KindQuery) (Matches, error) {
	defs, err := e.site.Definitions(ctx, call.Instance)
	if err != nil {
		return Matches{}, err
	}
	var categories []string
	if in.Category != "" {
		categories = []string{in.Category}
	}
	var out Matches
	for _, k := range edit.Kinds(defs, in.Query, categories...) {
		out = out.with(kindPrefix+k.Def.Name, fmt.Sprintf("%s (%s, %s)", k.Def.Label, k.Def.Name, k.Def.Category), k.Exact)
	}
	if len(out.Matches) == 0 {
		return Matches{}, domainkit.Refusef(contracts.ErrNotFound, "Flowise has no node called %q among its %s; ask which nodes there are", in.Query, cmp.Or(in.Category, "nodes"))
	}
	return out, nil
}

// ModelQuery are the parameters of find_model.
type ModelQuery struct {
	site.Place
	ChatflowID string `json:"chatflow_id,omitempty" max:"100" description:"The chatflow whose model it is to be; none asks all kinds of models"`
	Part       string `json:"part,omitempty" max:"300" description:"The part of the flow whose model it is"`
	Query      string `json:"query" min:"1" max:"200" description:"Name of the model, or of who makes it"`
}

// modelValue encodes a model with the kind of its node.
func modelValue(kind, model string) string { return kind + ":" + model }

// findModel finds a model by name: first among those of the existing node, then among those of all
// kinds of chat models.
func (e *Editor) findModel(ctx context.Context, call domainkit.Call, in ModelQuery) (Matches, error) {
	defs, err := e.site.Definitions(ctx, call.Instance)
	if err != nil {
		return Matches{}, err
	}
	var now *knowledge.Definition // the current kind of model
	if in.ChatflowID != "" {
		at, err := e.modelAt(ctx, call, in.ChatflowID, in.Part)
		if err != nil {
			return Matches{}, err
		}
		now = at.Def
	}
	var own []string
	if now != nil {
		if own, err = e.modelsOf(ctx, call, now); err != nil {
			return Matches{}, err
		}
	}
	var out Matches
	for _, name := range own {
		if sameModel(name, in.Query) {
			out = out.with(modelValue(now.Name, name), name+" of "+now.Label, true)
		}
	}
	if len(out.Matches) > 0 {
		return out, nil
	}
	all, err := e.allModels(ctx, call, defs, in.Query)
	if err != nil {
		return Matches{}, err
	}
	if now == nil {
		all = e.reachable(ctx, call, all)
	}
	for _, exact := range []bool{true, false} {
		for _, m := range all {
			if m.exact == exact {
				out = out.with(modelValue(m.def.Name, m.name), m.name+" of "+m.def.Label, exact)
			}
		}
		if len(out.Matches) > 0 {
			return out, nil
		}
	}
	switch {
	case now != nil && takesAnyModel(now):
		out = out.with(modelValue(now.Name, in.Query), in.Query+" of "+now.Label, true)
	case now != nil && !strings.ContainsAny(in.Query, " "):
		// The model may be newer than the server's list; a person decides.
		out = out.with(modelValue(now.Name, in.Query), fmt.Sprintf("%s of %s, which Flowise does not list", in.Query, now.Label), false)
	default:
		return Matches{}, domainkit.Refusef(contracts.ErrNotFound, "Flowise knows no model %q; it has, for example, %s", in.Query, present.Clip(strings.Join(own, ", "), 300))
	}
	return out, nil
}

// modelAt returns the model of a flow at a part.
func (e *Editor) modelAt(ctx context.Context, call domainkit.Call, id, part string) (edit.Spot, error) {
	f, err := e.site.Flow(ctx, call, id)
	if err != nil {
		return edit.Spot{}, err
	}
	target, err := e.author.Target(ctx, call.Instance, f)
	if err != nil {
		return edit.Spot{}, err
	}
	at, err := target.Spot(edit.RoleModel, part)
	if err != nil {
		return edit.Spot{}, domainkit.Refusef(contracts.ErrNotFound, "%s: %s", present.Clip(f.Name, 80), site.Reason(err))
	}
	return at, nil
}

// sameModel reports whether two model names are equal, ignoring separators.
func sameModel(name, query string) bool {
	return slices.Equal(edit.Words(name), edit.Words(query))
}

func modelParam(def *knowledge.Definition) (knowledge.Param, bool) {
	for _, name := range []string{"modelName", "model"} {
		if p, has := def.Input(name); has {
			return *p, true
		}
	}
	return knowledge.Param{}, false
}

// takesAnyModel reports whether the model name is free text.
func takesAnyModel(def *knowledge.Definition) bool {
	p, has := modelParam(def)
	return has && p.Type == "string"
}

// modelsOf returns the models that a kind of node offers.
func (e *Editor) modelsOf(ctx context.Context, call domainkit.Call, def *knowledge.Definition) ([]string, error) {
	p, has := modelParam(def)
	if !has || p.LoadMethod == "" {
		var out []string
		for _, o := range p.Options {
			out = append(out, o.Name)
		}
		return out, nil
	}
	client, err := e.site.Pool.Client(call.Instance)
	if err != nil {
		return nil, site.Failure(err)
	}
	choices, err := client.Choices(ctx, def.Name, p.LoadMethod)
	if err != nil {
		return nil, site.Failure(err)
	}
	var out []string
	for _, c := range choices {
		out = append(out, c.Name)
	}
	return out, nil
}

type foundModel struct {
	def   *knowledge.Definition
	name  string
	exact bool
}

// allModels searches all kinds of chat models for a model by its name or its vendor ("Claude
// Sonnet").
func (e *Editor) allModels(ctx context.Context, call domainkit.Call, defs *knowledge.Snapshot, query string) ([]foundModel, error) {
	words := edit.Words(query)
	var mu sync.Mutex
	var out []foundModel
	var group errgroup.Group
	group.SetLimit(8)
	for _, name := range defs.Names() {
		def, _ := defs.Node(name)
		if def.Category != "Chat Models" || strings.Contains(name, "_LlamaIndex") {
			continue
		}
		group.Go(func() error {
			models, err := e.modelsOf(ctx, call, def)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for _, m := range models {
				have := append(edit.Words(m), edit.Words(def.Label)...)
				if exact := sameModel(m, query); exact || !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(have, w) }) {
					out = append(out, foundModel{def, m, exact})
				}
			}
			return nil
		})
	}
	err := group.Wait()
	// The vendor's own node comes before those of resellers.
	slices.SortStableFunc(out, func(a, b foundModel) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.def.Name, b.def.Name), cmp.Compare(b.name, a.name))
	})
	return out, err
}

// reachable filters the models to kinds with an existing credential, if there are any: several
// providers offer the same models.
func (e *Editor) reachable(ctx context.Context, call domainkit.Call, all []foundModel) []foundModel {
	credentials, _, err := e.site.Credentials(ctx, call.Instance)
	if err != nil {
		return all // the person is asked for one later
	}
	lacking := func(m foundModel) bool {
		need := m.def.Credential
		return need != nil && !slices.ContainsFunc(credentials, func(c knowledge.Credential) bool { return slices.Contains(need.CredentialNames, c.Type) })
	}
	if out := slices.DeleteFunc(slices.Clone(all), lacking); len(out) > 0 {
		return out
	}
	return all
}

// KindCredential are the parameters of choose_kind_credential.
type KindCredential struct {
	site.Place
	ChatflowID string `json:"chatflow_id,omitempty" max:"100" description:"The chatflow, where the kind takes the place of a model there"`
	Part       string `json:"part,omitempty" max:"300" description:"The part whose place it takes"`
	Kind       string `json:"kind" max:"300" description:"The kind of node, or a model of one"`
}

// chooseKindCredential returns the credentials for a kind of node, or an empty one if it needs
// none.
func (e *Editor) chooseKindCredential(ctx context.Context, call domainkit.Call, in KindCredential) (Matches, error) {
	var out Matches
	defs, err := e.site.Definitions(ctx, call.Instance)
	if err != nil {
		return out, err
	}
	name, _, isModel := strings.Cut(kindOf(in.Kind), ":")
	def, known := defs.Node(name)
	if isModel && in.ChatflowID != "" {
		now, err := e.modelAt(ctx, call, in.ChatflowID, in.Part)
		if err != nil {
			return out, err
		}
		if now.Def.Name == name && boundAlready(now) {
			return out.with("", "the credential that is there", true), nil
		}
	}
	if !known || def.Credential == nil || def.Credential.Optional {
		out = out.with("", "no credential is needed", true)
		return out, nil
	}
	all, _, err := e.site.Credentials(ctx, call.Instance)
	if err != nil {
		return out, err
	}
	fits := slices.DeleteFunc(all, func(c knowledge.Credential) bool { return !slices.Contains(def.Credential.CredentialNames, c.Type) })
	for _, c := range fits {
		out = out.with(c.ID, fmt.Sprintf("%s (%s)", present.Clip(c.Name, 80), c.Type), true)
	}
	if len(fits) == 0 {
		return out, domainkit.Refusef(contracts.ErrPrecondition, "%s needs a credential of type %s, and there is none; create it in Flowise first", def.Label, strings.Join(def.Credential.CredentialNames, " or "))
	}
	return out, nil
}

// CredentialQuery are the parameters of find_credential.
type CredentialQuery struct {
	site.Place
	Query string `json:"query" min:"1" max:"200" description:"Name of the credential, its type or its id"`
}

// findCredential finds a credential by its name, or by words of the name.
func (e *Editor) findCredential(ctx context.Context, call domainkit.Call, in CredentialQuery) (Matches, error) {
	all, _, err := e.site.Credentials(ctx, call.Instance)
	if err != nil {
		return Matches{}, err
	}
	out := Matches{Matches: []Match{}}
	for _, exact := range []bool{true, false} {
		for _, c := range all {
			is := site.SameName(c.Name, in.Query) || strings.EqualFold(c.ID, in.Query) || strings.EqualFold(c.Type, in.Query)
			if !exact {
				is = allWords(edit.Words(c.Name), edit.Words(in.Query))
			}
			if is {
				out = out.with(c.ID, fmt.Sprintf("%s (%s)", present.Clip(c.Name, 80), c.Type), exact)
			}
		}
		if len(out.Matches) > 0 {
			return out, nil
		}
	}
	return out, nil // if ambiguous, the person is asked
}

// allWords reports whether a name contains all words of a query, ignoring words such as
// "credential".
func allWords(name, said []string) bool {
	said = slices.DeleteFunc(slices.Clone(said), func(w string) bool { return w == "the" || w == "credential" || w == "credentials" || w == "key" })
	return len(said) > 0 && !slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(name, w) })
}
