package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// handler handles an authenticated call while the tenant is locked.
type handler func(*call) (reply, error)

// responder handles a request whose body has been read.
type responder func(r *http.Request, body []byte) (reply, error)

func (t *Tenant) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	mount := func(base string, routes func(on func(string, handler))) {
		routes(func(pattern string, h handler) {
			method, path, _ := strings.Cut(pattern, " ")
			mux.HandleFunc(method+" "+base+path, func(w http.ResponseWriter, r *http.Request) {
				t.serve(w, r, t.authenticated(h))
			})
		})
	}
	people := &people{&t.books}
	for _, base := range []string{"/ccx/api/v1/{tenant}", "/ccx/api/common/v1/{tenant}", "/api/v1/{tenant}"} {
		mount(base, people.commonRoutes)
	}
	for _, version := range []string{"v6", "v7"} {
		mount("/ccx/api/staffing/"+version+"/{tenant}", people.staffingRoutes)
	}
	for version, forms := range map[string]bool{"v1": false, "v5": true} {
		mount("/ccx/api/absenceManagement/"+version+"/{tenant}", (&absences{&t.books, people, forms}).absenceRoutes)
	}
	mount("/ccx/api/businessProcess/v1/{tenant}", (&processes{&t.books, t.cfg.NoCancel}).processRoutes)
	mount("/ccx/api/recruiting/v4/{tenant}", people.recruitingRoutes)
	mount("/ccx/api/wql/v1/{tenant}", (&data{&t.books}).queryRoutes)
	mount("/ccx/service/customreport2/{tenant}", (&data{&t.books}).reportRoutes)
	t.agentRoutes(mux, people)
	for _, path := range []string{"/ccx/oauth2/{tenant}/token", "/auth/oauth2/{tenant}/token"} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { t.serve(w, r, t.token) })
	}
	for _, path := range []string{"/ccx/oauth2/{tenant}/authorize", "/auth/authorize/{tenant}"} {
		mux.HandleFunc("GET "+path, t.authorize)
	}
	t.adminRoutes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.serve(w, r, func(*http.Request, []byte) (reply, error) { return reply{}, notFound() })
	})
	return mux
}

// ServeHTTP implements http.Handler.
func (t *Tenant) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.routes.ServeHTTP(w, r) }

// serve handles one request: limits, faults before, the answer, faults after.
func (t *Tenant) serve(w http.ResponseWriter, r *http.Request, answer responder) {
	fault := t.Arm(r)
	t.Log(r, t.play(w, r, fault, answer), fault)
}

// play returns the status sent, or 0 if the connection was cut.
func (t *Tenant) play(w http.ResponseWriter, r *http.Request, fault sandboxkit.Fault, answer responder) int {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		return send(w, reply{http.StatusBadRequest, &apiError{Message: "unreadable body"}}, fault)
	}
	if t.overLimit() {
		w.Header().Set("Retry-After", "1")
		return send(w, reply{http.StatusTooManyRequests, &apiError{Message: "too many requests"}}, fault)
	}
	early, cut := failures().Before(fault, w, r)
	if cut {
		return 0
	}
	if early != nil {
		return send(w, *early, fault)
	}
	out, err := answer(r, body)
	if err != nil {
		out = failure(err)
	}
	if out, cut = failures().After(fault, w, r, out); cut {
		return 0
	}
	return send(w, out, fault)
}

func (t *Tenant) overLimit() bool {
	if t.limit == nil {
		return false
	}
	t.mu.Lock()
	now := t.books.now()
	t.mu.Unlock()
	return !t.limit.AllowN(now, 1)
}

func (t *Tenant) token(r *http.Request, body []byte) (reply, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return reply{}, badRequest("invalid form: %v", err)
	}
	if r.PathValue("tenant") != t.cfg.Tenant {
		return reply{}, notFound()
	}
	return t.serveToken(r, form), nil
}

// authenticated checks the bearer token, then runs the handler under the lock.
func (t *Tenant) authenticated(h handler) responder {
	return func(r *http.Request, body []byte) (reply, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		subject, known := t.tokens.subjectOf(r.Header.Get("Authorization"), t.books.now())
		if !known {
			return reply{}, &apiError{status: http.StatusUnauthorized, Message: "invalid_token"}
		}
		if r.PathValue("tenant") != t.cfg.Tenant {
			return reply{}, notFound()
		}
		return h(&call{
			path: r.PathValue, query: r.URL.Query(), body: body, raw: r.URL.Path, subject: subject,
			lenient: r.Header.Get("wd-warning-action") == "updateonwarning", kind: r.Header.Get("Content-Type"),
		})
	}
}

func failure(err error) reply {
	if api, is := errors.AsType[*apiError](err); is {
		return reply{api.status, api}
	}
	return reply{http.StatusInternalServerError, &apiError{Message: "internal error"}}
}

// send writes an answer, or half of it if the fault says so.
func send(w http.ResponseWriter, out reply, fault sandboxkit.Fault) int {
	contentType := "application/json;charset=utf-8"
	var raw []byte
	if page, isPage := out.body.(htmlPage); isPage {
		contentType, raw = "text/html", []byte("<html><body><h1>"+string(page)+"</h1></body></html>")
	} else {
		var err error
		if raw, err = json.Marshal(out.body); err != nil {
			out.status, raw = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
		}
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(raw)))
	w.WriteHeader(out.status)
	if fault.Kind == sandboxkit.HalfAnswer {
		raw = raw[:len(raw)/2] // the server cuts the connection after an incomplete answer
	}
	_, _ = w.Write(raw) // the client is gone
	return out.status
}
