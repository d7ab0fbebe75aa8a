package app

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/manifold-run/manifold/internal/agentserver"
	"github.com/manifold-run/manifold/internal/bridge/host"
)

// withAgents returns the handler for all paths of the address: the REST API, its Model Context
// Protocol and Agent2Agent interfaces, and the login pages for servers behind bridges.
func withAgents(cfg Config, api, logins http.Handler) http.Handler {
	settings := agentserver.Config{Version: cfg.Version, Now: cfg.Now, Logger: cfg.Logger}
	backend := agentserver.Local(api, cmp.Or(cfg.ForwardedUser, "Manifold-User"))
	mcp, a2a := agentserver.NewMCP(settings, backend), agentserver.NewA2A(settings, backend, cfg.Links.PublicURL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			mcp.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, host.PagesPath) {
			logins.ServeHTTP(w, r)
			return
		}
		if agent := a2a.Handler(r.URL.Path); agent != nil {
			agent.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
