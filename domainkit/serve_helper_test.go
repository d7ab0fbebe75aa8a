package domainkit_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// caller sends requests to a service without a network, so that it also works in a synctest bubble.
type caller struct {
	t       *testing.T
	handler http.Handler
	headers map[string]string
}

func newCaller(t *testing.T, svc *domainkit.Service) *caller {
	t.Helper()
	h, err := svc.Handler()
	if err != nil {
		t.Fatal(err)
	}
	return &caller{t: t, handler: h, headers: map[string]string{"Content-Type": "application/json"}}
}

// answered is a response with its body decoded.
type answered struct {
	Status    int
	Header    http.Header
	Body      string
	Result    contracts.ToolResult
	Operation string
}

func (c *caller) do(method, path, body string, headers ...string) answered {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(body))
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	out := answered{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
	_ = json.Unmarshal(w.Body.Bytes(), &out.Result)
	var accepted contracts.Accepted
	_ = json.Unmarshal(w.Body.Bytes(), &accepted)
	out.Operation = accepted.Operation
	return out
}

// execute posts to /execute; context is JSON without its braces.
func (c *caller) execute(capability, parameters, context string, headers ...string) answered {
	c.t.Helper()
	return c.do("POST", "/execute", `{"capability":"`+capability+`","parameters":`+parameters+`,"context":{`+context+`}}`, headers...)
}

// want fails the test unless the status is as given.
func (a answered) want(t *testing.T, status int) answered {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	return a
}

// wantError fails the test unless the result is an error of that type.
func (a answered) wantError(t *testing.T, errType string) *contracts.ToolError {
	t.Helper()
	if a.Result.OK || a.Result.Error == nil || a.Result.Error.Type != errType {
		t.Fatalf("got %s, want an error of type %s", a.Body, errType)
	}
	return a.Result.Error
}
