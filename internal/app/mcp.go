package app

import (
	"cmp"
	"net/http"

	"github.com/manifold-run/manifold/internal/mcpserver"
)

// faces is everything that is served at the one address: the REST API, and the
// same over the Model Context Protocol.
func faces(cfg Config, api http.Handler) http.Handler {
	face := mcpserver.New(
		mcpserver.Config{Version: cfg.Version, Now: cfg.Now, Logger: cfg.Logger},
		mcpserver.Local(api, cmp.Or(cfg.ForwardedUser, "Manifold-User")),
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			face.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
