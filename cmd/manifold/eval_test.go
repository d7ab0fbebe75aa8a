package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent/eval"
)

// garden is a set of one domain with two capabilities.
const garden = `{"name":"garden","manifests":[{"domain":"garden","capabilities":[
 {"name":"water","description":"Waters flower beds.","schema":{"type":"object"},"intent_hints":{"examples":["water the flower beds","give the beds water"]}},
 {"name":"plants","description":"Lists plants.","schema":{"type":"object"},"intent_hints":{"examples":["which plants grow here","list all plants"]}}]}],
 "cases":[{"id":"1","split":"a","text":"water the flower beds","gold":[{"domain":"garden","capability":"water"}]},
  {"id":"2","split":"b","text":"list all plants","gold":[{"domain":"garden","capability":"water"}]}]}`

func evaluate(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), append([]string{"eval"}, args...), none, strings.NewReader(""), io.Writer(&out), &errs)
	return code, out.String(), errs.String()
}

func TestASetIsMeasured(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "garden.json")
	if err := os.WriteFile(path, []byte(garden), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := evaluate(t, path, "--wrong")
	if code != exitOK || !regexp.MustCompile(`accuracy +50.0 %`).MatchString(out) || !strings.Contains(out, "2: list all plants\n    wanted garden.water; garden.plants") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	code, out, errs = evaluate(t, path, "--json", "--split", "a", "--n", "1", "--seeds", "4,5", "--perturb", "--rename")
	var got struct{ Reports []eval.Report }
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v\n%s%s", code, err, out, errs)
	}
	if len(got.Reports) != 1 || got.Reports[0].Draws != 2 || got.Reports[0].Cases != 1 || got.Reports[0].Capabilities != 2 {
		t.Errorf("unexpected %+v", got)
	}
}

func TestManifestsAreLookedThrough(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "examples", "bookshelf", "manifest.json")
	code, out, errs := evaluate(t, "--manifest", path)
	if code != exitOK || !strings.Contains(out, "bookshelf: 2 capabilities") || !regexp.MustCompile(`accuracy +100.0 %`).MatchString(out) {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// TestHintsAreNoManifest: a file of a domain that keeps its schemas in code is not a manifest; the
// error says what to pass instead.
func TestHintsAreNoManifest(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../examples/finance/hints.json", "../../domains/workday/manifest.json"} {
		code, _, errs := evaluate(t, "--manifest", path)
		if code == exitOK || !strings.Contains(errs, path+": ") || !strings.Contains(errs, "capabilities have no schema") || !strings.Contains(errs, "give its address") {
			t.Errorf("exit %d\n%s", code, errs)
		}
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"nothing": nil, "a missing file": {"nowhere.json"}, "a domain twice": {"--manifest", "../../examples/bookshelf/manifest.json", "--manifest", "../../examples/bookshelf/manifest.json"}, "gates that do not rise": {"--manifest", filepath.Join("..", "..", "examples", "bookshelf", "manifest.json"), "--accept-read", "0.3", "--ask", "0.9"},
	} {
		if code, out, _ := evaluate(t, args...); code == exitOK {
			t.Errorf("%s was measured:\n%s", name, out)
		}
	}
}
