package write

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// CredentialChoices are the credentials with which a new flow can start.
type CredentialChoices struct {
	// Matches has at least one value; it is empty if there is nothing to choose.
	Matches []Choice `json:"matches"`
}

// Summary reports their number.
func (c CredentialChoices) Summary() string {
	if len(c.Matches) == 1 {
		return c.Matches[0].Label
	}
	return present.Count(len(c.Matches), "credential") + " to choose from"
}

// chooseCredential returns the possible credentials of a new flow, if there are several. It refuses
// a flow without a required credential, so that nobody is asked to approve it.
func (w *Writer) chooseCredential(ctx context.Context, call domainkit.Call, in Creation) (CredentialChoices, error) {
	settled := CredentialChoices{Matches: []Choice{{"", "no credential is to choose"}}}
	begin, err := w.baseOf(ctx, call, in)
	if err != nil {
		return CredentialChoices{}, err
	}
	var kinds []string
	if begin.flowData != "" {
		needs, err := w.credentialNeeds(ctx, call, begin)
		if err != nil {
			return CredentialChoices{}, err
		}
		all, _, err := w.site.Credentials(ctx, call.Instance)
		if err != nil {
			return CredentialChoices{}, err
		}
		for _, need := range needs {
			if fits := fitting(all, need.Types); len(fits) > 1 {
				return CredentialChoices{Matches: choices(fits)}, nil
			}
		}
		_, err = w.withCredentials(ctx, call, begin, "")
		return settled, err
	}
	if in.Model == "" && (in.Starter == "" || in.Starter == starterReply) {
		return settled, nil
	}
	speaks, err := modelOf(ctx, w.site, call, in.Model)
	if err != nil {
		return CredentialChoices{}, err
	}
	if speaks.credential == "" {
		return settled, nil
	}
	kinds = []string{speaks.credential}
	all, _, err := w.site.Credentials(ctx, call.Instance)
	if err != nil {
		return CredentialChoices{}, err
	}
	fits := fitting(all, kinds)
	if len(fits) == 0 {
		return CredentialChoices{}, lacksCredential("a flow with a model", kinds)
	}
	return CredentialChoices{Matches: choices(fits)}, nil
}

func choices(fits []knowledge.Credential) []Choice {
	var out []Choice
	for _, c := range fits[:min(10, len(fits))] {
		out = append(out, Choice{c.ID, fmt.Sprintf("%s (%s)", present.Clip(c.Name, 80), c.Type)})
	}
	return out
}

func fitting(all []knowledge.Credential, kinds []string) []knowledge.Credential {
	return slices.DeleteFunc(slices.Clone(all), func(c knowledge.Credential) bool { return !slices.Contains(kinds, c.Type) })
}

func lacksCredential(what string, kinds []string) error {
	return domainkit.Refusef(contracts.ErrPrecondition, "%s needs a credential of type %s, and there is none; create it in Flowise first", what, strings.Join(kinds, " or "))
}

// credentialNeeds returns the places of a graph that need a credential and have none.
func (w *Writer) credentialNeeds(ctx context.Context, call domainkit.Call, begin base) ([]flow.CredentialPlace, error) {
	g, err := flow.Decompile([]byte(begin.flowData))
	if err != nil {
		return nil, site.Unreadable(err)
	}
	defs, err := w.site.Definitions(ctx, call.Instance)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(flow.CredentialPlaces(g, defs), func(p flow.CredentialPlace) bool { return p.Optional || p.Bound != "" }), nil
}

// withCredentials binds the given credential wherever a graph takes its type. If none is given, it
// binds the only one of a type where one is required. It refuses a given credential that nothing
// takes, and a graph without a required one.
func (w *Writer) withCredentials(ctx context.Context, call domainkit.Call, begin base, wanted string) (base, error) {
	g, err := flow.Decompile([]byte(begin.flowData))
	if err != nil {
		return base{}, site.Unreadable(err)
	}
	defs, err := w.site.Definitions(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	places := flow.CredentialPlaces(g, defs)
	if len(places) == 0 && wanted == "" {
		return begin, nil
	}
	all, _, err := w.site.Credentials(ctx, call.Instance)
	if err != nil {
		return base{}, err
	}
	named := knowledge.Credential{}
	if wanted != "" {
		if named, err = site.CredentialOf(all, wanted); err != nil {
			return base{}, err
		}
	}
	binding := &binder{all: all, named: named, how: begin.how, known: map[string]bool{}}
	for _, c := range all {
		binding.known[c.ID] = true
	}
	for _, place := range places {
		if err := binding.bind(place); err != nil {
			return base{}, err
		}
	}
	if wanted != "" && !binding.used {
		takes := cmp.Or(strings.Join(binding.takes, ", "), "none")
		return base{}, domainkit.Refusef(contracts.ErrPrecondition, "%s is a credential of type %s, and %s takes %s", present.Clip(named.Name, 80), named.Type, begin.how, present.Clip(takes, 200))
	}
	begin.ops = append(binding.ops, begin.ops...)
	return begin, nil
}

// binder binds the credentials of one graph.
type binder struct {
	all   []knowledge.Credential
	known map[string]bool // by id
	named knowledge.Credential
	how   string

	ops   []json.RawMessage
	used  bool
	takes []string
}

func (b *binder) bind(place flow.CredentialPlace) error {
	for _, kind := range place.Types {
		if !slices.Contains(b.takes, kind) {
			b.takes = append(b.takes, kind)
		}
	}
	var chosen string
	switch fits := fitting(b.all, place.Types); {
	case b.named.ID != "" && slices.Contains(place.Types, b.named.Type):
		chosen, b.used = b.named.ID, true
	case place.Optional || b.known[place.Bound]:
		return nil
	case len(fits) == 1:
		chosen = fits[0].ID
	case len(fits) == 0:
		return lacksCredential(fmt.Sprintf("%s (%s)", b.how, place.NodeID), place.Types)
	default:
		return domainkit.Refusef(contracts.ErrPrecondition, "%s needs a credential for %s; say which: %s", b.how, place.NodeID, present.Clip(names(fits), 300))
	}
	op, err := json.Marshal(place.Bind(chosen))
	if err != nil {
		return fmt.Errorf("bind the credential to %s: %w", place.NodeID, err)
	}
	b.ops = append(b.ops, op)
	return nil
}

func names(fits []knowledge.Credential) string {
	var out []string
	for _, c := range fits {
		out = append(out, c.Name)
	}
	return strings.Join(out, ", ")
}
