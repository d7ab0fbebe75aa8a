package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// formBlueprint selects the literal form of the blueprint, for builders that know its node. The
// other form is the one that Flowise runs.
const formBlueprint = "blueprint"

// Wiring are the parameters of compile_ops.
type Wiring struct {
	// Spot is the node and, after a #, the anchor or list for its tools.
	Spot    string   `json:"spot,omitempty" max:"300" pattern:"^[A-Za-z0-9_/.\\[\\]-]+#[A-Za-z0-9_]+$" description:"The agent and the anchor or list that takes its tools, as find_part of the flow's domain gives it, such as toolAgent_0#tools"`
	Goal    string   `json:"goal,omitempty" max:"4000" description:"What the flow shall do; the tools that it names are taken, all unless it names one"`
	Actions []string `json:"actions,omitempty" max:"3" description:"Tools of the blueprint, instead of those that the goal names"`
	Form    string   `json:"form,omitempty" enum:"flow,blueprint" default:"flow" description:"As a Flowise runs it, or literally as the blueprint has it"`
}

// Wired holds the ops in the Patch IR.
type Wired struct {
	Ops     []map[string]any `json:"ops"`
	Actions []string         `json:"actions"`
	Server  string           `json:"server"`
	// Needs lists what must exist when the flow runs.
	Needs []string `json:"needs"`
	// Criteria lists what a test of the flow must show.
	Criteria []string `json:"criteria"`
}

// Summary reports the tools and the number of ops.
func (w Wired) Summary() string {
	return fmt.Sprintf("%s of %s, by %d ops", strings.Join(w.Actions, ", "), w.Server, len(w.Ops))
}

// noServer is the reason why there are no tools for a flow.
const noServer = "no MCP server of Workday is configured (--mcp-url)"

// Names used by the blueprint.
const (
	blueprintURL  = "https://<tenant>.workday.com/mcp"
	tokenVariable = "$vars.beartoken"
	blueprintNode = "workdayMcpTool_0"
	flowNode      = "workdayMCP"
)

// compileOps returns the ops. It writes nothing: the domain of the flow applies them. They never
// contain a token, only the name of the variable that holds it.
func (t Tools) compileOps(ctx context.Context, _ domainkit.Call, in Wiring) (Wired, error) {
	actions, err := chosenActions(in)
	if err != nil {
		return Wired{}, err
	}
	if in.Form == formBlueprint {
		return blueprintOps(actions)
	}
	if t.Server == nil {
		return Wired{}, domainkit.Refusef(contracts.ErrPrecondition, "%s, so a flow could not reach one", noServer)
	}
	if in.Spot == "" {
		return Wired{}, domainkit.Refusef(contracts.ErrInvalidParameters, "which agent of the flow shall have the tools is missing (spot)")
	}
	served, err := t.served(ctx, actions)
	if err != nil {
		return Wired{}, err
	}
	config, err := mcpServer(t.Server.cfg.URL, "Bearer {{"+tokenVariable+"}}")
	if err != nil {
		return Wired{}, err
	}
	names, needs := toolNames(served), []string{"a variable beartoken in the flow's server that holds an access token of Workday"}
	for _, tool := range served {
		if tool.Bare {
			needs = append(needs, "parameters in the schema of "+tool.Name+", which a Flowise leaves out without them")
		}
	}
	return Wired{
		Ops: flowOps(in.Spot, config, names), Actions: names, Server: t.Server.cfg.URL, Needs: needs, Criteria: []string{"answers every question"},
	}, nil
}

// chosenActions returns the requested tools in the order of the blueprint.
func chosenActions(in Wiring) ([]string, error) {
	for _, a := range in.Actions {
		if !slices.Contains(mcpTools(), a) {
			return nil, domainkit.Refusef(contracts.ErrInvalidParameters, "the blueprint has no tool %q; it has %s", a, strings.Join(mcpTools(), ", "))
		}
	}
	wanted := slices.DeleteFunc(mcpTools(), func(tool string) bool {
		return !slices.Contains(in.Actions, tool) && (len(in.Actions) > 0 || !strings.Contains(strings.ToLower(in.Goal), strings.ToLower(tool)))
	})
	if len(wanted) == 0 {
		return mcpTools(), nil
	}
	return wanted, nil
}

// flowOps adds a customMCP node at an anchor, or a customMCP item to a list of tools. Flowise has
// no other way.
func flowOps(spot, config string, actions []string) []map[string]any {
	at, param, _ := strings.Cut(spot, "#")
	tool := map[string]any{"mcpServerConfig": config, "mcpActions": actions}
	prefix, isList := strings.CutSuffix(param, "Tools")
	if isList && prefix != "" {
		node, path, _ := strings.Cut(at, "/")
		list := strings.TrimPrefix(path+"."+param+"[-]", ".")
		return []map[string]any{{
			"op_type": "SetParam", "node_id": node, "param_name": list,
			"value": map[string]any{prefix + "SelectedTool": "customMCP", prefix + "SelectedToolConfig": tool},
		}}
	}
	return []map[string]any{
		{"op_type": "AddNode", "node_name": "customMCP", "node_id": flowNode, "label": "Workday MCP", "params": tool},
		{"op_type": "Connect", "source_node_id": flowNode, "target_node_id": at, "target_anchor": param},
	}
}

// blueprintOps returns the literal ops of the blueprint, including its placeholder.
func blueprintOps(actions []string) (Wired, error) {
	config, err := mcpServer(blueprintURL, tokenVariable)
	if err != nil {
		return Wired{}, err
	}
	return Wired{
		Ops: []map[string]any{
			{"op_type": "AddNode", "node_name": "tool", "node_id": blueprintNode, "label": "Workday MCP", "params": map[string]any{
				"selectedTool": "customMCP", "selectedToolConfig.mcpServerConfig": config, "selectedToolConfig.mcpActions": actions,
			}},
			{"op_type": "BindCredential", "node_id": blueprintNode, "credential_id": "workday-oauth-auto", "credential_type": "workdayOAuth"},
		},
		Actions: actions, Server: blueprintURL, Needs: []string{"a node of the kind tool, which no released Flowise has"}, Criteria: []string{},
	}, nil
}

// mcpServer encodes the configuration of a server as JSON, without escaping <, > and &.
func mcpServer(url, authorization string) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}{url, map[string]string{"Authorization": authorization}})
	return cmp.Or(strings.TrimSpace(out.String()), "{}"), err
}
