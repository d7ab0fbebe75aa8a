package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/internal/sample"
)

// registrySet writes a set of capabilities, half of them with examples, and of sentences that request
// them.
func registrySet(t *testing.T, name string, verbs, things []string) string {
	t.Helper()
	var capabilities, cases []string
	for i, verb := range verbs {
		for k, thing := range things {
			examples := "[]"
			if k%2 == 0 {
				examples = fmt.Sprintf(`["%s a %s please","I want to %s the old %s","%s another %s now"]`, verb, thing, verb, thing, verb, thing)
			}
			capabilities = append(capabilities, fmt.Sprintf(`{"name":"%s_%s","description":"%s any %s of the yard.","schema":{"type":"object"},"intent_hints":{"examples":%s}}`, verb, thing, verb, thing, examples))
			cases = append(cases, fmt.Sprintf(`{"id":"%d-%d","text":"could somebody %s the %s today","gold":[{"domain":%q,"capability":"%s_%s"}]}`, i, k, verb, thing, name, verb, thing))
		}
	}
	path := filepath.Join(t.TempDir(), name+".json")
	raw := fmt.Sprintf(`{"name":%q,"manifests":[{"domain":%q,"capabilities":[%s]}],"cases":[%s]}`, name, name, strings.Join(capabilities, ","), strings.Join(cases, ","))
	if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheSameSetsGiveTheSameWeights(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it trains on sets")
	boats := registrySet(t, "boats", []string{"paint", "caulk", "launch"}, []string{"dinghy", "ketch", "barge", "skiff"})
	bells := registrySet(t, "bells", []string{"tune", "cast", "ring"}, []string{"carillon", "gong", "chime", "tocsin"})
	var sources []string
	for i := range 2 {
		to, out := filepath.Join(t.TempDir(), fmt.Sprint(i, ".go")), &bytes.Buffer{}
		if err := fitConfidence(t.Context(), []string{"-o", to, boats, bells}, out); err != nil {
			t.Fatal(err)
		}
		for _, row := range []string{"boats, with examples", "boats, described", "bells, described", "all sets, flattened, described"} {
			if !strings.Contains(out.String(), row) {
				t.Errorf("nothing is said of %s:\n%s", row, out)
			}
		}
		raw, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(raw))
	}
	if sources[0] != sources[1] {
		t.Error("two fits on the same sets differ")
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "shipped.go", sources[0], 0); err != nil {
		t.Error(err)
	}
	if strings.Count(sources[0], "signalCoverage:") != 2 || !strings.Contains(sources[0], "DO NOT EDIT") {
		t.Errorf("unexpected code:\n%s", sources[0])
	}
}

func TestWhatCannotBeFitted(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it trains on sets")
	boats := registrySet(t, "boats", []string{"paint"}, []string{"dinghy", "ketch"})
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"one set alone":    {[]string{boats}, "two sets or more"},
		"a missing file":   {[]string{boats, "nowhere.json"}, "nowhere.json"},
		"what is no set":   {[]string{boats, broken}, "broken.json"},
		"an unknown flag":  {[]string{"-x"}, "-x"},
		"nowhere to write": {[]string{"-o", filepath.Join(broken, "x.go"), boats, registrySet(t, "bells", []string{"ring"}, []string{"gong", "chime"})}, "x.go"},
	} {
		if err := fitConfidence(t.Context(), c.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
