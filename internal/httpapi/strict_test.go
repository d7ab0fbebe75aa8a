package httpapi_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/manifold-run/manifold/contracts"
)

// operations returns the operations of the server's openapi.yaml as "METHOD /path", with the name
// of the body's schema, if there is one.
func (s *site) operations() map[string]string {
	s.t.Helper()
	var document struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal([]byte(s.send("", "GET", "/openapi.yaml", "").body), &document); err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for path, item := range document.Paths {
		for method, op := range item {
			fields, isOperation := op.(map[string]any)
			if !isOperation {
				continue // parameters of the whole path
			}
			ref, _ := dig(fields, "requestBody", "content", "application/json", "schema", "$ref").(string) // "" for none
			_, schema, _ := strings.Cut(ref, "schemas/")
			out[strings.ToUpper(method)+" "+path] = schema
		}
	}
	if len(out) < 50 {
		s.t.Fatalf("the document lists %d operations", len(out))
	}
	return out
}

// dig returns the value at a path of a parsed document, nil if there is none.
func dig(v any, names ...string) any {
	for _, name := range names {
		members, _ := v.(map[string]any) // other values have no members
		v = members[name]
	}
	return v
}

// TestWhatIsNotThereIsNotFoundOnAnyRoute: unknown sessions and runs, on every route of the document
// that has an id, for people who may read everything.
func TestWhatIsNotThereIsNotFoundOnAnyRoute(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.person("boss", "admin", "operator", "approver", "viewer")
	bodies := map[string]string{
		"": "", "Rename": `{"name":"x"}`, "Message": `{"message":"x"}`, "Resume": `{"decision":"reject","interrupt_id":"int_none"}`,
	}
	places := strings.NewReplacer("{id}", "none-such", "{node}", "n1", "{sha256}", strings.Repeat("0", 64))
	asked := 0
	for operation, schema := range s.operations() {
		method, path, _ := strings.Cut(operation, " ")
		if !strings.HasPrefix(path, "/v1/sessions/{id}") && !strings.HasPrefix(path, "/v1/runs/{id}") {
			continue
		}
		body, known := bodies[schema]
		if !known {
			t.Fatalf("%s takes a %s, of which this test knows none", operation, schema)
		}
		asked++
		for _, who := range []string{"rita", "boss"} {
			if who == "rita" && strings.HasSuffix(path, "/data") {
				continue // raw data is never for operators
			}
			if a := s.send(who, method, places.Replace(path), body); a.status != 404 || problem(t, a).Code != contracts.CodeNotFound {
				t.Errorf("%s for %s: %d %s", operation, who, a.status, a.body)
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d operations name a session or a run", asked)
	}
}

// TestAQueryThatIsNotReadWholeIsRefused: a misspelt filter must not return everything.
func TestAQueryThatIsNotReadWholeIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.person("boss", "admin", "operator", "approver", "viewer")
	for operation := range s.operations() {
		method, path, _ := strings.Cut(operation, " ")
		if !strings.HasPrefix(path, "/v1/") {
			continue // probes, and links that other programs forward
		}
		a := s.send("boss", method, strings.NewReplacer("{", "", "}", "").Replace(path)+"?sesion_id=x", "")
		if a.status != 400 || !strings.Contains(a.body, "sesion_id") {
			t.Errorf("%s with a query that nobody knows: %d %s", operation, a.status, a.body)
		}
	}
	for query, says := range map[string]string{
		"?limit=1&limit=2": "more than once", "?limit=%zz": "cannot be read", "?limit=": "/limit", "?all=1": "/all", "?state=": "/state",
		"?before=": "/before", "?score_below=": "/score_below", "?" + strings.Repeat("x", 5000) + "=1": "session_id",
	} {
		if a := s.send("boss", "GET", "/v1/runs"+query, ""); a.status != 400 || !strings.Contains(a.body, says) || len(a.body) > 2000 {
			t.Errorf("%.60s: %d %.300s", query, a.status, a.body)
		}
	}
	if a := s.send("boss", "GET", "/v1/stats?last=2001", ""); a.status != 400 || !strings.Contains(a.body, "2000") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.send("", "GET", "/health?probe=7", ""); a.status != 200 {
		t.Errorf("a probe with a parameter of its own: %d", a.status)
	}
}
