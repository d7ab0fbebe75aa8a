package sandbox

import (
	"encoding/json"
	"net"
	"net/http"
	"time"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

const (
	adminPrefix    = "/__sandbox/"
	maxRequestBody = 1 << 20
)

// adminRoutes are the routes for the operator of the sandbox, allowed from the same machine only.
func (t *Tenant) adminRoutes(mux *http.ServeMux) {
	on := func(pattern string, h func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { admin(w, r, h) })
	}
	done := map[string]bool{"ok": true}
	on("GET "+adminPrefix+"credentials", func(r *http.Request) (any, error) {
		if id := r.URL.Query().Get("worker"); id != "" {
			return t.CredentialsFor(id), nil
		}
		return t.Credentials(), nil
	})
	on("GET "+adminPrefix+"people", func(*http.Request) (any, error) { return t.People(), nil })
	on("GET "+adminPrefix+"effects", func(*http.Request) (any, error) { return t.Effects(), nil })
	on("GET "+adminPrefix+"requests", func(*http.Request) (any, error) { return t.Requests(), nil })
	on("POST "+adminPrefix+"faults", func(r *http.Request) (any, error) {
		var f sandboxkit.Fault
		if err := json.NewDecoder(r.Body).Decode(&f); err != nil {
			return nil, badRequest("invalid fault: %v", err)
		}
		t.Inject(f)
		return done, nil
	})
	on("DELETE "+adminPrefix+"faults", func(*http.Request) (any, error) { t.ClearFaults(); return done, nil })
	on("POST "+adminPrefix+"expire-tokens", func(*http.Request) (any, error) { t.ExpireTokens(); return done, nil })
	on("POST "+adminPrefix+"approve", func(*http.Request) (any, error) {
		return map[string]int{"approved": t.ApproveAll()}, nil
	})
	on("POST "+adminPrefix+"deny", func(r *http.Request) (any, error) {
		return map[string]int{"denied": t.DenyAll(r.URL.Query().Get("comment"))}, nil
	})
	on("POST "+adminPrefix+"reset", func(*http.Request) (any, error) { t.Reset(); return done, nil })
	on("POST "+adminPrefix+"clock", func(r *http.Request) (any, error) {
		d, err := time.ParseDuration(r.URL.Query().Get("advance"))
		if err != nil || d < 0 {
			return nil, badRequest("advance must be a duration such as 24h")
		}
		t.AdvanceClock(d)
		return done, nil
	})
}

func admin(w http.ResponseWriter, r *http.Request, h func(r *http.Request) (any, error)) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		send(w, failure(forbidden()), sandboxkit.Fault{})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxRequestBody)
	body, err := h(r)
	if err != nil {
		send(w, failure(err), sandboxkit.Fault{})
		return
	}
	send(w, reply{http.StatusOK, body}, sandboxkit.Fault{})
}
