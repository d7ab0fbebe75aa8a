// Package flowisetest holds what the tests of this domain put around a real
// Flowise: the scripts that install and start one, a model that speaks the wire
// format of OpenAI, and an MCP server. Both are made to be pointed at by the
// nodes of flows, run on loopback, and say only what they were asked.
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
	// Authorization is the header of that name.
	Authorization string
	Body          json.RawMessage
}

// Log keeps what a fake received. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	calls []Call // guarded by mu
}

// Calls lists what was received, the newest last.
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
	_, _ = w.Write(raw) // a client that left is none of the fake's business
}

func words(text string) []string { return strings.SplitAfter(text, " ") }
