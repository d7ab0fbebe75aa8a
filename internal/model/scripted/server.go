package scripted

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limits of the server.
const (
	maxRequestBytes = 4 << 20
	keptRequests    = 1000
)

// Server answers in both formats. It records the newest requests, for tests that inspect them. It is
// safe for concurrent use.
type Server struct {
	answers Answerer
	mux     *http.ServeMux

	mu   sync.Mutex // guards kept and count
	kept []Asked
	all  int
}

var _ http.Handler = (*Server)(nil)

// New returns a Server.
func New(answers Answerer) *Server {
	s := &Server{answers: answers, mux: http.NewServeMux()}
	s.mux.HandleFunc("POST /v1/chat/completions", s.serve(completions{}))
	s.mux.HandleFunc("POST /v1/messages", s.serve(messages{}))
	s.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "scripted", "object": "model", "owned_by": "manifold"}}})
	})
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Requests returns the newest requests, oldest first.
func (s *Server) Requests() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept)
}

// Count returns the number of requests.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *Server) keep(a Asked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all++
	if s.kept = append(s.kept, a); len(s.kept) > keptRequests {
		s.kept = s.kept[1:]
	}
}

// format is one wire format.
type format interface {
	read(body []byte) (Asked, error)
	answer(asked Asked, a Answer) any
	problem(status int, message string) any
}

func (s *Server) serve(f format) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
		if err != nil {
			write(w, http.StatusRequestEntityTooLarge, f.problem(http.StatusRequestEntityTooLarge, "the request is too large"))
			return
		}
		asked, err := f.read(body)
		if err != nil {
			write(w, http.StatusBadRequest, f.problem(http.StatusBadRequest, err.Error()))
			return
		}
		s.keep(asked)
		a := s.answers.Answer(asked)
		if !wait(r, time.Duration(a.DelayMS)*time.Millisecond) {
			return
		}
		if a.Fault == FaultNoSchema && asked.Schema == nil {
			a.Fault = ""
		}
		if !broken(w, r, f, asked, a) {
			write(w, http.StatusOK, f.answer(asked, a))
		}
	}
}

// wait waits for d and reports whether the client is still connected.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// statuses are the faults that consist of a status and a message.
var statuses = map[Fault]int{
	FaultOverloaded: http.StatusTooManyRequests,
	FaultBroken:     http.StatusInternalServerError,
	FaultKey:        http.StatusUnauthorized,
	FaultNoSchema:   http.StatusBadRequest,
}

// broken simulates a fault and reports whether it was the response.
func broken(w http.ResponseWriter, r *http.Request, f format, asked Asked, a Answer) bool {
	if status, ok := statuses[a.Fault]; ok {
		if a.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
		}
		write(w, status, f.problem(status, "scripted fault "+string(a.Fault)))
		return true
	}
	switch a.Fault {
	case FaultHang:
		<-r.Context().Done()
	case FaultCut:
		cut(w, f.answer(asked, a))
	case FaultGarbled:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[],"content":"`) // malformed on purpose
	default:
		return false
	}
	return true
}

// cut announces the whole answer, sends half of it and closes the connection.
func cut(w http.ResponseWriter, answer any) {
	raw, err := json.Marshal(answer)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw[:len(raw)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	if h, ok := w.(http.Hijacker); ok {
		if conn, _, err := h.Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}

func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
