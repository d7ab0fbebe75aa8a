package sandbox

import (
	"encoding/json"
	"net/http"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// adminRoutes offers the methods of Server to other processes. They need no key: a sandbox has
// nothing to protect.
func (s *Server) adminRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /_sandbox/faults", func(w http.ResponseWriter, r *http.Request) {
		var f sandboxkit.Fault
		if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
			send(w, reply{http.StatusBadRequest, map[string]any{"message": err.Error()}}, sandboxkit.Fault{})
			return
		}
		s.Inject(f)
		send(w, reply{http.StatusOK, map[string]any{}}, sandboxkit.Fault{})
	})
	mux.HandleFunc("DELETE /_sandbox/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		send(w, reply{http.StatusOK, map[string]any{}}, sandboxkit.Fault{})
	})
	mux.HandleFunc("GET /_sandbox/effects", func(w http.ResponseWriter, _ *http.Request) {
		send(w, reply{http.StatusOK, s.Effects()}, sandboxkit.Fault{})
	})
	mux.HandleFunc("GET /_sandbox/requests", func(w http.ResponseWriter, _ *http.Request) {
		send(w, reply{http.StatusOK, s.Requests()}, sandboxkit.Fault{})
	})
}
