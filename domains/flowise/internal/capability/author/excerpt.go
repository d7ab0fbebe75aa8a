package author

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/read"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// ExcerptWish are the parameters of excerpt_flow.
type ExcerptWish struct {
	FlowData string   `json:"flow_data,omitempty" description:"The graph of a flow, as JSON text; only for nodes"`
	Nodes    []string `json:"nodes,omitempty" max:"5" description:"Ids of nodes whose values and connections are wanted"`
	Kinds    []string `json:"kinds,omitempty" max:"5" description:"Names of kinds of nodes whose definitions are wanted"`
	Query    string   `json:"query,omitempty" max:"300" description:"What the kinds are wanted for; the definitions that fit best are given"`
	Schemas  int      `json:"schemas" default:"3" min:"1" max:"5" description:"How many definitions a query gives at most"`
}

// Excerpts are brief parts of a flow and of the definitions, never the whole flow or a whole
// definition.
type Excerpts struct {
	Nodes   []flow.Excerpt  `json:"nodes"`
	Schemas []SchemaExcerpt `json:"schemas"`
	// Fingerprint is the fingerprint of the definitions.
	Fingerprint string `json:"schema_fingerprint"`
	// Omitted counts values, connections and parameters beyond the limit.
	Omitted int `json:"omitted,omitempty"`
}

// SchemaExcerpt briefly describes a kind of node: parameters as "name:type", with a star if
// required.
type SchemaExcerpt struct {
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Category    string   `json:"category"`
	Credentials []string `json:"credential_types,omitempty"`
	Anchors     []string `json:"anchors"`
	Params      []string `json:"params"`
	Outputs     []string `json:"outputs"`
}

// Summary reports what it contains.
func (e Excerpts) Summary() string {
	return fmt.Sprintf("%s and %s", present.Count(len(e.Nodes), "node"), present.Count(len(e.Schemas), "definition"))
}

// excerptFlow returns the parts that a reasoning step asks for.
func (a *Author) excerptFlow(ctx context.Context, call domainkit.Call, in ExcerptWish) (Excerpts, error) {
	if len(in.Nodes)+len(in.Kinds) == 0 && in.Query == "" {
		return Excerpts{}, domainkit.Refusef(contracts.ErrInvalidParameters, "say which nodes, which kinds, or what for")
	}
	defs, err := a.site.Definitions(ctx, call.Instance)
	if err != nil {
		return Excerpts{}, err
	}
	out := Excerpts{Schemas: []SchemaExcerpt{}, Fingerprint: defs.Fingerprint()}
	if out.Nodes, err = nodeExcerpts(in, defs); err != nil {
		return Excerpts{}, err
	}
	for _, name := range in.Kinds {
		def, near := site.FindNode(defs, name)
		if def == nil {
			return Excerpts{}, domainkit.Refusef(contracts.ErrNotFound, "there is no node %q%s", name, near)
		}
		out.Schemas = append(out.Schemas, schemaExcerpt(def))
	}
	for _, def := range bestKinds(defs, in.Query, in.Schemas) {
		// The query may match a kind that was also given by its label.
		if !slices.ContainsFunc(out.Schemas, func(s SchemaExcerpt) bool { return s.Name == def.Name }) {
			out.Schemas = append(out.Schemas, schemaExcerpt(def))
		}
	}
	fit(&out)
	return out, nil
}

func nodeExcerpts(in ExcerptWish, defs *knowledge.Snapshot) ([]flow.Excerpt, error) {
	out := []flow.Excerpt{}
	if len(in.Nodes) == 0 {
		return out, nil
	}
	g, err := flow.Decompile([]byte(in.FlowData))
	if err != nil {
		return nil, site.Unreadable(err)
	}
	for _, id := range in.Nodes {
		one, found := flow.ExcerptOf(g, id, defs)
		if !found {
			return nil, domainkit.Refusef(contracts.ErrNotFound, "%s", g.Nearest(id))
		}
		out = append(out, one)
	}
	return out, nil
}

func schemaExcerpt(def *knowledge.Definition) SchemaExcerpt {
	out := SchemaExcerpt{Name: def.Name, Label: def.Label, Category: def.Category, Anchors: []string{}, Params: []string{}, Outputs: read.OutputsOf(def)}
	if def.Credential != nil {
		out.Credentials = def.Credential.CredentialNames
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		text := p.Name + ":" + p.Type
		if !p.Optional && len(p.Default) == 0 {
			text += "*"
		}
		if p.IsAnchor() {
			out.Anchors = append(out.Anchors, text)
		} else {
			out.Params = append(out.Params, text)
		}
	}
	return out
}

// bestKinds returns the kinds that share the most words with a query, best first. A word in few
// labels weighs more than one in many.
func bestKinds(defs *knowledge.Snapshot, query string, most int) []*knowledge.Definition {
	all := defs.Nodes()
	weights := map[string]int{}
	for w := range strings.FieldsSeq(site.Plain(query)) {
		having := 0
		for _, def := range all {
			if labelled(def, w) {
				having++
			}
		}
		if len(w) >= 3 { // shorter words are not significant
			weights[w] = 1000 / (5 + having)
		}
	}
	scores := map[*knowledge.Definition]int{}
	var found []*knowledge.Definition
	for _, def := range all {
		if scores[def] = fitness(def, weights); scores[def] > 0 {
			found = append(found, def)
		}
	}
	slices.SortStableFunc(found, func(a, b *knowledge.Definition) int { return cmp.Compare(scores[b], scores[a]) })
	return found[:min(most, len(found))]
}

func labelled(def *knowledge.Definition, word string) bool {
	return slices.ContainsFunc(append(strings.Fields(site.Plain(def.Label)), site.Plain(def.Name)), func(other string) bool {
		return strings.HasPrefix(other, word) || len(other) >= 3 && strings.HasPrefix(word, other)
	})
}

// fitness adds up the weights of the words in a kind's label, doubled if they are the whole label.
func fitness(def *knowledge.Definition, weights map[string]int) int {
	sum, hits := 0, 0
	for word, weight := range weights {
		if labelled(def, word) {
			sum, hits = sum+weight, hits+1
		}
	}
	words := max(1, len(strings.Fields(def.Label)))
	return sum + sum*min(hits, words)/words
}

// fit shortens the longest lists until everything fits into the facts.
func fit(e *Excerpts) {
	for present.Size(*e) > present.MaxDigest {
		longest := longestOf(e)
		if longest == nil || len(*longest) == 0 {
			return
		}
		keep := len(*longest) * 3 / 4
		e.Omitted += len(*longest) - keep
		*longest = (*longest)[:keep]
	}
}

func longestOf(e *Excerpts) *[]string {
	var out *[]string
	for _, list := range listsOf(e) {
		if out == nil || present.Size(*list) > present.Size(*out) {
			out = list
		}
	}
	return out
}

func listsOf(e *Excerpts) []*[]string {
	var out []*[]string
	for i := range e.Nodes {
		out = append(out, &e.Nodes[i].Params, &e.Nodes[i].Edges)
	}
	for i := range e.Schemas {
		out = append(out, &e.Schemas[i].Params, &e.Schemas[i].Anchors)
	}
	return out
}
