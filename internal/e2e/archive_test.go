package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// archive is a domain whose schemas are written as tool servers write them; it notes what
// it was called with.
type archive struct {
	manifest []byte
	url      string

	mu    sync.Mutex // guards calls
	calls []map[string]any
}

func startArchive(t *testing.T) *archive {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "contracts", "testdata", "manifest.archive.json"))
	if err != nil {
		t.Fatal(err)
	}
	a := &archive{manifest: raw}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

func (a *archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
		answer(w, http.StatusOK, contracts.Health{Status: contracts.HealthOK})
	case "/manifest":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(a.manifest)
	default:
		var req contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			answer(w, http.StatusBadRequest, nil)
			return
		}
		a.mu.Lock()
		a.calls = append(a.calls, map[string]any{req.Capability: req.Parameters})
		a.mu.Unlock()
		answer(w, http.StatusOK, contracts.ToolResult{OK: true, Summary: "done"})
	}
}

// last is what the domain was called with last.
func (a *archive) last() map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.calls) == 0 {
		return nil
	}
	return a.calls[len(a.calls)-1]
}

// TestSchemasOfTheWorldWorkFromTheSentenceToTheCall: values are read, fields of objects
// are asked for, a gate shows the object, and the domain gets it.
func TestSchemasOfTheWorldWorkFromTheSentenceToTheCall(t *testing.T) {
	t.Parallel()
	s, a := startSite(t), startArchive(t)
	s.register(contracts.Registration{Domain: "archive", URL: a.url})
	for say, want := range map[string]map[string]any{
		"find letters of the writer Nora":  {"find_letters": map[string]any{"writer": "Nora"}},
		"find the crate 907":               {"find_crate": map[string]any{"filter": map[string]any{"number": 907.0}}},
		"list the rooms of the wing South": {"list_rooms": map[string]any{"wing": "South"}},
		"list the lent loans":              {"list_loans": map[string]any{"state": "out"}},
		"look everywhere for lanterns":     {"search_all": map[string]any{"q": "lanterns"}},
		"find the box QX-99":               {"find_box": map[string]any{"code": "QX-99"}},
	} {
		if r := s.ask(say); r.Answer == nil {
			t.Errorf("%s: no answer, but %s", say, asJSON(r))
		}
		if diff := cmp.Diff(want, a.last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", say, diff)
		}
	}
	crate := s.ask("find the crate")
	if crate.Interrupt == nil || !strings.Contains(crate.Interrupt.Prompt, "number or tag") {
		t.Fatalf("it does not ask by the fields: %s", asJSON(crate))
	}
	if _, err := s.rita.Say(t.Context(), crate.SessionID, "17", wait()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]any{"find_crate": map[string]any{"filter": map[string]any{"number": 17.0}}}, a.last()); diff != "" {
		t.Errorf("the crate that was asked for (-want +got):\n%s", diff)
	}
	visit := s.ask("book a visit on 2027-04-09")
	if visit.Interrupt == nil || !strings.Contains(visit.Interrupt.Prompt, "people of the visit") {
		t.Fatalf("it does not ask for the field: %s", asJSON(visit))
	}
	gated, err := s.rita.Say(t.Context(), visit.SessionID, "3", wait())
	if err != nil || len(gated.RunIDs) == 0 {
		t.Fatalf("%v %s", err, asJSON(gated))
	}
	gate := s.gates(gated.RunIDs[len(gated.RunIDs)-1], 1)[0]
	s.approve(gate)
	want := map[string]any{"book_visit": map[string]any{"visit": map[string]any{"day": "2027-04-09", "people": 3.0}}}
	got := eventually(t, "the visit", func() (map[string]any, bool) { last := a.last(); return last, last["book_visit"] != nil })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("visit (-want +got):\n%s", diff)
	}
}
