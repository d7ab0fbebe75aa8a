package agentserver

import (
	"bytes"
	"io"
	"net/http"

	"github.com/manifold-run/manifold/client"
)

// Backend returns an API client with the caller's credentials. header is the header of the request,
// nil if the transport has a single caller.
type Backend func(header http.Header) (*client.Client, error)

// Remote returns a backend with a single caller.
func Remote(c *client.Client) Backend {
	return func(http.Header) (*client.Client, error) { return c, nil }
}

// address is the header that carries the client's address to the tools. A value that the client sent
// is replaced.
const address = "X-Manifold-Remote-Address"

// signedUser is the header in which frontends sign their user.
const signedUser = "X-OpenWebUI-User-Jwt"

// Local returns a backend in this process: each call is a request to the API's handler, with the
// credentials and the user of the incoming request.
func Local(api http.Handler, forwardedUser string) Backend {
	return func(header http.Header) (*client.Client, error) {
		return client.New(client.Config{
			URL: "http://manifold.internal", UserAgent: "manifold-agentserver", Retries: -1,
			HTTP: &http.Client{Transport: inProcess{api: api, header: header, user: forwardedUser}},
		})
	}
}

// inProcess is a RoundTripper that calls a handler.
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

// answer records a handler's response.
type answer struct {
	header http.Header
	code   int
	wrote  bool
	body   bytes.Buffer
}

// Header returns the header of the response.
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

// Flush does nothing; handlers that stream require it.
func (a *answer) Flush() {}
