package httpapi

import (
	"net/http"
	"slices"
)

// route is one route of the API.
type route struct {
	method, path string
	// public routes require no key.
	public bool
	handle func(*call) error
}

// routes returns all routes of the API.
func (s *Server) routes() []route {
	return slices.Concat(
		[]route{
			{http.MethodGet, "/health", true, s.health},
			{http.MethodGet, "/ready", true, s.ready},
			{http.MethodGet, "/openapi.yaml", true, s.openAPI},
			{http.MethodGet, "/v1/whoami", false, s.whoami},
			{http.MethodGet, "/v1/settings", false, s.showSettings},
		},
		s.sessions.routes(), s.runs.routes(), s.audits.routes(), s.gates.routes(), s.links.routes(),
		s.domains.routes(), s.keys.routes(), s.signIns.routes(), s.streams.routes(), s.chats.routes(),
	)
}
