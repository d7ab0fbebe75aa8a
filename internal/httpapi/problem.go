package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// problems writes errors as problem documents, and logs what callers may not see.
type problems struct{ logger *slog.Logger }

// status maps an error code to its HTTP status.
func status(code contracts.Code) int {
	switch code {
	case contracts.CodeInvalid:
		return http.StatusBadRequest
	case contracts.CodeUnauthorized:
		return http.StatusUnauthorized
	case contracts.CodeForbidden, contracts.CodeNeedsApproval:
		return http.StatusForbidden
	case contracts.CodeNotFound:
		return http.StatusNotFound
	case contracts.CodeConflict, contracts.CodeStaleApproval:
		return http.StatusConflict
	case contracts.CodeBudgetExceeded, contracts.CodeUnsupported:
		return http.StatusUnprocessableEntity
	case contracts.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case contracts.CodeRateLimited:
		return http.StatusTooManyRequests
	case contracts.CodeUnavailable, contracts.CodeLeaseLost:
		return http.StatusServiceUnavailable
	case contracts.CodeInternal:
		return http.StatusInternalServerError
	}
	return 0
}

// problemOf returns the part of an error that the caller may see. An error without a code is
// internal: its text is only logged.
func problemOf(err error) contracts.Problem {
	e, coded := errors.AsType[*contracts.Error](err)
	switch {
	case coded && e.Code != contracts.CodeInternal && status(e.Code) != 0:
		p := contracts.Problem{Code: e.Code, Detail: err.Error(), Faults: e.Faults, Data: e.Detail}
		if len(e.Faults) > 0 {
			p.Detail = e.Message
		}
		return complete(p, status(e.Code))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return complete(contracts.Problem{Code: contracts.CodeUnavailable, Detail: "the request was given up before there was an answer; ask again"}, http.StatusServiceUnavailable)
	default:
		return complete(contracts.Problem{Code: contracts.CodeInternal, Detail: "something went wrong here; the log has it under this request id"}, http.StatusInternalServerError)
	}
}

func complete(p contracts.Problem, code int) contracts.Problem {
	p.Type, p.Title, p.Status = "urn:manifold:problem:"+string(p.Code), http.StatusText(code), code
	return p
}

// fail writes an error. All errors are written here.
func (s *problems) fail(c *gin.Context, err error) {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && c.Request.Context().Err() == nil {
		s.log(c, err)
	}
	s.write(c, p)
}

func (s *problems) log(c *gin.Context, err error) {
	s.logger.ErrorContext(
		c.Request.Context(), "request failed",
		slog.String("request_id", requestID(c)), slog.String("route", c.FullPath()), slog.Any("error", err),
	)
}

func (s *problems) write(c *gin.Context, p contracts.Problem) {
	p.RequestID = requestID(c)
	advise(c, p)
	if forOpenAI(c) {
		status := p.Status
		if status == http.StatusConflict {
			status = http.StatusBadRequest // clients retry a 409 automatically
		}
		c.AbortWithStatusJSON(status, openAIError(p))
		return
	}
	body, err := json.Marshal(p)
	if err != nil {
		p.Data = nil
		body, _ = json.Marshal(p) //nolint:errchkjson // without foreign data it always can
	}
	c.Abort()
	c.Data(p.Status, "application/problem+json", body)
}

// advise sets the headers that tell clients how to proceed after a problem.
func advise(c *gin.Context, p contracts.Problem) {
	switch p.Code {
	case contracts.CodeUnauthorized:
		c.Header("WWW-Authenticate", `Bearer realm="manifold"`)
	case contracts.CodeRateLimited, contracts.CodeUnavailable, contracts.CodeLeaseLost:
		c.Header("Retry-After", retryAfter(p.Data))
	default:
	}
}

// retryAfter returns the seconds until a retry. If they are unknown they are random, so that callers
// that were rejected together do not retry together.
func retryAfter(data any) string {
	if after, ok := data.(access.RetryAfter); ok {
		return strconv.Itoa(after.Seconds)
	}
	return strconv.Itoa(1 + rand.N(3)) //nolint:gosec // spreads, no secret
}

func (s *problems) noRoute(c *gin.Context) {
	s.fail(c, contracts.Errorf(contracts.CodeNotFound, "there is nothing at %s; /openapi.yaml lists what there is", c.Request.URL.Path))
}

func (s *problems) noMethod(c *gin.Context) {
	p := contracts.Problem{Code: contracts.CodeUnsupported, Detail: c.Request.Method + " is not possible here"}
	s.write(c, complete(p, http.StatusMethodNotAllowed))
}
