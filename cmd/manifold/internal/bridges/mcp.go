package bridges

import (
	"errors"
	"log/slog"

	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/mcp"
)

// MCP opens an MCP server: a URL, or a command with the environment that is named.
func MCP(args, env []string, protocol string) (Open, error) {
	if len(args) == 0 {
		return nil, errors.New("name the URL of an MCP server, or behind -- the command that starts one")
	}
	return func(o Options, _ bridge.Overlay, changed func()) (bridge.Source, error) {
		reach, err := o.HTTP()
		if err != nil {
			return nil, err
		}
		cfg := mcp.Config{HTTP: reach, Protocol: protocol, Changed: changed, Logger: slog.New(slog.NewTextHandler(o.Stderr, nil))}
		if bridge.IsURL(args[0]) {
			cfg.URL = args[0]
		} else {
			cfg.Command, cfg.Env = args, mcp.Environment(env...)
		}
		return mcp.New(cfg)
	}, nil
}
