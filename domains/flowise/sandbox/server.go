// Package sandbox is an in-memory Flowise: an http.Handler that answers the calls of this domain
// like a real Flowise 3.1.1, including its quirks, and that can inject faults. It is for tests,
// demos and experiments; the same test suite runs against it and a real server.
//
// It stores flows and graphs exactly like the real server. It runs small flows: custom functions in
// a subset of JavaScript; agent flows of start, condition, function, model and reply nodes; and
// chains and agents whose models repeat the question. It is not a flow engine: an unsupported node
// fails with a message that says so.
package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// Config configures the sandbox; the zero value is usable.
type Config struct {
	// Key is the API key with every permission ["sandbox-key"].
	Key string
	// ViewerKey, if set, is a read-only key.
	ViewerKey string
	// Nodes are definitions in addition to those of Flowise 3.1.1, or replacements of definitions
	// with the same name.
	Nodes []json.RawMessage
	// Seed determines the random faults and the server's ids.
	Seed   uint64
	Now    func() time.Time
	Logger *slog.Logger
}

// Server is one simulated Flowise. It is safe for concurrent use.
type Server struct {
	*sandboxkit.Control
	cfg    Config
	known  *knowledge.Snapshot
	routes *http.ServeMux

	mu          sync.Mutex // guards all below
	flows       map[string]*flow
	credentials []*credential
	variables   []variable
	ids         idMaker
	clock       int      // number of saved rows, to order rows of the same second
	effects     []Effect // oldest first
}

// New returns an empty server.
func New(cfg Config) (*Server, error) {
	known, err := knowledge.Shipped()
	if err != nil {
		return nil, fmt.Errorf("flowise sandbox: %w", err)
	}
	for _, raw := range cfg.Nodes {
		d, err := knowledge.DeriveNode(raw)
		if err == nil {
			known, err = known.With(d)
		}
		if err != nil {
			return nil, fmt.Errorf("flowise sandbox: %w", err)
		}
	}
	cfg.Key = cmp.Or(cfg.Key, "sandbox-key")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		Control: sandboxkit.NewControl(cfg.Seed, cfg.Logger), cfg: cfg, known: known,
		flows: map[string]*flow{}, ids: newIDs(cfg.Seed),
	}
	s.routes = s.newRoutes()
	return s, nil
}

// Key returns the API key with every permission.
func (s *Server) Key() string { return s.cfg.Key }

// reply is a response: a value sent as JSON, or a text or page.
type reply struct {
	status int
	body   any
}

// page is a body of type text/html.
type page string

// app is the response to every unknown path.
const app = page("<!DOCTYPE html><html lang=\"en\"><head><title>Flowise - Build AI Agents, Visually</title></head><body></body></html>")

// refusal is an error response in Flowise's format.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// jsError is an error message of JavaScript or Flowise, in the original wording.
type jsError string

func (e jsError) Error() string { return string(e) }

func said(format string, args ...any) error { return jsError(fmt.Sprintf(format, args...)) }

func internal(format string, args ...any) error {
	return refuse(http.StatusInternalServerError, format, args...)
}

func (r *refusal) reply() reply {
	return reply{r.status, map[string]any{"statusCode": r.status, "success": false, "message": r.text, "stack": map[string]any{}}}
}

// request is a request whose body has been read. Handlers run under the lock.
type request struct {
	*http.Request
	body   []byte
	viewer bool
}

// change refuses read-only keys.
func (r *request) change() error {
	if r.viewer {
		return errForbidden
	}
	return nil
}

var (
	errForbidden    = errors.New("forbidden")
	errUnauthorized = errors.New("unauthorized")
)

type handler func(*request) (reply, error)

