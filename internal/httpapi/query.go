package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// knownQueries are the query parameters of the routes, as openapi.yaml lists them. A route that is not
// here has none.
var knownQueries = map[string][]string{
	"GET /v1/sessions":            {"before", "cursor", "limit"},
	"GET /v1/sessions/:id/events": {"after", "cursor", "limit"},
	"GET /v1/sessions/:id/stream": {"after"},
	"GET /v1/runs":                {"session_id", "state", "q", "domain", "owner", "before", "score_below", "held", "cursor", "limit", "all", "timing"},
	"GET /v1/runs/counts":         {"session_id", "q", "domain", "owner", "before", "held", "all"},
	"GET /v1/runs/:id/events":     {"after", "cursor", "limit"},
	"GET /v1/runs/:id/ledger":     {"after", "cursor", "limit"},
	"GET /v1/runs/:id/stream":     {"after"},
	"GET /v1/stats":               {"session_id", "domain", "strategy", "last", "all"},
	"GET /v1/gates":               {"status", "type", "run_id", "session_id", "cursor", "limit"},
	"GET /v1/locks":               {"cursor", "limit"},
	"GET /v1/domains":             {"cursor", "limit"},
	"GET /v1/capabilities":        {"domain", "cursor", "limit"},
	"GET /v1/instances":           {"cursor", "limit"},
	"GET /v1/keys":                {"cursor", "limit"},
	"GET /v1/audit/proof":         {"run_id", "seq"},
	"GET /v1/audit/consistency":   {"from"},
}

// queryParams returns the query parameters of a route, in the order of openapi.yaml.
func queryParams(method, path string) []string { return knownQueries[method+" "+path] }

// checkQuery rejects unknown query parameters: a misspelt filter must not return everything.
func checkQuery(method, path, raw string) error {
	if raw == "" {
		return nil
	}
	given, err := url.ParseQuery(raw)
	if err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "the query cannot be read: %w", err)
	}
	known := queryParams(method, path)
	var faults []contracts.Fault
	for name, values := range given {
		fault := contracts.Fault{Pointer: "/" + name[:min(len(name), 80)]}
		switch {
		case len(known) == 0:
			fault.Message = "is unknown: this route reads no query"
		case !slices.Contains(known, name):
			fault.Message = "is unknown: there are " + strings.Join(known, ", ")
		case len(values) > 1:
			fault.Message = "is given more than once"
		default:
			continue
		}
		faults = append(faults, fault)
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortFunc(faults, func(a, b contracts.Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	return contracts.Invalid("the query is not valid", faults[:min(len(faults), 20)]...)
}
