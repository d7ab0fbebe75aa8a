package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// TestValuesAreReadWhateverTheSchemaLooksLike: each capability is declared in one of the
// ways that tool servers have.
func TestValuesAreReadWhateverTheSchemaLooksLike(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "contracts", "testdata", "manifest.archive.json"))
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t)
	b.catalog = catalogOf("world", decoded(t, string(raw)))
	for say, want := range map[string]struct {
		ref    string
		params map[string]any
		lacks  []string
	}{
		"find letters of the writer Nora":         {"archive.find_letters", map[string]any{"writer": "Nora"}, nil},
		"find letters of the writer Ada":          {"archive.find_letters", map[string]any{"writer": "Ada"}, nil},
		"find the crate 31":                       {"archive.find_crate", map[string]any{"filter": map[string]any{"number": 31.0}}, nil},
		"find the crate 907":                      {"archive.find_crate", map[string]any{"filter": map[string]any{"number": 907.0}}, nil},
		"find the crate":                          {"archive.find_crate", map[string]any{}, []string{"filter"}},
		"list the rooms of the wing South":        {"archive.list_rooms", map[string]any{"wing": "South"}, nil},
		"list the returned loans":                 {"archive.list_loans", map[string]any{"state": "back"}, nil},
		"list the lent loans":                     {"archive.list_loans", map[string]any{"state": "out"}, nil},
		"find the box AB-12":                      {"archive.find_box", map[string]any{"code": "AB-12"}, nil},
		"find the box QX-99":                      {"archive.find_box", map[string]any{"code": "QX-99"}, nil},
		"show the shelf Maps":                     {"archive.show_shelf", map[string]any{"shelf": map[string]any{"label": "Maps"}}, nil},
		"look everywhere for candles":             {"archive.search_all", map[string]any{"q": "candles"}, nil},
		"look everywhere for lanterns":            {"archive.search_all", map[string]any{"q": "lanterns"}, nil},
		"book a visit on 2027-04-09 for 3 people": {"archive.book_visit", map[string]any{"visit": map[string]any{"day": "2027-04-09", "people": 3.0}}, nil},
		"book a visit on 2027-04-09":              {"archive.book_visit", map[string]any{"visit": map[string]any{"day": "2027-04-09"}}, []string{"/visit/people"}},
	} {
		t.Run(say, func(t *testing.T) {
			t.Parallel()
			u, err := b.adapter.Understand(t.Context(), intent.Request{Message: say, Catalog: b.catalog, Now: saturday})
			if err != nil || len(u.Intents) != 1 {
				t.Fatalf("%v %+v", err, u)
			}
			in := u.Intents[0]
			if in.Ref() != want.ref || u.Outcome != contracts.ReadingAccepted {
				t.Errorf("%s %s, want %s accepted", u.Outcome, in.Ref(), want.ref)
			}
			if diff := cmp.Diff(want.params, in.Parameters); diff != "" {
				t.Errorf("parameters (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.lacks, in.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}
