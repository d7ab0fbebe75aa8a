package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// Blueprint is a snapshot of the tools of Workday's MCP server. With one, flows are wired without
// calling the server.
type Blueprint struct {
	ID             string   `json:"blueprint_id"`
	SelectedTool   string   `json:"selected_tool"`
	Server         string   `json:"mcp_server_url"`
	AuthVar        string   `json:"auth_var"`
	CredentialType string   `json:"credential_type"`
	ChatflowOnly   bool     `json:"chatflow_only"`
	Actions        []Action `json:"mcp_actions"`
	// Fingerprint is a hash of all other fields.
	Fingerprint string `json:"fingerprint"`
}

// Action is a tool of the blueprint with the server's definition.
type Action struct {
	Action      string          `json:"action"`
	Tool        string          `json:"tool"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input_schema,omitempty"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
}

// blueprintID is the id of the only blueprint.
const blueprintID = "workday_default"

// Snapshot reads the blueprint from the server.
func (m *Server) Snapshot(ctx context.Context) (Blueprint, error) {
	out := Blueprint{
		ID: blueprintID, SelectedTool: "customMCP", Server: m.cfg.URL, AuthVar: tokenVariable, CredentialType: "workdayOAuth", Actions: []Action{},
	}
	noted, failed := rest.Noting(ctx)
	_, tools, err := m.connected(noted)
	if err != nil {
		return out, failed("tools/list", err)
	}
	for _, action := range mcpTools() {
		t := tools[action]
		out.Actions = append(out.Actions, Action{Action: action, Tool: t.Name, Description: t.Description, Input: t.input, Output: t.output})
	}
	out.Fingerprint, err = contracts.Hash(out)
	return out, err
}

// ReadBlueprint reads a snapshot file: a list with one blueprint. It returns nil if the file does
// not exist.
func ReadBlueprint(file string) (*Blueprint, error) {
	raw, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file, no snapshot
	}
	if err != nil {
		return nil, fmt.Errorf("blueprint: %w", err)
	}
	var list []Blueprint
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", file, err)
	}
	if len(list) != 1 || list[0].ID != blueprintID {
		return nil, fmt.Errorf("blueprint %s: it is no list with the blueprint %s", file, blueprintID)
	}
	plain := list[0]
	plain.Fingerprint = ""
	if want, err := contracts.Hash(plain); err != nil || want != list[0].Fingerprint {
		return nil, errors.Join(err, fmt.Errorf("blueprint %s: its fingerprint is not that of its content; refresh it", file))
	}
	return &list[0], nil
}

// Write replaces the snapshot file atomically.
func (b Blueprint) Write(file string) error {
	raw, err := json.MarshalIndent([]Blueprint{b}, "", "  ")
	if err != nil {
		return fmt.Errorf("blueprint: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".blueprint-*")
	if err != nil {
		return fmt.Errorf("blueprint: %w", err)
	}
	_, writeErr := temp.Write(append(raw, '\n'))
	if err := errors.Join(writeErr, temp.Sync(), temp.Close()); err != nil {
		return errors.Join(fmt.Errorf("blueprint: %w", err), os.Remove(temp.Name()))
	}
	return os.Rename(temp.Name(), file)
}

// Changes describes the differences from an earlier snapshot, which may be nil.
func (b Blueprint) Changes(from *Blueprint) []string {
	if from == nil {
		from = &Blueprint{Server: b.Server}
	}
	var out []string
	if from.Server != b.Server {
		out = append(out, fmt.Sprintf("the server is %s, was %s", b.Server, from.Server))
	}
	before := map[string]Action{}
	for _, a := range from.Actions {
		before[a.Action] = a
	}
	for _, a := range b.Actions {
		old, known := before[a.Action]
		switch {
		case !known:
			out = append(out, a.Action+" is new: "+a.Tool)
		case old.Tool != a.Tool:
			out = append(out, fmt.Sprintf("%s is called %s, was %s", a.Action, a.Tool, old.Tool))
		case old.Description != a.Description:
			out = append(out, a.Action+" is described in other words")
		}
		if known && (text(old.Input) != text(a.Input) || text(old.Output) != text(a.Output)) {
			out = append(out, a.Action+" has other parameters or answers")
		}
	}
	return out
}

// text returns the canonical form of a schema.
func text(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	plain, err := contracts.Canonical(v)
	if err != nil {
		return string(raw)
	}
	return string(plain)
}

// tools returns the tools of the snapshot.
func (b Blueprint) tools() map[string]agentTool {
	out := map[string]agentTool{}
	for _, a := range b.Actions {
		var schema struct {
			Properties any `json:"properties"`
		}
		bare := json.Unmarshal(a.Input, &schema) != nil || schema.Properties == nil
		out[a.Action] = agentTool{Name: a.Tool, Bare: bare}
	}
	return out
}
