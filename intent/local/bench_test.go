package local_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// syllables make words that look like words and mean nothing.
var syllables = []string{"ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "har", "kel", "min", "tor"}

func word(n int) string {
	var b strings.Builder
	for range 3 {
		b.WriteString(syllables[n%len(syllables)])
		n = n/len(syllables)*7 + n%13 + 5
	}
	return b.String()
}

// generated is a catalog of n capabilities with some examples each.
func generated(n, examples int) *contracts.Catalog {
	var manifests []*contracts.Manifest
	verbs := []string{"create", "list", "update", "remove", "inspect", "export", "compare", "approve"}
	for i := range n {
		if i%100 == 0 {
			manifests = append(manifests, &contracts.Manifest{SchemaVersion: "1", Domain: fmt.Sprintf("domain%d", i/100)})
		}
		noun, kind, verb := word(i), word(i*31+7), verbs[i%len(verbs)]
		c := contracts.Capability{
			Name:        fmt.Sprintf("%s_%s_%d", verb, noun, i),
			Description: fmt.Sprintf("%s the %s of a %s.", verb, noun, kind),
			Schema:      []byte(`{"type":"object","properties":{"code":{"type":"string"},"count":{"type":"integer"},"from":{"type":"string","format":"date"}},"required":["code"]}`),
		}
		c.Metadata.SideEffectClass = contracts.ClassRead
		c.Metadata.IntentHints = &contracts.IntentHints{}
		for k := range examples {
			example := fmt.Sprintf("%s the %s of %s %s-%d since 2026-0%d-01", verb, noun, kind, noun[:2], k*17+1, k%9+1)
			if k%2 == 1 {
				example = fmt.Sprintf("please %s my %s %s with %d %s", verb, kind, noun, k, word(i*3+k))
			}
			c.Metadata.IntentHints.Examples = append(c.Metadata.IntentHints.Examples, example)
		}
		c.Metadata.ParameterSpecs = map[string]contracts.ParameterSpec{"code": {Examples: []any{noun[:2] + "-17"}}}
		last := manifests[len(manifests)-1]
		last.Capabilities = append(last.Capabilities, c)
	}
	return catalogOf(fmt.Sprintf("generated-%d-%d", n, examples), manifests...)
}

func benchmarkUnderstand(b *testing.B, n int, settled bool) {
	b.Helper()
	catalog := generated(n, 10)
	adapter, err := local.New(local.Config{})
	if err != nil {
		b.Fatal(err)
	}
	adapter.Prepare(catalog)
	if settled {
		settle(b, adapter, catalog)
	}
	noun, kind := word(n/2), word(n/2*31+7)
	messages := []string{
		fmt.Sprintf("please inspect the %s of %s %s-17 since 2026-05-01", noun, kind, noun[:2]),
		fmt.Sprintf("compare my %s %s and then export the %s", kind, noun, word(3)),
		"book me a flight to Lisbon",
	}
	b.ReportAllocs()
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		req := intent.Request{Message: messages[i%len(messages)], Catalog: catalog, Now: saturday}
		if _, err := adapter.Understand(b.Context(), req); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms/p99")
}

func BenchmarkUnderstand20(b *testing.B) { benchmarkUnderstand(b, 20, true) }

func BenchmarkUnderstand1k(b *testing.B) { benchmarkUnderstand(b, 1000, true) }

func BenchmarkUnderstand10k(b *testing.B) { benchmarkUnderstand(b, 10000, true) }

func BenchmarkUnderstandUntrained10k(b *testing.B) { benchmarkUnderstand(b, 10000, false) }

func benchmarkIndex(b *testing.B, n int) {
	b.Helper()
	catalog := generated(n, 10)
	for b.Loop() {
		before := heap()
		x := local.NewIndex(catalog)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		if x.Size() != n {
			b.Fatalf("the index has %d capabilities", x.Size())
		}
	}
}

// heap is what is in use after everything else was collected.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkIndex1k(b *testing.B) { benchmarkIndex(b, 1000) }

func BenchmarkIndex10k(b *testing.B) { benchmarkIndex(b, 10000) }

func benchmarkSettle(b *testing.B, n int) {
	b.Helper()
	catalog := generated(n, 10)
	catalog.Snapshot = "" // so that no index is kept
	adapter := newAdapter(b, local.Config{})
	for b.Loop() {
		before := heap()
		x := settle(b, adapter, catalog)
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		if x.Provisional() {
			b.Fatal("the index is not settled")
		}
	}
}

func BenchmarkSettle1k(b *testing.B) { benchmarkSettle(b, 1000) }

func BenchmarkSettle10k(b *testing.B) { benchmarkSettle(b, 10000) }

// benchmarkRecall settles a catalog that another adapter has settled before.
func benchmarkRecall(b *testing.B, n int) {
	b.Helper()
	kept := &memory{}
	catalog := generated(n, 10)
	settle(b, newAdapter(b, local.Config{ModelCache: kept}), catalog)
	for b.Loop() {
		b.StopTimer()
		adapter := newAdapter(b, local.Config{ModelCache: kept})
		adapter.Prepare(catalog) // the index itself is built in either case
		b.StartTimer()
		if x := settle(b, adapter, catalog); x.Provisional() {
			b.Fatal("the index is not settled")
		}
	}
	b.ReportMetric(float64(kept.size())/(1<<20), "MiB-kept")
}

func BenchmarkRecall1k(b *testing.B) { benchmarkRecall(b, 1000) }

func BenchmarkRecall10k(b *testing.B) { benchmarkRecall(b, 10000) }

// BenchmarkAddOne10k adds a domain of one capability to a registry of 10,000.
func BenchmarkAddOne10k(b *testing.B) {
	before := generated(10000, 10)
	adapter := newAdapter(b, local.Config{})
	adapter.Prepare(before)
	one := generated(1, 10).Domains[0]
	one.Name = "late"
	for i := 0; b.Loop(); i++ {
		after := contracts.NewCatalog(fmt.Sprintf("after-%d", i), append(slices.Clone(before.Domains), one), nil)
		if x := adapter.Prepare(after); x.Size() < 10000 {
			b.Fatalf("the index has %d capabilities", x.Size())
		}
		b.StopTimer()
		adapter.Prepare(before)
		b.StartTimer()
	}
}
