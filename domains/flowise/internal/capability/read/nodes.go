package read

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// NodeFilter are the parameters of list_nodes.
type NodeFilter struct {
	site.Place
	Category string `json:"category,omitempty" max:"60" description:"Only nodes of this category, such as Chat Models"`
	Query    string `json:"query,omitempty" max:"100" description:"Words of the name or label"`
	Limit    int    `json:"limit" default:"40" min:"1" max:"60" description:"How many at most"`
}

// NodeRow is one kind of node.
type NodeRow struct {
	Name     string  `json:"name"`
	Label    string  `json:"label"`
	Category string  `json:"category"`
	Version  float64 `json:"version"`
}

// NodeList is a list of kinds of nodes.
type NodeList struct {
	Nodes       []NodeRow      `json:"nodes"`
	Total       int            `json:"total"`
	Categories  map[string]int `json:"categories"`
	Fingerprint string         `json:"schema_fingerprint"`
	Flowise     string         `json:"flowise_version"`
}

// Summary lists the first ones.
func (n NodeList) Summary() string {
	var names []string
	for _, row := range n.Nodes[:min(6, len(n.Nodes))] {
		names = append(names, row.Name)
	}
	if len(names) == 0 {
		return "there is no such node"
	}
	return fmt.Sprintf("%s: %s", present.Count(n.Total, "node"), strings.Join(names, ", "))
}

func (r *Reader) listNodes(ctx context.Context, call domainkit.Call, in NodeFilter) (NodeList, error) {
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return NodeList{}, err
	}
	out := NodeList{Categories: map[string]int{}, Fingerprint: defs.Fingerprint(), Flowise: defs.Flowise()}
	words := strings.Fields(site.Plain(in.Query))
	for _, def := range defs.Nodes() {
		if !fitsCategory(def, in.Category) || !hasWords(def, words) {
			continue
		}
		out.Total++
		out.Categories[def.Category]++
		if len(out.Nodes) < in.Limit {
			out.Nodes = append(out.Nodes, NodeRow{def.Name, def.Label, def.Category, def.Version})
		}
	}
	return out, nil
}

func fitsCategory(def *knowledge.Definition, category string) bool {
	want, has := strings.TrimSuffix(site.Plain(category), "s"), strings.TrimSuffix(site.Plain(def.Category), "s")
	return want == "" || want == has
}

func hasWords(def *knowledge.Definition, words []string) bool {
	text := site.Plain(def.Name) + " " + site.Plain(def.Label) + " " + site.Plain(def.Category)
	return !slices.ContainsFunc(words, func(w string) bool {
		return !strings.Contains(text, w) && !strings.Contains(text, strings.TrimSuffix(w, "s"))
	})
}

// NodeQuery identifies a kind of node.
type NodeQuery struct {
	site.Place
	Name string `json:"name" min:"1" max:"100" description:"Name or label of the node, such as chatOpenAI"`
}

// NodeFacts describes the inputs and outputs of a kind of node.
type NodeFacts struct {
	Name        string       `json:"name"`
	Label       string       `json:"label"`
	Category    string       `json:"category"`
	Version     float64      `json:"version"`
	Classes     []string     `json:"base_classes"`
	Credentials []string     `json:"credential_types"`
	Anchors     []NodeAnchor `json:"anchors"`
	Params      []NodeParam  `json:"params"`
	Outputs     []string     `json:"outputs"`
	Hash        string       `json:"schema_hash"`
	Omitted     int          `json:"omitted_params,omitempty"`
}

// NodeAnchor is an input for connections.
type NodeAnchor struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	List     bool   `json:"list,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// NodeParam is an input with a value.
type NodeParam struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Required bool     `json:"required,omitempty"`
	Default  any      `json:"default,omitempty"`
	Options  []string `json:"options,omitempty"`
}

// Summary reports the number of inputs.
func (n NodeFacts) Summary() string {
	return fmt.Sprintf("%s (%s, version %v): %s, %s", n.Name, n.Category, n.Version, present.Count(len(n.Params)+n.Omitted, "parameter"), present.Count(len(n.Anchors), "anchor"))
}

func (r *Reader) getNode(ctx context.Context, call domainkit.Call, in NodeQuery) (domainkit.Result[NodeFacts], error) {
	defs, err := r.site.Definitions(ctx, call.Instance)
	if err != nil {
		return domainkit.Result[NodeFacts]{}, err
	}
	def, near := site.FindNode(defs, in.Name)
	if def == nil {
		return domainkit.Result[NodeFacts]{}, domainkit.Refusef(contracts.ErrNotFound, "there is no node %q%s", in.Name, near)
	}
	return domainkit.Result[NodeFacts]{Facts: describeNode(def), Artifacts: map[string]any{"definition": def.Raw}}, nil
}

// Limits of a description.
const (
	maxNodeOptions = 12
	maxDefault     = 80
)

func describeNode(def *knowledge.Definition) NodeFacts {
	out := NodeFacts{
		Name: def.Name, Label: def.Label, Category: def.Category, Version: def.Version, Classes: def.BaseClasses,
		Anchors: []NodeAnchor{}, Params: []NodeParam{}, Outputs: OutputsOf(def), Hash: def.Hash,
	}
	if def.Credential != nil {
		out.Credentials = def.Credential.CredentialNames
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		if p.IsAnchor() {
			out.Anchors = append(out.Anchors, NodeAnchor{p.Name, p.Type, p.List, !p.Optional})
			continue
		}
		row := NodeParam{Name: p.Name, Type: p.Type, Required: !p.Optional && len(p.Default) == 0, Default: shortDefault(p.Default)}
		for _, o := range p.Options[:min(maxNodeOptions, len(p.Options))] {
			row.Options = append(row.Options, cmp.Or(o.Name, o.Label))
		}
		out.Params = append(out.Params, row)
	}
	for present.Size(out) > present.MaxDigest && len(out.Params) > 0 {
		keep := len(out.Params) * 3 / 4
		out.Omitted += len(out.Params) - keep
		out.Params = out.Params[:keep]
	}
	return out
}

// OutputsOf returns the outputs of a kind of node.
func OutputsOf(def *knowledge.Definition) []string {
	out := []string{}
	for _, o := range def.Outputs {
		out = append(out, o.Name)
	}
	if len(out) == 0 && !def.HideOutput {
		out = append(out, def.Name)
	}
	return out
}

// shortDefault returns a default value, or nil if it is long.
func shortDefault(raw json.RawMessage) any {
	if len(raw) == 0 || len(raw) > maxDefault {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}
