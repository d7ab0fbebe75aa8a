// Package edit turns what people say of the inside of a flow (its model, its
// prompt, its memory, its tools …) into ops of the Patch IR. It finds what plays a
// role in a graph by the definitions of nodes, by their categories, anchors and
// parameters, and knows no list of kinds. It is pure.
package edit

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Role is what a part of a flow does in it.
type Role string

// The roles.
const (
	RoleModel       Role = "model"
	RoleTemperature Role = "temperature"
	RolePrompt      Role = "prompt"
	RoleMemory      Role = "memory"
	RoleTools       Role = "tools"
	RoleTool        Role = "tool"
	RoleSource      Role = "source"
	RoleModeration  Role = "moderation"
	RoleNode        Role = "node"
	RoleReply       Role = "reply"
	// RoleParameter is that of whatever has a parameter that is called so.
	RoleParameter Role = "parameter"
)

// Spot is a part of a graph that plays a role, and the parameter or anchor by
// which it does.
type Spot struct {
	flow.Place

	Param string
}

// ID names a spot in a graph: "chatOpenAI_0#temperature", or, of a component,
// "agentAgentflow_0/agentModel#temperature".
func (s Spot) ID() string {
	id := s.Node.ID()
	if s.Path != "" {
		id += "/" + s.Path
	}
	return id + "#" + s.Param
}

// Label names it for people, with what it holds.
func (s Spot) Label() string {
	text := fmt.Sprintf("%s (%s)", cmp.Or(s.Node.Label(), s.Def.Label), s.Node.ID())
	if s.Path != "" {
		text = s.Def.Label + " of " + text
	}
	if s.Param == "" {
		return text
	}
	held := s.Text(s.Param)
	if p, has := s.Place.Param(s.Param); !has || p.Type == "array" || held == "" {
		return text + ", " + s.Param
	}
	return text + ", " + s.Param + ": " + clip(flow.Hide(held), 60)
}

