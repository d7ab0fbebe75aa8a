// Package flowisetest has fakes for tests with a real Flowise: scripts that install and start one,
// a model with the OpenAI protocol, and an MCP server. The nodes of flows connect to the fakes on
// loopback.
package flowisetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Call is one request that a fake received.
type Call struct {
	Method, Path string
	// Authorization is the Authorization header.
	Authorization string
	Body          json.RawMessage
}

// Log records the requests of a fake. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	calls []Call // guarded by mu
}

// Calls returns the recorded requests, newest last.
func (l *Log) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

func (l *Log) add(r *http.Request, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, Call{r.Method, r.URL.Path, r.Header.Get("Authorization"), body})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client is gone
}

func words(text string) []string { return strings.SplitAfter(text, " ") }
