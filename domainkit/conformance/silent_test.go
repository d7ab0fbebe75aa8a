package conformance_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
)

// silent is a valid manifest with declarations that do not have the intended effect.
const silent = `{
  "schema_version": "1", "domain": "desk", "version": "1", "capabilities": [
    {"name": "find_desk", "description": "Finds desks.",
     "schema": {"type": "object", "required": ["size"], "properties": {"size": {"type": "string", "enum": ["small", "large"]}}},
     "output_schema": {"type": "object", "properties": {"matches": {"type": "array", "items": {"type": "object", "properties": {"value": {}, "label": {}}}}, "free": {"type": "integer"}}},
     "metadata": {"side_effect_class": "read", "idempotency": "keyed", "routable": false,
       "present": {"rows": "facts.matches", "columns": [{"path": "label"}, {"path": "colour"}]}}},
    {"name": "book_desk", "description": "Books a desk.",
     "schema": {"type": "object", "required": ["desk"], "properties": {"desk": {"type": "string"}}},
     "output_schema": {"type": "object", "properties": {"booking": {"type": "string"}}},
     "metadata": {"side_effect_class": "write_irreversible", "idempotency": "keyed", "approval_required": false, "routable": false,
       "verify": {"capability": "find_desk", "param_map": {"size": "huge"}, "assertions": [{"path": "facts.taken", "equals": true}, {"path": "facts.free", "gte": 0}, {"path": "result.facts.bookng", "exists": true}]},
       "composition": {"followup_roles": ["cleaner", "notifier"], "param_map": {"message": "Booked."}, "enabled_if": {"path": "facts.booking", "exists": true}},
       "flow": {"pre": [{"type": "search", "param": "desk", "search_capability": "find_desk", "search_param": "size", "result_path": "facts.desks"}]}}}
  ]}`

func TestWhatPassesInSilenceIsFlagged(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		}
	}
	mux.HandleFunc("GET /health", answer(`{"status":"ok","version":"1"}`))
	mux.HandleFunc("GET /manifest", answer(silent))
	mux.HandleFunc("POST /execute", answer(`{"ok":true,"summary":"done","facts":{}}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	report := conformance.Run(t.Context(), conformance.Options{URL: server.URL})
	var got []string
	for _, c := range report.Checks {
		if c.Name == "what passes in silence" {
			for _, f := range c.Findings {
				got = append(got, string(f.Severity)+" "+f.Rule+" "+f.Pointer)
			}
		}
		if c.Name == "manifest" && c.Status == conformance.StatusFailed {
			t.Fatalf("the manifest is refused: %+v", c.Findings)
		}
	}
	slices.Sort(got)
	want := []string{
		"error literal /capabilities/1/metadata/verify/param_map/size",
		"warning approval-ignored /capabilities/1/metadata/approval_required",
		"warning idempotency-of-a-read /capabilities/0/metadata/idempotency",
		"warning role-unplayed /capabilities/1/metadata/composition/followup_roles/0",
		"warning undeclared-fact /capabilities/0/metadata/present/columns/1/path",
		"warning undeclared-fact /capabilities/1/metadata/flow/pre/0/result_path",
		"warning undeclared-fact /capabilities/1/metadata/verify/assertions/0/path",
		"warning undeclared-fact /capabilities/1/metadata/verify/assertions/2/path",
	}
	if !slices.Equal(got, want) {
		t.Errorf("flagged\n%q\nwant\n%q", got, want)
	}
}

// TestCallsAreThoseOfTheServer compares the suite's calls with those of the core.
func TestCallsAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards calls and headers
	var calls []contracts.ExecuteRequest
	var headers []http.Header
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/health":
			_, _ = w.Write([]byte(`{"status":"ok"}`))
		case "/manifest":
			_, _ = w.Write([]byte(`{"schema_version":"1","domain":"desk","version":"1","capabilities":[{"name":"find","description":"Finds.",
				"schema":{"type":"object"},"metadata":{"side_effect_class":"read","allowed_roles":["clerk"],"timeout_ms":5000,"examples":[{"parameters":{}}]}}]}`))
		default:
			var call contracts.ExecuteRequest
			if json.NewDecoder(r.Body).Decode(&call) == nil && call.Capability == "find" {
				mu.Lock()
				calls, headers = append(calls, call), append(headers, r.Header.Clone())
				mu.Unlock()
			}
			_, _ = w.Write([]byte(`{"ok":true,"summary":"done","facts":{}}`))
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	conformance.Run(t.Context(), conformance.Options{URL: server.URL})
	mu.Lock()
	defer mu.Unlock()
	if len(calls) == 0 {
		t.Fatal("nothing was called")
	}
	c := calls[len(calls)-1].Context
	if !slices.Equal(c.Principal.Roles, []string{"clerk"}) || len(c.CapabilityDigest) != 64 || c.Deadline.IsZero() || c.TimeoutMS != 5000 {
		t.Errorf("called with %+v", c)
	}
	if parent := headers[len(headers)-1].Get("Traceparent"); len(parent) != 55 {
		t.Errorf("traceparent is %q", parent)
	}
}
