package eval_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/sample"
)

// A model that proposes a write for everything is asked about what the words forbid, take
// back, suppose, ask about, report or except: in six languages, over all odd sentences.
func TestATrapIsHeldBack(t *testing.T) {
	t.Parallel()
	catalog := shipped(t)
	reader := settled(t, catalog)
	sets := map[string][]string{"conversations": oddConversations(t)}
	all := oddSentences(t)
	for _, i := range sample.Of(t, len(all), 3) {
		sets["frames"] = append(sets["frames"], all[i])
	}
	for name, sentences := range sets {
		passed := 0
		for _, said := range sentences {
			if ref, why := trapped(t, reader, catalog, said); ref != "" && why == "" {
				passed++
				t.Logf("%s: %q reaches the gate of %s", name, said, ref)
			}
		}
		if most := len(sentences) / 40; passed > most { // 13 of 769 do, most of them reports
			t.Errorf("%s: %d of %d reach a gate, at most %d may", name, passed, len(sentences), most)
		}
	}
}

// What the examples of manifests ask for is not held back.
func TestWhatIsPlainlyAskedForIsNotHeldBack(t *testing.T) {
	t.Parallel()
	catalog := shipped(t)
	reader := settled(t, catalog)
	all, held := 0, 0
	for _, d := range catalog.Domains {
		for _, e := range d.Capabilities {
			hints := e.Capability.Metadata.IntentHints
			if hints == nil || !e.Policy.SideEffectClass.Writes() {
				continue
			}
			for _, said := range hints.Examples {
				values, _ := reader.Fill(e, said, nil, trapDay())
				all++
				if why := reader.Restrains(intent.Request{Message: said, Catalog: catalog, AnyRole: true, Now: trapDay()}, e, reader.Locate(e, said, trapDay(), values), false); why != "" {
					held++
					t.Logf("%s: %q is held back: %s", e.Ref(), said, why)
				}
			}
		}
	}
	if all < 200 || held*50 > all {
		t.Errorf("%d of %d are held back", held, all)
	}
}

func trapDay() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

// oddConversations are the sentences of the set for manifold eval conversations.
func oddConversations(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/conversations/odd.json")
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Items []struct {
			Turns []string `json:"turns"`
		} `json:"items"`
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	out := make([]string, 0, len(set.Items))
	for _, i := range set.Items {
		out = append(out, i.Turns[len(i.Turns)-1])
	}
	return out
}

// trapped makes the first write that is offered of a message, and gives why it is held back.
func trapped(t *testing.T, reader *local.Reader, catalog *contracts.Catalog, said string) (ref, why string) {
	t.Helper()
	req := intent.Request{Message: said, Catalog: catalog, AnyRole: true, Now: trapDay()}
	offered, err := reader.Offer(t.Context(), req, 24)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range offered {
		if !e.Policy.SideEffectClass.Writes() {
			continue
		}
		why := reader.Restrains(req, e, reader.Locate(e, said, trapDay(), made(t, e, said)), false)
		return e.Ref(), why
	}
	return "", ""
}

var (
	trapNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)
	trapCode   = regexp.MustCompile(`\b\p{Ll}{2}-\d+\b`)
	trapName   = regexp.MustCompile(`\p{Lu}[\p{L}]+ \p{Lu}[\p{L}]+`)
	trapQuote  = regexp.MustCompile(`["“„«']([^"”“»']+)["”“»']`)
)

// made fills what a schema requires with what stands in a message, at last all of it.
func made(t *testing.T, e *contracts.CapabilityEntry, said string) map[string]any {
	t.Helper()
	names := trapCode.FindAllString(said, -1)
	names = append(names, trapName.FindAllString(said, -1)...)
	for _, m := range trapQuote.FindAllStringSubmatch(said, -1) {
		names = append(names, m[1])
	}
	numbers := trapNumber.FindAllString(said, -1)
	out := map[string]any{}
	for _, name := range e.View().Required {
		p, _ := e.View().Property(name)
		switch {
		case p == nil || p.Type == "boolean":
		case len(p.Enum) > 0:
			for _, v := range p.Enum {
				if word, ok := v.(string); ok && strings.Contains(said, word) {
					out[name] = v
				}
			}
		case p.Type == "number" || p.Type == "integer":
			if len(numbers) > 0 {
				out[name], _ = strconv.ParseFloat(numbers[0], 64)
			}
		case p.Type == "string" && p.Format == "date":
			out[name] = "2026-11-22"
		case len(names) > 0:
			out[name] = names[0]
			names = names[min(1, len(names)-1):]
		default:
			out[name] = said
		}
	}
	return out
}
