package read

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// CredentialFilter are the parameters of list_credentials.
type CredentialFilter struct {
	site.Place
	Type  string `json:"type,omitempty" max:"100" description:"Only credentials of this type, such as openAIApi"`
	Limit int    `json:"limit" default:"40" min:"1" max:"60" description:"How many at most"`
}

// CredentialList is a list of credentials without secrets.
type CredentialList struct {
	Credentials []knowledge.Credential `json:"credentials"`
	Total       int                    `json:"total"`
	Stale       bool                   `json:"stale"`
}

// Summary lists the first ones.
func (c CredentialList) Summary() string {
	var names []string
	for _, row := range c.Credentials[:min(5, len(c.Credentials))] {
		names = append(names, fmt.Sprintf("%s (%s)", present.Clip(row.Name, 40), row.Type))
	}
	if len(names) == 0 {
		return "there is no such credential"
	}
	return fmt.Sprintf("%s: %s", present.Count(c.Total, "credential"), strings.Join(names, ", "))
}

func (r *Reader) listCredentials(ctx context.Context, call domainkit.Call, in CredentialFilter) (CredentialList, error) {
	all, stale, err := r.site.Credentials(ctx, call.Instance)
	if err != nil {
		return CredentialList{}, err
	}
	out := CredentialList{Stale: stale}
	for _, c := range all {
		if in.Type != "" && !strings.EqualFold(c.Type, in.Type) {
			continue
		}
		out.Total++
		if len(out.Credentials) < in.Limit {
			out.Credentials = append(out.Credentials, c)
		}
	}
	return out, nil
}

// CredentialNeed are the parameters of a credential check.
type CredentialNeed struct {
	site.Place
	Types     []string `json:"types,omitempty" max:"30" description:"Types of credentials, such as openAIApi"`
	NodeNames []string `json:"node_names,omitempty" max:"60" description:"Kinds of nodes whose credentials are needed, such as chatOpenAI"`
}

// CredentialCheck says which of the needed credentials exist.
type CredentialCheck struct {
	OK      bool               `json:"ok"`
	Found   []CredentialChoice `json:"found"`
	Missing []string           `json:"missing"`
	// Ambiguous are the types with several credentials to choose from.
	Ambiguous []string `json:"ambiguous"`
	Stale     bool     `json:"stale"`
}

// CredentialChoice is a credential that satisfies a need.
type CredentialChoice struct {
	Type         string `json:"type"`
	CredentialID string `json:"credential_id"`
	Name         string `json:"name"`
}

// Summary reports whether all exist, and what is missing.
func (c CredentialCheck) Summary() string {
	if !c.OK {
		return "no, there is no credential of type " + strings.Join(c.Missing, ", none of type ")
	}
	if len(c.Found) == 0 {
		return "no credential is needed for that"
	}
	var names []string
	for _, f := range c.Found[:min(5, len(c.Found))] {
		names = append(names, fmt.Sprintf("%s (%s)", f.Name, f.Type))
	}
	return "yes: " + strings.Join(names, ", ")
}

func (r *Reader) checkCredentials(ctx context.Context, call domainkit.Call, in CredentialNeed) (CredentialCheck, error) {
	all, stale, err := r.site.Credentials(ctx, call.Instance)
	if err != nil {
		return CredentialCheck{}, err
	}
	needs, err := r.needs(ctx, call.Instance, in)
	if err != nil {
		return CredentialCheck{}, err
	}
	out := CredentialCheck{Missing: []string{}, Stale: stale}
	if len(in.Types)+len(in.NodeNames) == 0 {
		return CredentialCheck{}, domainkit.Refusef(contracts.ErrInvalidParameters, "say for what: a type such as openAIApi, a node such as pinecone, or a company such as Anthropic")
	}
	for _, kinds := range needs {
		fits := 0
		for _, c := range all {
			if slices.ContainsFunc(kinds, func(k string) bool { return strings.EqualFold(k, c.Type) }) {
				fits++
				out.Found = append(out.Found, CredentialChoice{c.Type, c.ID, present.Clip(c.Name, 80)})
			}
		}
		switch {
		case fits == 0:
			out.Missing = append(out.Missing, strings.Join(kinds, " or "))
		case fits > 1:
			out.Ambiguous = append(out.Ambiguous, strings.Join(kinds, " or "))
		}
	}
	out.OK = len(out.Missing) == 0
	return out, nil
}

// needs returns, for each need, the alternative credential types.
func (r *Reader) needs(ctx context.Context, instance string, in CredentialNeed) ([][]string, error) {
	defs, err := r.site.Definitions(ctx, instance)
	if err != nil {
		return nil, err
	}
	var out [][]string
	add := func(kinds ...string) {
		if !slices.ContainsFunc(out, func(have []string) bool { return slices.Equal(have, kinds) }) {
			out = append(out, kinds)
		}
	}
	for _, t := range in.Types {
		if kinds := typesCalled(defs, t); len(kinds) > 0 {
			add(kinds...)
		} else {
			add(t)
		}
	}
	for _, name := range in.NodeNames {
		def, near := site.FindNode(defs, name)
		kinds := typesCalled(defs, name)
		switch {
		case def == nil && len(kinds) > 0: // a vendor's name stands for its credential
			add(kinds...)
			continue
		case def == nil:
			return nil, domainkit.Refusef(contracts.ErrNotFound, "there is no node %q%s", name, near)
		}
		if def.Credential != nil && !def.Credential.Optional && len(def.Credential.CredentialNames) > 0 {
			add(def.Credential.CredentialNames...)
		}
	}
	return out, nil
}

// typesCalled returns the credential types for a word: the one with that name, or those that start
// with it, such as pineconeApi for Pinecone.
func typesCalled(defs *knowledge.Snapshot, word string) []string {
	want := strings.ReplaceAll(site.Plain(word), " ", "")
	var out []string
	for _, def := range defs.Nodes() {
		if def.Credential == nil {
			continue
		}
		for _, kind := range def.Credential.CredentialNames {
			if strings.EqualFold(kind, want) {
				return []string{kind}
			}
			if want != "" && strings.HasPrefix(strings.ToLower(kind), want) && !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	slices.Sort(out)
	return out
}
