package agentserver

import (
	"bytes"
	"io"
	"net/http"

	"github.com/manifold-run/manifold/client"
)

// Backend gives the API as the caller of a request sees it. The header is that
// of the request, nil where there is one caller only.
type Backend func(header http.Header) (*client.Client, error)

// Remote is a backend with one caller.
func Remote(c *client.Client) Backend {
	return func(http.Header) (*client.Client, error) { return c, nil }
}

// address is who sent a request, in the header that tools get to see; what a
// caller writes there is replaced.
const address = "X-Manifold-Remote-Address"

// signedUser is the header in which front ends sign who is asking.
const signedUser = "X-OpenWebUI-User-Jwt"

// Local is a backend in this process: each call is a request to the API's own
// handler, with the credential and the user of the MCP request.
func Local(api http.Handler, forwardedUser string) Backend {
	return func(header http.Header) (*client.Client, error) {
		return client.New(client.Config{
			URL: "http://manifold.internal", UserAgent: "manifold-agentserver", Retries: -1,
			HTTP: &http.Client{Transport: inProcess{api: api, header: header, user: forwardedUser}},
		})
	}
}

// inProcess answers requests by a handler.
type inProcess struct {
	api    http.Handler
	header http.Header
	user   string
}

// RoundTrip serves one request as if it came from the caller.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.RequestURI, out.RemoteAddr = r.URL.RequestURI(), t.header.Get(address)
	if out.Body == nil {
		out.Body = http.NoBody
	}
	for _, name := range []string{"Authorization", t.user, signedUser} {
		out.Header.Del(name)
		if v := t.header.Get(name); v != "" {
			out.Header.Set(name, v)
		}
	}
	w := &answer{header: http.Header{}, code: http.StatusOK}
	t.api.ServeHTTP(w, out)
	return &http.Response{
		Status: http.StatusText(w.code), StatusCode: w.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// answer keeps what a handler writes.
type answer struct {
	header http.Header
	code   int
	wrote  bool
	body   bytes.Buffer
}

// Header returns the header of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status, once.
func (a *answer) WriteHeader(code int) {
	if !a.wrote {
		a.code, a.wrote = code, true
	}
}

// Write appends to the body.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush is there for handlers that stream; nothing waits here.
func (a *answer) Flush() {}
