package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

// setOf writes a set of sentences in which the value follows one word.
func setOf(t *testing.T, name, before string) string {
	t.Helper()
	var cases []string
	for i, ship := range []string{"Ondina", "Halcyon", "Petrel", "Kittiwake", "Dunlin", "Garganey"} {
		cases = append(cases, fmt.Sprintf(`{"id":"%s-%d","text":"where is it %s %s","gold":[{"domain":"d","capability":"find","parameters":{"thing":[%q]}}]}`, name, i, before, ship, ship))
	}
	path := filepath.Join(t.TempDir(), name+".json")
	raw := fmt.Sprintf(`{"name":%q,"manifests":[{"domain":"d","capabilities":[{"name":"find","description":"Where it is.","schema":{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"]}}]}],"cases":[%s]}`,
		name, strings.Join(cases, ","))
	if err := os.WriteFile(path, []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheSameFilesGiveTheSameWeights(t *testing.T) {
	t.Parallel()
	a, b := setOf(t, "harbour", "like"), setOf(t, "quay", "under")
	var sources []string
	for i := range 2 {
		to, out := filepath.Join(t.TempDir(), fmt.Sprint(i, ".go")), &bytes.Buffer{}
		if err := fitValues([]string{"-o", to, a, b}, out); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(raw))
		for _, row := range []string{"harbour", "quay", "as shipped", "the first", "the others", "its other half"} {
			if !strings.Contains(out.String(), row) {
				t.Errorf("nothing is said of %s:\n%s", row, out)
			}
		}
	}
	if sources[0] != sources[1] {
		t.Error("two fits on the same files differ")
	}
	if !strings.Contains(sources[0], "evBias: ") || strings.Contains(sources[0], "\t\t: ") {
		t.Errorf("some evidence has no name:\n%s", sources[0])
	}
}

func TestOneFileTellsNothingOfOthers(t *testing.T) {
	t.Parallel()
	err := fitValues([]string{setOf(t, "harbour", "like")}, &bytes.Buffer{})
	if contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("got %v, want an error that asks for a second file", err)
	}
	if err := fitValues([]string{"missing.json", "missing.json"}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "missing.json") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// TestTheFunctionsAreSound: in the set that the shipped weights are fitted on, the expected values
// match their schemas, and no required value is missing.
func TestTheFunctionsAreSound(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "functions.json"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := eval.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]int{}
	for _, c := range set.Cases {
		parts[c.Split]++
		entry, ok := catalog.Capability(c.Gold[0].Ref())
		if !ok {
			t.Errorf("%s: there is no %s", c.ID, c.Gold[0].Ref())
			continue
		}
		var of struct {
			Properties map[string]any
			Required   []string
		}
		if err := json.Unmarshal(entry.Capability.Schema, &of); err != nil {
			t.Fatal(err)
		}
		for name := range c.Gold[0].Parameters {
			if of.Properties[name] == nil {
				t.Errorf("%s: the schema has no %s", c.ID, name)
			}
		}
		for _, name := range of.Required {
			if len(c.Gold[0].Parameters[name]) == 0 {
				t.Errorf("%s: nothing is right for %s", c.ID, name)
			}
		}
	}
	if parts["read"] != 255 || parts["unread"] != 85 {
		t.Errorf("the parts are %v", parts)
	}
}
