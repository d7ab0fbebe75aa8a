package httpapi

import "net/http"

// route is one line of the API.
type route struct {
	method, path string
	// public routes need no key.
	public bool
	handle func(*call) error
}

// routes is everything that is served.
func (s *Server) routes() []route {
	const get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	return []route{
		{get, "/health", true, s.health},
		{get, "/ready", true, s.ready},
		{get, "/openapi.yaml", true, s.openAPI},
		{get, "/v1/whoami", false, s.whoami},

		{post, "/v1/sessions", false, s.startSession},
		{get, "/v1/sessions", false, s.listSessions},
		{get, "/v1/sessions/:id", false, s.showSession},
		{del, "/v1/sessions/:id", false, s.deleteSession},
		{patch, "/v1/sessions/:id/name", false, s.renameSession},
		{post, "/v1/sessions/:id/messages", false, s.say},
		{post, "/v1/sessions/:id/resume", false, s.resume},
		{get, "/v1/sessions/:id/summary", false, s.sessionSummary},
		{get, "/v1/sessions/:id/events", false, s.sessionEvents},

		{post, "/v1/plans", false, s.plan},
		{post, "/v1/runs", false, s.runPlan},
		{get, "/v1/runs", false, s.listRuns},
		{get, "/v1/runs/:id", false, s.showRun},
		{post, "/v1/runs/:id/cancel", false, s.cancelRun},
		{get, "/v1/runs/:id/events", false, s.runEvents},
		{get, "/v1/runs/:id/ledger", false, s.ledger},
		{post, "/v1/runs/:id/replay", false, s.replay},
		{get, "/v1/runs/:id/artifacts/:sha256", false, s.artifact},
		{post, "/v1/runs/:id/nodes/:node/compensate", false, s.compensate},
		{get, "/v1/runs/:id/nodes/:node/data", false, s.nodeData},

		{get, "/v1/gates", false, s.listGates},
		{get, "/v1/gates/:id", false, s.showGate},
		{post, "/v1/gates/:id/decision", false, s.decide},

		{get, "/approve/:token", true, s.showLink},
		{post, "/approve/:token", true, s.decideLink},

		{get, "/v1/locks", false, s.listLocks},
		{post, "/v1/locks/break", false, s.breakLock},

		{get, "/v1/domains", false, s.listDomains},
		{post, "/v1/domains", false, s.registerDomain},
		{get, "/v1/domains/:name", false, s.showDomain},
		{del, "/v1/domains/:name", false, s.unregisterDomain},
		{post, "/v1/domains/:name/refresh", false, s.refreshDomain},
		{post, "/v1/domains/:name/confirm", false, s.confirmDomain},
		{get, "/v1/domains/:name/diff", false, s.diffDomain},
		{get, "/v1/capabilities", false, s.listCapabilities},
		{get, "/v1/instances", false, s.listInstances},

		{get, "/v1/keys", false, s.listKeys},
		{post, "/v1/keys", false, s.createKey},
		{del, "/v1/keys/:id", false, s.revokeKey},
		{get, "/v1/webhooks/key", false, s.webhookKey},

		{post, "/v1/audit/verify", false, s.audit},

		{get, "/v1/sessions/:id/stream", false, s.streamSession},
		{get, "/v1/runs/:id/stream", false, s.streamRun},

		{get, "/v1/models", false, s.listModels},
		{get, "/v1/models/:id", false, s.showModel},
		{post, "/v1/chat/completions", false, s.complete},
	}
}
