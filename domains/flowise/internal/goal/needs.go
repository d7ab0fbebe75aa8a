package goal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// maxDepth bounds the recursion into the needs of nodes.
const maxDepth = 6

// complete connects what a node requires and what the features ask for.
func (b *builder) complete(def *knowledge.Definition, id string, depth int) error {
	if depth > maxDepth {
		return refuse("%s needs more nodes than can be followed", def.Label)
	}
	for i := range def.Inputs {
		p := &def.Inputs[i]
		if !p.IsAnchor() {
			b.mind(def, id, p)
			continue
		}
		kinds, err := b.fill(def, p, depth)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			if err := b.attach(kind, id, p, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// mind records a parameter that a person must fill in: files are uploaded in Flowise's canvas.
func (b *builder) mind(def *knowledge.Definition, id string, p *knowledge.Param) {
	if p.Optional || p.Default != nil || len(p.Show) > 0 || b.given(id, p.Name) {
		return
	}
	if p.Type == "file" || p.Type == "folder" || p.Type == "string" || p.Type == "password" {
		b.open = append(b.open, fmt.Sprintf("%s of %s (%s)", p.Label, def.Label, id))
	}
}

func (b *builder) given(id, param string) bool {
	return slices.ContainsFunc(b.ops, func(op flow.Op) bool {
		add, is := op.(*flow.AddNode)
		return is && add.NodeID == id && add.Params[param] != nil
	})
}

// want is a node for an anchor.
type want struct {
	kind   string
	params map[string]json.RawMessage
	key    string
}

// fill returns the nodes for an anchor: those that the features name, or a suitable one if the
// anchor is required.
func (b *builder) fill(def *knowledge.Definition, p *knowledge.Param, depth int) ([]want, error) {
	switch {
	case p.Type == "Tool":
		return b.tools()
	case p.Type == "Document" && b.retrieves(def):
		return b.documents(), nil
	case p.Type == "Moderation" && depth == 0 && b.f.Moderation != "":
		return []want{{kind: b.f.Moderation}}, nil
	case takes(p, "Memory") && depth == 0:
		return b.memories(p)
	case p.Type == "TextSplitter" && depth > 0:
		return b.one(p)
	case p.Optional:
		return nil, nil
	}
	return b.one(p)
}

func (b *builder) retrieves(def *knowledge.Definition) bool { return def.Category == "Vector Stores" }

// memories returns the memory of a head; a required one is added even if it was not asked for.
func (b *builder) memories(p *knowledge.Param) ([]want, error) {
	if b.f.Memory != nil && !*b.f.Memory && p.Optional {
		return nil, nil
	}
	return b.one(p)
}

// tools returns the named tools, API calls and a retriever tool for the documents; an agent needs
// at least one.
func (b *builder) tools() ([]want, error) {
	var out []want
	for _, kind := range b.f.Tools {
		out = append(out, want{kind: kind})
	}
	how := defaults["get"]
	if b.f.Post {
		how = defaults["post"]
	}
	for i, url := range b.f.APIs {
		out = append(out, want{kind: how, key: fmt.Sprint(how, i), params: map[string]json.RawMessage{how + "Url": raw(url), how + "Name": raw(fmt.Sprintf("call_api_%d", i+1))}})
	}
	if len(b.f.Documents) > 0 {
		kind, err := b.lookUp()
		if err != nil {
			return nil, err
		}
		out = append(out, want{kind: kind, params: map[string]json.RawMessage{
			"name": raw("search_documents"), "description": raw("Searches the documents that answers must come from."),
		}})
	}
	if len(out) == 0 {
		return []want{{kind: "calculator"}, {kind: "currentDateTime"}}, nil
	}
	return out, nil
}

// lookUp returns the tool that queries a retriever.
func (b *builder) lookUp() (string, error) {
	for _, name := range b.Defs.Names() {
		def, _ := b.Defs.Node(name)
		if def != nil && def.Category == "Tools" && !outdated(def) && slices.ContainsFunc(def.Inputs, func(p knowledge.Param) bool { return p.Type == "BaseRetriever" && !p.Optional }) {
			return name, nil
		}
	}
	return "", refuse("there is no tool that looks into documents")
}

// documents returns the loaders of the flow's documents.
func (b *builder) documents() []want {
	var out []want
	for i, d := range b.f.Documents {
		kind := cmp.Or(d.Kind, "plainText")
		w := want{kind: kind, key: fmt.Sprint(kind, i)}
		if def, known := b.Defs.Node(kind); known && d.Address != "" {
			for j := range def.Inputs {
				if p := &def.Inputs[j]; p.Type == "string" && strings.Contains(strings.ToLower(p.Name), "url") {
					w.params = map[string]json.RawMessage{p.Name: raw(d.Address)}
					break
				}
			}
		}
		out = append(out, w)
	}
	return out
}

// one returns the best node for an anchor: a named one, else one with the provider of an existing
// node, else the one that needs least.
func (b *builder) one(p *knowledge.Param) ([]want, error) {
	var best *knowledge.Definition
	least := 0
	for _, name := range b.Defs.Names() {
		def, _ := b.Defs.Node(name)
		if def == nil || outdated(def) || !gives(def, p.Type) {
			continue
		}
		if cost := b.cost(def, p.Type); best == nil || cost < least {
			best, least = def, cost
		}
	}
	if best == nil {
		return nil, refuse("no node gives the %s that is needed", p.Label)
	}
	w := want{kind: best.Name}
	if best.Name == b.f.Model && b.f.ModelName != "" {
		if name := modelParam(best); name != "" {
			w.params = map[string]json.RawMessage{name: raw(b.f.ModelName)}
		}
	}
	return []want{w}, nil
}

func modelParam(def *knowledge.Definition) string {
	for _, name := range []string{"modelName", "model"} {
		if _, has := def.Input(name); has {
			return name
		}
	}
	return ""
}

// gives reports whether a node can be connected to an anchor of a type.
func gives(def *knowledge.Definition, class string) bool {
	if def.HideOutput {
		return false
	}
	if len(def.Outputs) == 0 {
		return slices.Contains(def.BaseClasses, class)
	}
	return slices.ContainsFunc(def.Outputs, func(o knowledge.Output) bool { return !o.Hidden && slices.Contains(o.BaseClasses, class) })
}

// cost ranks suitable nodes: named or existing ones first, those that need a missing credential
// last.
func (b *builder) cost(def *knowledge.Definition, class string) int {
	cost := 0
	switch {
	case def.Name == b.f.Model || def.Name == b.f.Store || b.made[def.Name] != "":
		cost -= 1000
	case b.sharesAccount(def):
		cost -= 300
	}
	if def.Name == defaults[class] {
		cost -= 150
	}
	if kinds := accounts(def); slices.ContainsFunc(kinds, func(k string) bool { return b.Have[k] != "" }) {
		cost -= 100
	} else if def.Credential != nil {
		cost += 100
	}
	holds := slices.ContainsFunc(def.Inputs, func(p knowledge.Param) bool { return p.Type == "Document" })
	if len(b.f.Documents) > 0 && (class == "BaseRetriever" || class == "VectorStore") && !holds {
		cost += 500 // an existing index holds other documents
	}
	for i := range def.Inputs {
		switch p := &def.Inputs[i]; {
		case p.Optional || p.Default != nil || len(p.Show) > 0:
		case p.IsAnchor():
			cost += 20
		default: // no preference was given
			cost += 40
		}
	}
	return cost + len(def.Label)/4
}

// accounts returns the credential types of which a node requires one.
func accounts(def *knowledge.Definition) []string {
	if def.Credential == nil || def.Credential.Optional {
		return nil
	}
	return def.Credential.CredentialNames
}

// sharesAccount reports whether a node uses a credential that the flow already uses.
func (b *builder) sharesAccount(def *knowledge.Definition) bool {
	return slices.ContainsFunc(accounts(def), func(k string) bool {
		return slices.ContainsFunc(b.ops, func(op flow.Op) bool {
			bind, is := op.(*flow.BindCredential)
			return is && bind.CredentialType == k
		})
	})
}

// attach connects a node to an anchor; an existing node is reused.
func (b *builder) attach(w want, to string, p *knowledge.Param, depth int) error {
	key := cmp.Or(w.key, w.kind)
	id := b.made[key]
	if id == "" {
		def, known := b.Defs.Node(w.kind)
		if !known {
			return refuse("there is no node %q", w.kind)
		}
		id = b.add(w.kind, w.params)
		b.made[key] = id
		if err := b.complete(def, id, depth+1); err != nil {
			return err
		}
	}
	b.connectAs(id, to, p)
	return nil
}