func clip(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// Spots finds what plays a role in a graph, in the order of its nodes.
func Spots(g *flow.Graph, defs flow.Definitions, role Role) []Spot {
	var out []Spot
	for _, p := range flow.Places(g, defs) {
		for _, param := range playedBy(p, role) {
			out = append(out, Spot{p, param})
		}
	}
	if role == RolePrompt {
		return likeliest(g, out)
	}
	return out
}

// Find returns the spot of an id.
func Find(g *flow.Graph, defs flow.Definitions, id string) (Spot, bool) {
	where, param, _ := strings.Cut(id, "#")
	for _, p := range flow.Places(g, defs) {
		if s := (Spot{p, param}); s.ID() == where+"#"+param {
			return s, true
		}
	}
	return Spot{}, false
}

// playedBy returns the parameters or anchors by which a place plays a role.
func playedBy(p flow.Place, role Role) []string {
	switch role {
	case RoleModel:
		if name := modelParam(p); name != "" {
			return []string{name}
		}
	case RoleTemperature:
		if _, has := p.Param("temperature"); has && isModel(p.Def) {
			return []string{"temperature"}
		}
	case RolePrompt:
		return promptParams(p)
	case RoleMemory:
		return memoryParams(p)
	case RoleTools:
		return append(anchorsOf(p, "Tool", true), arraysOf(p, "SelectedTool")...)
	case RoleTool:
		if strings.HasPrefix(p.Def.Category, "Tools") {
			return []string{""}
		}
	case RoleSource:
		return sourceParams(p)
	case RoleModeration:
		return anchorsOf(p, "Moderation", false)
	case RoleNode:
		if p.Path == "" {
			return []string{""}
		}
	case RoleReply:
		return replyParams(p)
	case RoleParameter: // it is not told by a place alone; Holding finds it
	}
	return nil
}

var replyWords = regexp.MustCompile(`(?i)reply.?message`)

// replyParams are the texts that a node answers with, whatever it is asked.
func replyParams(p flow.Place) []string {
	var out []string
	for _, param := range p.Params() {
		if p.Path == "" && param.Type == "string" && replyWords.MatchString(param.Name) {
			out = append(out, param.Name)
		}
	}
	return out
}

// Holding finds what has a parameter that is called so, by its name or its label.
func Holding(g *flow.Graph, defs flow.Definitions, called string) []Spot {
	want := Words(called)
	var out []Spot
	for _, p := range flow.Places(g, defs) {
		for _, param := range p.Params() {
			if param.Type != "credential" && (slices.Equal(want, Words(param.Name)) || slices.Equal(want, Words(param.Label))) {
				out = append(out, Spot{p, param.Name})
				break // two parameters of one name are told apart by what is chosen there
			}
		}
	}
	return out
}

func isModel(def *knowledge.Definition) bool {
	return def.Category == "Chat Models" || def.Category == "LLMs"
}

// modelParam is the parameter of a model that names it.
func modelParam(p flow.Place) string {
	if !isModel(p.Def) {
		return ""
	}
	for _, name := range []string{"modelName", "model"} {
		if _, has := p.Param(name); has {
			return name
		}
	}
	return ""
}

var systemWords = regexp.MustCompile(`(?i)system.?(message|prompt|instruction)|(message|prompt).?system`)

// promptParams are texts by which a node is told how to behave: its system
// message, or the messages of an agent, or any prompt.
func promptParams(p flow.Place) []string {
	if p.Path != "" {
		return nil
	}
	var system, other []string
	for _, param := range p.Params() {
		switch {
		case param.Type == "array" && strings.HasSuffix(param.Name, "Messages") && hasMember(param, "role") && hasMember(param, "content"):
			system = append(system, param.Name)
		case param.Type != "string" || isModel(p.Def):
		case systemWords.MatchString(param.Name) || systemWords.MatchString(param.Label):
			system = append(system, param.Name)
		case strings.Contains(strings.ToLower(param.Name), "prompt") || param.Name == "template" && p.Def.Category == "Prompts":
			other = append(other, param.Name)
		}
	}
	if len(system) > 0 {
		return system[:1]
	}
	return other
}

func hasMember(p knowledge.Param, name string) bool {
	return slices.ContainsFunc(p.Array, func(m knowledge.Param) bool { return m.Name == name })
}

// likeliest leaves the prompts that are meant where nothing more is said: those
// by which the answering node is told how to behave, else system messages, else
// all.
func likeliest(g *flow.Graph, spots []Spot) []Spot {
	system := slices.DeleteFunc(slices.Clone(spots), func(s Spot) bool {
		p, _ := s.Place.Param(s.Param)
		return p.Type != "array" && !systemWords.MatchString(p.Name) && !systemWords.MatchString(p.Label)
	})
	last := slices.DeleteFunc(slices.Clone(system), func(s Spot) bool { return !g.Ends(s.Node.ID()) })
	switch {
	case len(last) == 1:
		return last
	case len(system) > 0:
		return system
	}
	return spots
}

var memoryType = regexp.MustCompile(`^Base(Chat)?Memory$|Checkpoint`)

// memoryParams are the anchors that take a memory, and the switches of agents
// that have their own.
func memoryParams(p flow.Place) []string {
	var out []string
	for _, a := range p.Anchors() {
		if memoryType.MatchString(a.Type) {
			out = append(out, a.Name)
		}
	}
	for _, param := range p.Params() {
		if param.Type == "boolean" && strings.HasSuffix(param.Name, "EnableMemory") {
			out = append(out, param.Name)
		}
	}
	return out
}

// anchorsOf are the anchors of a type.
func anchorsOf(p flow.Place, kind string, list bool) []string {
	var out []string
	for _, a := range p.Anchors() {
		if a.Type == kind && (!list || a.List) {
			out = append(out, a.Name)
		}
	}
	return out
}

// arraysOf are the parameters that hold a list of chosen components.
func arraysOf(p flow.Place, member string) []string {
	var out []string
	if p.Path != "" {
		return nil
	}
	for _, param := range p.Params() {
		if param.Type == "array" && slices.ContainsFunc(param.Array, func(m knowledge.Param) bool { return m.LoadConfig && strings.HasSuffix(m.Name, member) }) {
			out = append(out, param.Name)
		}
	}
	return out
}

// sourceParams are the parameters of a document loader that say where its
// documents are.
func sourceParams(p flow.Place) []string {
	if p.Def.Category != "Document Loaders" {
		return nil
	}
	for _, param := range p.Params() {
		if isSource(param) {
			return []string{param.Name}
		}
	}
	return []string{""}
}

func isSource(p knowledge.Param) bool {
	name := strings.ToLower(p.Name)
	return p.Type == "file" || p.Type == "folder" || p.Type == "string" && (name == "url" || strings.HasSuffix(name, "url") || strings.Contains(name, "link") || strings.HasSuffix(name, "path"))
}
