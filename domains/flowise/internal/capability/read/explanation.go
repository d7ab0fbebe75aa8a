package read

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Explanation describes what a flow does. It is deterministic.
type Explanation struct {
	Text string `json:"text"`
	// Parts of the flow by their function.
	Answers   []string `json:"answers_with"`
	Models    []string `json:"models"`
	Prompts   []string `json:"prompts"`
	Memory    []string `json:"memory"`
	Documents []string `json:"documents"`
	Tools     []string `json:"tools"`
	Guards    []string `json:"guards"`
	// Steps are the steps of an agent flow in the order of its connections.
	Steps []string `json:"steps"`
}

// explain describes a graph.
func explain(g *flow.Graph, kind flow.Kind, defs flow.Definitions) Explanation {
	var out Explanation
	for _, p := range flow.Places(g, defs) {
		out.place(g, p)
	}
	for _, s := range edit.Spots(g, defs, edit.RoleModel) {
		out.Models = append(out.Models, cmp.Or(s.Text(s.Param), "a model")+" ("+s.Def.Label+")")
	}
	for _, s := range edit.Spots(g, defs, edit.RolePrompt) {
		if text := s.Prompt(); text != "" {
			out.Prompts = append(out.Prompts, clip(flow.Hide(text), 160))
		}
	}
	if kind == flow.Agentflow {
		out.Steps = steps(g)
	}
	out.Text = out.words(kind)
	return out
}

func (e *Explanation) place(g *flow.Graph, p flow.Place) {
	label := cmp.Or(p.Node.Label(), p.Def.Label)
	if p.Path != "" {
		label = p.Def.Label
	}
	switch category := p.Def.Category; {
	case category == "Memory":
		e.Memory = append(e.Memory, label)
	case category == "Document Loaders", category == "Vector Stores", category == "Retrievers":
		e.Documents = append(e.Documents, label+source(p))
	case strings.HasPrefix(category, "Tools"):
		e.Tools = append(e.Tools, label)
	case category == "Moderation", category == "Output Parsers":
		e.Guards = append(e.Guards, label)
	case p.Path == "" && g.Ends(p.Node.ID()) && category != "Agent Flows" && p.Node.Name() != "stickyNote":
		e.Answers = append(e.Answers, label)
	}
	for _, param := range p.Params() {
		if param.Type == "boolean" && strings.HasSuffix(param.Name, "EnableMemory") && p.Text(param.Name) == "true" {
			e.Memory = append(e.Memory, "the conversation, in "+label)
		}
	}
}

// source returns where a loader reads its documents.
func source(p flow.Place) string {
	for _, name := range []string{"url", "webUrl", "link"} {
		if at := p.Text(name); at != "" {
			return " of " + clip(flow.Hide(at), 80)
		}
	}
	return ""
}

// steps returns the nodes of an agent flow in the order in which they are reached.
func steps(g *flow.Graph) []string {
	next := map[string][]string{}
	for _, e := range g.Edges() {
		next[e.Source] = append(next[e.Source], e.Target)
	}
	var out, open []string
	seen := map[string]bool{}
	for _, n := range g.Nodes() {
		if n.Name() == "startAgentflow" {
			open = append(open, n.ID())
		}
	}
	for ; len(open) > 0 && len(out) < maxSteps; open = open[1:] {
		n, found := g.Find(open[0])
		if !found || seen[n.ID()] {
			continue
		}
		seen[n.ID()] = true
		text := cmp.Or(n.Label(), n.Name())
		if targets := next[n.ID()]; len(targets) > 1 {
			text += fmt.Sprintf(" (%d ways on)", len(targets))
		}
		out = append(out, text)
		open = append(open, next[n.ID()]...)
	}
	return out
}

const maxSteps = 30

// words formats the parts as sentences.
func (e *Explanation) words(kind flow.Kind) string {
	var out []string
	say := func(items []string, one string) {
		if items = unique(items); len(items) > 0 {
			out = append(out, fmt.Sprintf(one, list(items)))
		}
	}
	if kind == flow.Agentflow {
		say([]string{strings.Join(e.Steps, " → ")}, "It goes %s.")
	} else {
		say(e.Answers, "It answers with %s.")
	}
	say(e.Models, "It thinks with %s.")
	say(e.Prompts[:min(1, len(e.Prompts))], "It is told: “%s”.")
	say(e.Documents, "It looks things up: %s.")
	say(e.Tools, "It can use %s.")
	say(e.Memory, "It remembers: %s.")
	say(e.Guards, "What is said is checked by %s.")
	if len(e.Memory) == 0 && len(e.Models) > 0 {
		out = append(out, "It has no memory.")
	}
	if len(out) == 0 {
		return "It has no parts that do anything."
	}
	return strings.Join(out, " ")
}

func unique(items []string) []string {
	var out []string
	for _, item := range items {
		if item != "" && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// list joins the first items.
func list(items []string) string {
	const most = 6
	if len(items) > most {
		return strings.Join(items[:most], ", ") + fmt.Sprintf(" and %d more", len(items)-most)
	}
	return strings.Join(items, ", ")
}

func clip(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
