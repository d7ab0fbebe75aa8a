package sandbox

import (
	"net/http"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// failures returns the tenant's response for each kind of failure.
func failures() sandboxkit.Answers[reply] {
	unavailable := reply{http.StatusServiceUnavailable, &apiError{Message: "service unavailable"}}
	return sandboxkit.Answers[reply]{
		sandboxkit.TooManyRequests:  {http.StatusTooManyRequests, &apiError{Message: "too many requests"}},
		sandboxkit.Unavailable:      unavailable,
		sandboxkit.UnavailableAfter: unavailable,
		sandboxkit.ServerError:      {http.StatusInternalServerError, &apiError{Message: "internal error"}},
		sandboxkit.BadGateway:       {http.StatusBadGateway, htmlPage("502 Bad Gateway")},
		sandboxkit.Unauthorized:     {http.StatusUnauthorized, &apiError{Message: "invalid_token"}},
		sandboxkit.Forbidden:        {http.StatusForbidden, &apiError{Message: "permission denied"}},
		sandboxkit.InvalidGrant:     {http.StatusBadRequest, oauthError{Code: "invalid_grant"}},
		sandboxkit.HTMLAnswer:       {http.StatusOK, htmlPage("Sign in")},
	}
}

// htmlPage is a body that is not JSON.
type htmlPage string
