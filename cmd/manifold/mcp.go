package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/internal/agentserver"
)

func mcpCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve Manifold to a desktop client, over MCP on standard input and output", Args: exactly(0),
		Long: `Speaks the Model Context Protocol on standard input and output, for clients on
this machine that start their servers themselves. It talks to a server by a key,
and offers what that key may see; servers offer the same at /mcp by HTTP.`,
		RunE: c.connected(func(ctx context.Context, server *client.Client, _ []string) error {
			return agentserver.NewMCP(agentserver.Config{Version: version}, agentserver.Remote(server)).Serve(ctx, &mcp.StdioTransport{})
		}),
	}
}
