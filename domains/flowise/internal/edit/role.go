// Package edit converts edits of a flow in people's terms (its model, prompt, memory, tools …) to
// ops of the Patch IR. It finds the part of a graph with a role by the node definitions:
// categories, anchors and parameters. It has no list of kinds and does no I/O.
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

// Role is the role of a part of a flow.
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
	// RoleParameter is the role of anything that has a given parameter.
	RoleParameter Role = "parameter"
)

// Spot is a part of a graph with a role, and the parameter or anchor of that role.
type Spot struct {
	flow.Place

	Param string
}

// ID returns the id of a spot: "chatOpenAI_0#temperature", or for a component
// "agentAgentflow_0/agentModel#temperature".
func (s Spot) ID() string {
	id := s.Node.ID()
	if s.Path != "" {
		id += "/" + s.Path
	}
	return id + "#" + s.Param
}

// Label describes the spot and its value for people.
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

// Spots returns the spots of a role in the order of the nodes.
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

// Find returns the spot with an id.
func Find(g *flow.Graph, defs flow.Definitions, id string) (Spot, bool) {
	where, param, _ := strings.Cut(id, "#")
	for _, p := range flow.Places(g, defs) {
		if s := (Spot{p, param}); s.ID() == where+"#"+param {
			return s, true
		}
	}
	return Spot{}, false
}

// playedBy returns the parameters or anchors of a place that have a role.
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
	case RoleParameter: // not determined by a place alone; see Holding
	}
	return nil
}

var replyWords = regexp.MustCompile(`(?i)reply.?message`)

// replyParams returns the parameters with a fixed answer.
func replyParams(p flow.Place) []string {
	var out []string
	for _, param := range p.Params() {
		if p.Path == "" && param.Type == "string" && replyWords.MatchString(param.Name) {
			out = append(out, param.Name)
		}
	}
	return out
}

// Holding returns the spots with a parameter of this name or label.
func Holding(g *flow.Graph, defs flow.Definitions, called string) []Spot {
	want := Words(called)
	var out []Spot
	for _, p := range flow.Places(g, defs) {
		for _, param := range p.Params() {
			if param.Type != "credential" && (slices.Equal(want, Words(param.Name)) || slices.Equal(want, Words(param.Label))) {
				out = append(out, Spot{p, param.Name})
				break // the values select between two parameters of one name
			}
		}
	}
	return out
}

func isModel(def *knowledge.Definition) bool {
	return def.Category == "Chat Models" || def.Category == "LLMs"
}

// modelParam returns the parameter with the name of a model.
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

// promptParams returns the parameters with instructions: the system message, the messages of an
// agent, or any prompt.
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

// likeliest returns the prompts that an edit without further details applies to: those of the
// answering node, else system messages, else all.
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

// memoryParams returns the anchors for a memory, and the switches of agents with built-in memory.
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

// anchorsOf returns the anchors of a type.
func anchorsOf(p flow.Place, kind string, list bool) []string {
	var out []string
	for _, a := range p.Anchors() {
		if a.Type == kind && (!list || a.List) {
			out = append(out, a.Name)
		}
	}
	return out
}

// arraysOf returns the parameters with a list of selected components.
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

// sourceParams returns the parameters with the source of a document loader.
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
