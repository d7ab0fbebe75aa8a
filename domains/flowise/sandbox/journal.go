package sandbox

import (
	"log/slog"
	"net/http"
	"slices"
)

// Effect is one write that took place.
type Effect struct {
	// Kind is flow.create, flow.overwrite, flow.update, flow.delete,
	// credential.create or credential.delete.
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Request is a call that reached the server, admin calls excepted.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	Status int    `json:"status"` // 0: the connection was cut without an answer
	Fault  Kind   `json:"fault,omitempty"`
}

// journal is what happened, oldest first. Requests are kept up to a number.
type journal struct {
	effects  []Effect
	requests []Request
}

const keptRequests = 10_000

// record adds an effect; the caller holds mu.
func (s *Server) record(kind, id, name string) {
	s.journal.effects = append(s.journal.effects, Effect{Kind: kind, ID: id, Name: name})
}

// Effects lists every write that took place.
func (s *Server) Effects() []Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal.effects)
}

// Requests lists the calls that were received, the newest last.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.journal.requests)
}

func (s *Server) logRequest(r *http.Request, status int, fault Fault) {
	s.cfg.Logger.LogAttrs(r.Context(), slog.LevelInfo, "request",
		slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", status), slog.String("fault", string(fault.Kind)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.journal.requests) == keptRequests {
		s.journal.requests = slices.Delete(s.journal.requests, 0, keptRequests/2)
	}
	s.journal.requests = append(s.journal.requests, Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Status: status, Fault: fault.Kind,
	})
}
