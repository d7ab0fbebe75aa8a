package app

import (
	"cmp"
	"net/http"

	"github.com/manifold-run/manifold/internal/agentserver"
)

// withAgents is everything that is served at the one address: the REST API, and the
// same over the Model Context Protocol and the Agent2Agent protocol.
func withAgents(cfg Config, api http.Handler) http.Handler {
	settings := agentserver.Config{Version: cfg.Version, Now: cfg.Now, Logger: cfg.Logger}
	backend := agentserver.Local(api, cmp.Or(cfg.ForwardedUser, "Manifold-User"))
	mcp, a2a := agentserver.NewMCP(settings, backend), agentserver.NewA2A(settings, backend, cfg.Links.PublicURL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			mcp.ServeHTTP(w, r)
			return
		}
		if agent := a2a.Handler(r.URL.Path); agent != nil {
			agent.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
