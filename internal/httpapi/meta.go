package httpapi

import (
	_ "embed"
	"net/http"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

//go:embed openapi.yaml
var openAPI []byte

// health reports that the process answers; ready reports the state of its parts.
func (s *Server) health(k *call) error {
	return k.ok(contracts.Health{Status: contracts.HealthOK, Version: s.cfg.Version})
}

// ready tells anonymous callers only whether the server accepts requests. The names of the domains
// are for callers with a key.
func (s *Server) ready(k *call) error {
	state := s.state.Ready(k.ctx())
	if k.gin.GetHeader("Authorization") == "" {
		state.Domains = nil
	} else if _, err := s.callers.authenticate(k.gin); err != nil {
		return err
	}
	if !state.Ready {
		return k.json(http.StatusServiceUnavailable, state)
	}
	return k.ok(state)
}

func (s *Server) openAPI(k *call) error {
	k.gin.Data(http.StatusOK, "application/yaml", openAPI)
	return nil
}

// showSettings returns the settings that the server was started with.
func (s *Server) showSettings(k *call) error {
	if err := k.who.May(access.ActionReadOperations); err != nil {
		return err
	}
	return k.ok(s.settings)
}

func (s *Server) whoami(k *call) error {
	return k.ok(contracts.Caller{
		Subject: k.who.Subject(), Kind: string(k.who.Kind), KeyID: k.who.KeyID, Roles: names(k.who.Roles), Scopes: scopes(k.who.Scopes),
	})
}

func names(roles []access.Role) []string {
	out := make([]string, len(roles))
	for i, r := range roles {
		out[i] = string(r)
	}
	return out
}

func scopes(s access.Scopes) contracts.KeyScopes {
	return contracts.KeyScopes{Domains: s.Domains, Classes: s.Classes}
}
