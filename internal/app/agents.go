package app

import (
	"cmp"
	"net/http"

	"github.com/manifold-run/manifold/internal/mcpserver"
)

// withMCP is everything that is served at the one address: the REST API, and the
// same over the Model Context Protocol.
func withMCP(cfg Config, api http.Handler) http.Handler {
	mcp := mcpserver.New(
		mcpserver.Config{Version: cfg.Version, Now: cfg.Now, Logger: cfg.Logger},
		mcpserver.Local(api, cmp.Or(cfg.ForwardedUser, "Manifold-User")),
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			mcp.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
