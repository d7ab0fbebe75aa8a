package contracts_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

//go:generate go test . -run TestTheManifestReference -update

var update = flag.Bool("update", false, "write docs/manifest-reference.md anew, from the schema and the manifests of the tests")

const referenceFile = "../docs/manifest-reference.md"

// document is a decoded JSON object.
type document = map[string]any

// reference collects examples of each field from manifests.
type reference struct {
	defs     document
	examples map[string]any // "part.field" → the shortest value found
}

// partOf resolves a schema to the named part of the contract, "" for an inline one.
func (r *reference) partOf(schema document) (string, document) {
	ref, _ := schema["$ref"].(string)
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	if !ok {
		return "", schema
	}
	def, _ := r.defs[name].(document)
	return name, def
}

// see collects the examples that a value contains for the fields of a schema.
func (r *reference) see(part string, schema document, value any) {
	if name, def := r.partOf(schema); name != "" {
		part, schema = name, def
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		branches, _ := schema[keyword].([]any)
		for _, branch := range branches {
			if b, ok := branch.(document); ok {
				r.see(part, b, value)
			}
		}
	}
	switch value := value.(type) {
	case []any:
		if items, ok := schema["items"].(document); ok {
			for _, item := range value {
				r.see(part, items, item)
			}
		}
	case document:
		r.members(part, schema, value)
	}
}

func (r *reference) members(part string, schema, value document) {
	properties, _ := schema["properties"].(document)
	others, _ := schema["additionalProperties"].(document)
	for name, v := range value {
		property, ok := properties[name].(document)
		if !ok {
			r.see("", others, v)
			continue
		}
		key := part + "." + name
		if had, seen := r.examples[key]; !seen || len(inJSON(v)) < len(inJSON(had)) {
			r.examples[key] = v
		}
		r.see("", property, v)
	}
}

func inJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw))
}

// ours are members that authors do not write: the planner sets them, or they apply only to plans
// that are not workflows.
var ours = []string{"judge.skill_sha256", "reason_step.skill_sha256", "rule.region", "human_step.param", "human_step.choose", "human_step.looks_up"}

// TestTheManifestReference compares docs/manifest-reference.md with the schema, and checks that
// an accepted manifest has an example of every field.
func TestTheManifestReference(t *testing.T) {
	t.Parallel()
	var schema document
	if err := json.Unmarshal(readFile(t, "schemas/manifest.json"), &schema); err != nil {
		t.Fatal(err)
	}
	r := &reference{examples: map[string]any{}}
	r.defs, _ = schema["$defs"].(document)
	for _, file := range []string{"testdata/manifest.reference.json", exampleManifest} {
		var m document
		raw := readFile(t, file)
		if _, err := contracts.ParseManifest(raw); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		r.see("manifest", schema, m)
	}
	text, without := r.write(schema)
	text += string(readFile(t, "testdata/understood.md"))
	if len(without) > 0 {
		t.Errorf("no manifest has an example of %s; put one into testdata/manifest.reference.json", strings.Join(without, ", "))
	}
	if unsaid := strings.Count(text, " |  | `"); unsaid > 0 {
		t.Errorf("%d fields have no sentence; give each a description in the schema", unsaid)
	}
	if *update {
		if err := os.WriteFile(referenceFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(readFile(t, referenceFile)) != text {
		t.Errorf("%s is not what the schema says; write it anew with: go generate ./contracts", referenceFile)
	}
}

func (r *reference) write(schema document) (text string, without []string) {
	var b strings.Builder
	b.WriteString("# Manifest reference\n\nEvery field of a manifest, with an example that is accepted. It is written by `go generate ./contracts` out of the schema\n" +
		"(`contracts/schemas/manifest.json`) and of manifests of the tests. How to write one: [write-a-domain.md](write-a-domain.md); procedures:\n[workflows.md](workflows.md).\n")
	section := func(name string, def document) {
		properties, _ := def["properties"].(document)
		if len(properties) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		if said, ok := def["description"].(string); ok {
			b.WriteString(said + "\n\n")
		}
		b.WriteString("| field | is | meaning | example |\n| --- | --- | --- | --- |\n")
		required, _ := def["required"].([]any)
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			key := name + "." + field
			if slices.Contains(ours, key) {
				continue
			}
			property, _ := properties[field].(document)
			said, _ := property["description"].(string)
			example, seen := r.examples[key]
			if !seen {
				without = append(without, key)
			}
			mark := ""
			if slices.Contains(required, any(field)) {
				mark = ", required"
			}
			fmt.Fprintf(&b, "| `%s` | %s%s | %s | %s |\n", field, r.kind(property), mark, cell(said), code(example))
		}
	}
	section("manifest", schema)
	for _, name := range slices.Sorted(maps.Keys(r.defs)) {
		def, _ := r.defs[name].(document)
		section(name, def)
	}
	return b.String(), without
}

// kind describes the type of a field in a few words.
func (r *reference) kind(property document) string {
	if name, _ := r.partOf(property); name != "" {
		return "[" + name + "](#" + name + ")"
	}
	if values, ok := property["enum"].([]any); ok {
		return "one of " + cell(strings.Trim(inJSON(values), "[]"))
	}
	if same, ok := property["const"]; ok {
		return cell(inJSON(same))
	}
	kinds := fmt.Sprint(property["type"])
	if list, ok := property["type"].([]any); ok {
		words := make([]string, len(list))
		for i, k := range list {
			words[i] = fmt.Sprint(k)
		}
		kinds = strings.Join(words, " or ")
	}
	if items, ok := property["items"].(document); ok && kinds == "array" {
		return "list of " + r.kind(items)
	}
	if property["type"] == nil {
		return "any"
	}
	return kinds
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// code returns an example in one line, truncated if it is long.
func code(v any) string {
	text := inJSON(v)
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:99]) + "…"
	}
	return "`" + cell(strings.ReplaceAll(text, "`", "'")) + "`"
}
