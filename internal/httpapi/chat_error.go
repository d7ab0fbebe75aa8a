package httpapi

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
)

// chatPaths are the path prefixes of OpenAI's API. All of them return errors in OpenAI's format, also
// if there is no such route.
func chatPaths() []string {
	return []string{
		"/v1/models", "/v1/chat", "/v1/completions", "/v1/responses", "/v1/embeddings", "/v1/audio", "/v1/images",
		"/v1/files", "/v1/moderations", "/v1/assistants", "/v1/threads", "/v1/fine_tuning", "/v1/batches",
	}
}

// chatPath maps variants of a path to the route: users omit /v1 or double slashes. It does not
// redirect, because clients follow redirects with a GET.
func chatPath(r *http.Request) *http.Request {
	meant := path.Clean(r.URL.Path)
	for _, short := range []string{"/models", "/chat/completions", "/completions", "/responses", "/embeddings"} {
		if meant == short || short == "/models" && path.Dir(meant) == short {
			meant = "/v1" + meant
		}
	}
	if meant == r.URL.Path || !isChatPath(meant) {
		return r
	}
	out := r.Clone(r.Context())
	out.URL.Path, out.URL.RawPath = meant, ""
	return out
}

func isChatPath(p string) bool {
	return slices.ContainsFunc(chatPaths(), func(root string) bool { return p == root || strings.HasPrefix(p, root+"/") })
}

func forOpenAI(c *gin.Context) bool { return isChatPath(c.Request.URL.Path) }

// openAIFailure is an error response in OpenAI's format.
type openAIFailure struct {
	Error openAIProblem `json:"error"`
}

type openAIProblem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    string  `json:"code"`
}

func openAIError(p contracts.Problem) openAIFailure {
	out := openAIProblem{Message: p.Detail, Type: "invalid_request_error", Code: string(p.Code)}
	for i, f := range p.Faults {
		if i == 0 {
			out.Param = &f.Pointer
		}
		out.Message += "; " + f.Pointer + " " + f.Message
	}
	switch {
	case p.Status == http.StatusUnauthorized:
		out.Type, out.Code = "authentication_error", "invalid_api_key"
	case p.Status == http.StatusForbidden:
		out.Type = "permission_error"
	case p.Status == http.StatusTooManyRequests:
		out.Type, out.Code = "rate_limit_error", "rate_limit_exceeded"
	case p.Status == http.StatusNotFound && out.Code == string(contracts.CodeNotFound):
		out.Code = "unsupported_endpoint"
	case p.Status >= http.StatusInternalServerError:
		out.Type = "server_error"
	}
	if out.Message == "" {
		out.Message = http.StatusText(p.Status)
	}
	return openAIFailure{Error: out}
}

// noModel returns the not-found problem for a model.
func noModel(id string) contracts.Problem {
	return complete(contracts.Problem{Code: "model_not_found", Detail: fmt.Sprintf("there is no model %.80q; GET /v1/models lists them", id)}, http.StatusNotFound)
}