func (s *Server) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	open := func(pattern string, h handler) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v1"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, h) })
	}
	keyed := func(pattern string, h handler) { open(pattern, s.authenticated(h)) }
	open("GET /ping", func(*request) (reply, error) { return reply{http.StatusOK, page("pong")}, nil })
	open("GET /version", func(*request) (reply, error) {
		return reply{http.StatusOK, map[string]any{"version": s.known.Flowise()}}, nil
	})
	s.flowRoutes(keyed)
	s.catalogRoutes(keyed)
	s.storeRoutes(keyed)
	mux.HandleFunc("POST /api/v1/prediction/{id}", s.servePrediction)
	s.adminRoutes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, func(*request) (reply, error) { return reply{http.StatusOK, app}, nil })
	})
	return mux
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

func (s *Server) authenticated(h handler) handler {
	return func(r *request) (reply, error) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		r.viewer = s.cfg.ViewerKey != "" && key == s.cfg.ViewerKey
		if key != s.cfg.Key && !r.viewer {
			return reply{}, errUnauthorized
		}
		return h(r)
	}
}

// serve handles one request: faults before, the answer, faults after.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, h handler) {
	fault := s.Arm(r)
	out, cut := s.play(w, r, fault, h)
	status := 0
	if !cut {
		status = send(w, out, fault)
	}
	s.Log(r, status, fault)
}

const maxBody = 50 << 20

// play returns the answer, or reports that the connection was cut.
func (s *Server) play(w http.ResponseWriter, r *http.Request, fault sandboxkit.Fault, h handler) (out reply, cut bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return (&refusal{http.StatusRequestEntityTooLarge, "request entity too large"}).reply(), false
	}
	early, cut := failures().Before(fault, w, r)
	if cut || early != nil {
		return orEmpty(early), cut
	}
	out, err = s.answer(&request{Request: r, body: body}, h)
	if err != nil {
		out = failure(err)
	}
	return failures().After(fault, w, r, out)
}

func orEmpty(early *reply) reply {
	if early == nil {
		return reply{}
	}
	return *early
}

func (s *Server) answer(r *request, h handler) (reply, error) {
	if len(r.body) > 0 && !json.Valid(r.body) {
		return reply{}, refuse(http.StatusBadRequest, "Expected property name or '}' in JSON at position 1")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return h(r)
}

func failure(err error) reply {
	var said *refusal
	switch {
	case errors.As(err, &said):
		return said.reply()
	case errors.Is(err, errUnauthorized):
		return reply{http.StatusUnauthorized, map[string]any{"error": "Unauthorized Access"}}
	case errors.Is(err, errForbidden):
		return reply{http.StatusForbidden, map[string]any{"message": "Forbidden"}}
	default:
		return (&refusal{http.StatusInternalServerError, err.Error()}).reply()
	}
}

func encode(body any) (kind string, raw []byte) {
	if text, is := body.(page); is {
		return "text/html; charset=utf-8", []byte(text)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		raw = []byte("null")
	}
	return "application/json; charset=utf-8", raw
}

// send writes the answer and returns its status, or 0 if it was cut in half.
func send(w http.ResponseWriter, out reply, fault sandboxkit.Fault) int {
	kind, raw := encode(out.body)
	w.Header().Set("Content-Type", kind)
	if fault.Kind == sandboxkit.HalfAnswer {
		w.Header().Set("Content-Length", fmt.Sprint(len(raw)))
		raw = raw[:len(raw)/2]
	}
	w.WriteHeader(out.status)
	_, _ = w.Write(raw) // the client is gone
	if fault.Kind == sandboxkit.HalfAnswer {
		sandboxkit.HangUp(w)
		return 0
	}
	return out.status
}

// second returns the server's time with the resolution of its database.
func (s *Server) second() time.Time { return s.cfg.Now().UTC().Truncate(time.Second) }

func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

// newest sorts rows like the server lists them: by the second of their last change, then by the
// order of saving, newest first.
func newest(a, b *flow) int {
	return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(b.order, a.order))
}

func sorted(flows map[string]*flow) []*flow {
	out := make([]*flow, 0, len(flows))
	for _, f := range flows {
		out = append(out, f)
	}
	slices.SortFunc(out, newest)
	return out
}
