package workday

import (
	"context"
	"errors"

	"github.com/manifold-run/manifold/domains/workday/internal/agent"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// RefreshBlueprint reads the tool definitions that flows need from Workday's MCP server, writes
// them to file and returns the changes. A dry run does not write.
func RefreshBlueprint(ctx context.Context, cfg Config, file string, dryRun bool) (changes []string, err error) {
	if cfg.MCP == nil {
		return nil, errors.New("no MCP server of Workday is configured (--mcp-url)")
	}
	client, err := rest.New(cfg.restConfig())
	if err != nil {
		return nil, err
	}
	asked := *cfg.MCP
	asked.Blueprint = ""
	server, err := agent.New(asked, Version, client)
	if err != nil {
		return nil, err
	}
	now, err := server.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	before, err := agent.ReadBlueprint(file)
	if err != nil {
		return nil, err
	}
	changes = now.Changes(before)
	if dryRun || before != nil && before.Fingerprint == now.Fingerprint {
		return changes, nil
	}
	return changes, now.Write(file)
}
