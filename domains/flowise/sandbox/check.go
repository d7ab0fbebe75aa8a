package sandbox

import (
	"fmt"
	"net/http"
	"slices"
)

// param is a parameter as a node of a saved flow lists it.
type param struct {
	Name           string         `json:"name"`
	Label          string         `json:"label"`
	Type           string         `json:"type"`
	Optional       any            `json:"optional"`
	AcceptVariable bool           `json:"acceptVariable"`
	Show           map[string]any `json:"show"`
	Hide           map[string]any `json:"hide"`
}

// visible compares values as the server's checker does: with lists of
// alternatives it finds nothing equal.
func (p param) visible(inputs map[string]any) bool {
	matches := func(conditions map[string]any) bool {
		for key, want := range conditions {
			if _, list := want.([]any); list || inputs[key] != want {
				return false
			}
		}
		return true
	}
	return matches(p.Show) && (len(p.Hide) == 0 || !matches(p.Hide))
}

// checkFlow is the server's own checker, its false alarms about chatflows
// included: a single node is "not connected", and a credential that is bound
// is missed.
func (s *Server) checkFlow(r *request) (reply, error) {
	const where = "Error: validationService.checkFlowValidation - "
	f, known := s.flows[r.PathValue("id")]
	if !known {
		return reply{}, internal(where + where + "flow not found!")
	}
	g, err := parse(f.data)
	if err != nil {
		return reply{}, internal(where+"%s", err)
	}
	if !g.hasEdges {
		return reply{}, internal(where + "Cannot read properties of undefined (reading 'forEach')")
	}
	connected := map[string]bool{}
	for _, e := range g.edges {
		connected[e.Source], connected[e.Target] = true, true
	}
	out := []map[string]any{}
	for _, n := range g.nodes {
		if n.Data.Name == "stickyNoteAgentflow" {
			continue
		}
		issues := slices.Concat(n.issues(connected[n.ID], s.known.Names(), s), g.hanging(n))
		if len(issues) > 0 {
			out = append(out, map[string]any{"id": n.ID, "label": n.Data.Label, "name": n.Data.Name, "issues": issues})
		}
	}
	return reply{http.StatusOK, out}, nil
}

func (n *node) issues(connected bool, names []string, s *Server) []string {
	var out []string
	if !connected {
		out = append(out, "This node is not connected to anything")
	}
	for _, p := range n.Data.Params {
		if n.Data.Inputs == nil || !p.visible(n.Data.Inputs) {
			continue
		}
		optional := p.Optional != nil && p.Optional != false
		value := n.Data.Inputs[p.Name]
		missing := value == nil || value == ""
		if !optional && missing {
			out = append(out, p.Label+" is required")
		}
		if p.Name == "credential" && !optional && missing {
			out = append(out, "Credential is required")
		}
		model, _ := value.(string)
		config, has := n.Data.Inputs[p.Name+"Config"].(map[string]any)
		if !has || !slices.Contains(names, model) {
			continue
		}
		def, _ := s.known.Node(model)
		if def.Credential != nil && !def.Credential.Optional && config["FLOWISE_CREDENTIAL_ID"] == nil && config["credential"] == nil {
			out = append(out, p.Label+" requires a credential")
		}
	}
	return out
}

func (g *graph) hanging(n *node) []string {
	var out []string
	for _, e := range g.edges {
		if e.Target == n.ID && g.node(e.Source) == nil {
			out = append(out, fmt.Sprintf("Connected to non-existent source node %s", e.Source))
		}
		if e.Source == n.ID && g.node(e.Target) == nil {
			out = append(out, fmt.Sprintf("Connected to non-existent target node %s", e.Target))
		}
	}
	return out
}
