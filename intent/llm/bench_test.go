package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/llm"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/reasoning"
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

// many is a catalog of n capabilities, a third of them writes.
func many(n int) *contracts.Catalog {
	var domains []*contracts.DomainEntry
	verbs := []string{"create", "list", "export", "cancel", "inspect", "compare"}
	for i := range n {
		if i%100 == 0 {
			m := &contracts.Manifest{SchemaVersion: "1", Domain: fmt.Sprintf("domain%d", i/100)}
			domains = append(domains, &contracts.DomainEntry{Name: m.Domain, Manifest: m})
		}
		noun, kind, verb := word(i), word(i*31+7), verbs[i%len(verbs)]
		c := &contracts.Capability{
			Name: fmt.Sprintf("%s_%s_%d", verb, noun, i), Description: fmt.Sprintf("%s the %s of a %s, with what it needs, and tells what became of it.", verb, noun, kind),
			Schema:       []byte(`{"type":"object","properties":{"code":{"type":"string","description":"Which one it is, as people call it"},"count":{"type":"integer","description":"How many of them"},"from":{"type":"string","format":"date","description":"The first day"}},"required":["code"]}`),
			OutputSchema: []byte(`{"type":"object","properties":{"found":{"type":"boolean"},"rows":{"type":"array","items":{"type":"object","properties":{"code":{"type":"string"},"count":{"type":"integer"}}}}}}`),
		}
		c.Metadata.SideEffectClass = contracts.ClassRead
		if i%3 == 0 {
			c.Metadata.SideEffectClass = contracts.ClassWriteIrreversible
		}
		c.Metadata.IntentHints = &contracts.IntentHints{Examples: []string{
			fmt.Sprintf("%s the %s of %s %s-17 since 2026-05-01", verb, noun, kind, noun[:2]), fmt.Sprintf("please %s my %s %s", verb, kind, noun),
		}}
		d := domains[len(domains)-1]
		d.Manifest.Capabilities = append(d.Manifest.Capabilities, *c)
		d.Capabilities = append(d.Capabilities, &contracts.CapabilityEntry{Domain: d.Name, Capability: c, Policy: c.Metadata.Policy(false)})
	}
	return contracts.NewCatalog(fmt.Sprintf("many-%d", n), domains, nil)
}

// instant is a model that calls a function at once.
type instant struct {
	suffix string
	bytes  int
}

func (*instant) Name() string { return "instant" }

func (e *instant) Complete(_ context.Context, r reasoning.Request) (reasoning.Reply, error) {
	e.bytes = len(r.Instructions().String())
	for _, t := range r.Turns {
		e.bytes += len(t.Text.String())
	}
	out := reasoning.Reply{Text: "no"}
	for _, t := range r.Tools {
		raw, err := json.Marshal(t)
		if err != nil {
			return out, err
		}
		e.bytes += len(raw)
		if strings.HasSuffix(t.Name, e.suffix) {
			out.Calls = []reasoning.ToolCall{{Name: t.Name, Arguments: json.RawMessage(`{"code":"ba-17","from":"2026-05-01"}`)}}
		}
	}
	return out, nil
}

// BenchmarkAdded is what reading a message takes beside the model's own time, for a write, and
// the size of the prompt.
func BenchmarkAdded(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			catalog := many(n)
			reader, err := local.New(local.Config{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := reader.Settle(b.Context(), catalog); err != nil {
				b.Fatal(err)
			}
			at := n / 2 / 3 * 3
			engine := &instant{suffix: fmt.Sprintf("_%d", at)}
			m, err := reasoning.New(reasoning.Config{Large: engine})
			if err != nil {
				b.Fatal(err)
			}
			with := llm.New(reader, m, nil)
			req := intent.Request{Message: fmt.Sprintf("please take care of the %s of %s ba-17 since 2026-05-01", word(at), word(at*31+7)), Catalog: catalog, AnyRole: true, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				began := time.Now()
				u, err := with.Understand(b.Context(), req)
				if err != nil || len(u.Intents) != 1 {
					b.Fatal(err, u)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(engine.bytes), "prompt-bytes")
		})
	}
}
