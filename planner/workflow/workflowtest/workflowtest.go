// Package workflowtest has fixtures for tests of workflows: an example with three complete
// workflows, and the manifests of the simulated domains that it calls.
package workflowtest

import (
	"embed"
	"encoding/json"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/planner/workflow"
)

//go:embed testdata/*.yaml
var files embed.FS

// scripted is one capability of testdata/scripted.yaml.
type scripted struct {
	Name     string   `yaml:"name"`
	Class    string   `yaml:"class"`
	Required []string `yaml:"required"`
	Params   []string `yaml:"params"`
	Facts    []string `yaml:"facts"`
	Plays    []string `yaml:"plays"`
}

func readYAML(tb testing.TB, file string, v any) {
	tb.Helper()
	raw, err := files.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, v); err != nil {
		tb.Fatal(err)
	}
}

// Manifests returns the manifests of the simulated domains, as documents that tests change. They
// contain the workflows of the example; "prices" has those of a pack.
func Manifests(tb testing.TB) map[string]map[string]any {
	tb.Helper()
	var domains map[string][]scripted
	readYAML(tb, "scripted.yaml", &domains)
	var example map[string]any
	readYAML(tb, "example.yaml", &example)
	out := map[string]map[string]any{}
	for domain, capabilities := range domains {
		var list []any
		for _, c := range capabilities {
			list = append(list, capabilityDocument(c))
		}
		out[domain] = map[string]any{"schema_version": "1", "domain": domain, "version": "1", "capabilities": list}
	}
	more, _ := example["x-more-workflows"].([]any)
	if len(more) != 2 {
		tb.Fatal("the example has no further workflows")
	}
	skills := map[string]any{}
	for _, name := range []string{"classify", "plan", "scope", "patch", "evaluate", "compare"} {
		skills[name] = "Do it well."
	}
	main, _ := example["domain"].(string)
	out[main]["workflows"], out[main]["skills"] = example["workflows"], skills
	out["logistics"]["workflows"], out["logistics"]["skills"] = []any{more[0]}, skills
	out["prices"] = map[string]any{"schema_version": "1", "domain": "prices", "version": "1", "workflows": []any{more[1]}}
	return out
}

func capabilityDocument(c scripted) map[string]any {
	object := func(names ...string) map[string]any {
		properties := map[string]any{}
		for _, name := range names {
			properties[name] = map[string]any{}
		}
		return map[string]any{"type": "object", "properties": properties}
	}
	schema := object(append(append([]string{}, c.Required...), c.Params...)...)
	schema["required"] = c.Required
	metadata := map[string]any{"side_effect_class": c.Class}
	if contracts.SideEffectClass(c.Class).Writes() {
		metadata["idempotency"] = contracts.IdempotencyKeyed
	}
	if len(c.Plays) > 0 {
		metadata["plays"] = c.Plays
	}
	return map[string]any{
		"name": c.Name, "description": c.Name, "schema": schema, "output_schema": object(c.Facts...), "metadata": metadata,
	}
}

// CatalogOf parses the documents and returns their catalog, including workflows.
func CatalogOf(tb testing.TB, documents map[string]map[string]any) *contracts.Catalog {
	tb.Helper()
	var domains []*contracts.DomainEntry
	for name, document := range documents {
		raw, err := json.Marshal(document)
		if err != nil {
			tb.Fatal(err)
		}
		m, err := contracts.ParseManifest(raw)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		d := &contracts.DomainEntry{Name: name, Manifest: m}
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			policy := c.Metadata.Policy(false)
			digest, err := contracts.CapabilityDigest(c, policy)
			if err != nil {
				tb.Fatal(err)
			}
			d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: name, Capability: c, Policy: policy, Digest: digest})
		}
		domains = append(domains, d)
	}
	calls := contracts.NewCatalog("s", append([]*contracts.DomainEntry{}, domains...), nil)
	for _, d := range domains {
		for i := range d.Manifest.Workflows {
			entry, missing, err := workflow.Entry(d.Manifest, &d.Manifest.Workflows[i], calls)
			if err != nil {
				tb.Fatal(err)
			}
			if len(missing) == 0 {
				d.Capabilities = append(d.Capabilities, entry)
			}
		}
	}
	return contracts.NewCatalog("s", domains, nil)
}

// Check checks the workflows of a domain of the catalog.
func Check(tb testing.TB, catalog *contracts.Catalog, domain string) workflow.Report {
	tb.Helper()
	d, ok := catalog.Domain(domain)
	if !ok {
		tb.Fatalf("there is no domain %s", domain)
	}
	return workflow.Check(d.Manifest, catalog)
}
