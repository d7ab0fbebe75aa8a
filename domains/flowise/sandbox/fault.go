package sandbox

import (
	"net/http"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// failures returns the response of Flowise, or of a proxy, for each kind of failure.
func failures() sandboxkit.Answers[reply] {
	unavailable := reply{http.StatusServiceUnavailable, page("<html><h1>503 Service Unavailable</h1></html>")}
	return sandboxkit.Answers[reply]{
		sandboxkit.TooManyRequests:  {http.StatusTooManyRequests, page("slow down")},
		sandboxkit.Unavailable:      unavailable,
		sandboxkit.UnavailableAfter: unavailable,
		sandboxkit.ServerError:      (&refusal{http.StatusInternalServerError, "Error: SQLITE_BUSY: database is locked"}).reply(),
		sandboxkit.ServerErrorAfter: (&refusal{http.StatusInternalServerError, "Error: telemetry failed"}).reply(),
		sandboxkit.BadGateway:       {http.StatusBadGateway, page("<html><h1>502 Bad Gateway</h1></html>")},
		sandboxkit.Unauthorized:     failure(errUnauthorized),
		sandboxkit.Forbidden:        failure(errForbidden),
		sandboxkit.HTMLAnswer:       {http.StatusOK, app},
	}
}
