package eval_test

import (
	"os"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/embed/use"
)

// stripped is the catalog of the domains that come with this repository, as if
// each capability had five English examples and no other language.
func stripped(t *testing.T) *contracts.Catalog {
	t.Helper()
	var set eval.Set
	for _, d := range shipped(t).Domains {
		set.Manifests = append(set.Manifests, eval.Strip(d.Manifest, 5))
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// encoder is the sentence encoder of this machine; without it the test is
// skipped, or fails where it must be there.
func encoder(t *testing.T) local.Scorer {
	t.Helper()
	dir, err := use.DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	e, err := use.Open(dir)
	switch {
	case err != nil && os.Getenv("REQUIRE_EMBEDDINGS") != "":
		t.Fatal(err)
	case err != nil:
		t.Skipf("%v; \"go run ./cmd/manifold embeddings install\" fetches it", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// hearing reads sentences with the sentence encoder.
func hearing(t *testing.T, catalog *contracts.Catalog) *local.Reader {
	t.Helper()
	adapter, err := local.New(local.Config{Scorer: encoder(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := adapter.Settle(t.Context(), catalog); err != nil {
		t.Fatal(err)
	}
	return adapter
}

func TestFiveExamplesAreEnoughForPlainEnglish(t *testing.T) {
	t.Parallel()
	catalog := stripped(t)
	adapter := hearing(t, catalog)
	for sentence, want := range map[string]string{
		"what is the price of Apple":                     "finance.get_stock_price",
		"who is the manager of Carla Mendes":             "workday.get_worker",
		"book 2 days off for Bruno Lima from 2026-12-14": "workday.request_time_off",
		"delete the price alert al-2":                    "finance.delete_price_alert",
		"what was written in the sales channel":          "communication.list_messages",
	} {
		u, err := adapter.Understand(t.Context(), intent.Request{Message: sentence, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		if u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 1 || u.Intents[0].Ref() != want {
			t.Errorf("%q: %s %+v, not %s", sentence, u.Outcome, u.Intents, want)
		}
	}
}
