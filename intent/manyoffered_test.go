package intent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// things are what the domains of a large site keep.
func things() []string {
	return []string{"boat", "bridge", "camera", "carpet", "clock", "drum", "engine", "garden", "kiln", "ladder", "mirror", "piano"}
}

// site is a catalog of twelve domains with eight capabilities each, a read with
// examples for each of them.
func site(t *testing.T) *contracts.Catalog {
	t.Helper()
	var domains []*contracts.DomainEntry
	for _, thing := range things() {
		m := &contracts.Manifest{SchemaVersion: "1", Domain: thing + "s", Version: "1"}
		for verb, does := range map[string]string{
			"find": "Finds a %s by its name", "count": "Counts every %s of a town", "price": "Says what a %s costs", "weigh": "Says how heavy a %s is",
			"rank": "Orders each %s by age", "locate": "Says where a %s stands", "history": "Tells who owned a %s before", "compare": "Sets one %s beside another",
		} {
			m.Capabilities = append(m.Capabilities, contracts.Capability{
				Name: verb + "_" + thing, Description: fmt.Sprintf(does, thing),
				Schema:   json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"town":{"type":"string"},"currency":{"type":"string"}}}`),
				Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead, RiskLevel: contracts.RiskRead, IntentHints: &contracts.IntentHints{Examples: []string{verb + " the " + thing + " Alba", verb + " a " + thing + " in Porto"}}},
			})
		}
		slices.SortFunc(m.Capabilities, func(a, b contracts.Capability) int { return len(a.Name) - len(b.Name) })
		entry := &contracts.DomainEntry{Name: m.Domain, Digest: "d-" + thing, Manifest: m}
		for i := range m.Capabilities {
			c := &m.Capabilities[i]
			entry.Capabilities = append(entry.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: c.Metadata.Policy(true)})
		}
		domains = append(domains, entry)
	}
	return contracts.NewCatalog("site", domains, nil)
}

// asking reads a message on the large site with an engine that proposes one call.
func asking(t *testing.T, message, capability string, parameters map[string]any) (intent.Understanding, []*contracts.CapabilityEntry) {
	t.Helper()
	var offered []*contracts.CapabilityEntry
	e := &engine{says: func(ask intent.Ask) []intent.Proposal {
		offered = ask.Offered
		for _, entry := range ask.Offered {
			if entry.Capability.Name == capability {
				return []intent.Proposal{{Entry: entry, Parameters: parameters}}
			}
		}
		return nil
	}}
	a, err := intent.NewAdapter(intent.Config{Engine: e, EngineMode: intent.EngineAlways})
	if err != nil {
		t.Fatal(err)
	}
	u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: site(t), Now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return u, offered
}

// Of ninety-six capabilities of twelve domains an engine is offered twenty, those of
// the domain that is spoken of among them.
func TestOfALargeSiteAnEngineIsOfferedAShortlist(t *testing.T) {
	t.Parallel()
	for _, thing := range things() {
		message := "I wonder what somebody would have to pay for the " + thing + " called Alba over in Porto"
		u, offered := asking(t, message, "price_"+thing, map[string]any{"name": "Alba", "town": "Porto"})
		if len(offered) == 0 || len(offered) > intent.MostOffered {
			t.Errorf("%q: %d of 96 are offered", message, len(offered))
		}
		own := 0
		for _, entry := range offered {
			if entry.Domain == thing+"s" {
				own++
			}
		}
		if own != 8 {
			t.Errorf("%q: %d of the eight about it are offered", message, own)
		}
		if u.Outcome != contracts.GateAccept || len(u.Intents) != 1 || u.Intents[0].Capability != "price_"+thing {
			t.Errorf("%q: %s %+v", message, u.Outcome, u.Intents)
		}
	}
}

// A code counts as said where the words that it is made of are; for anything else a
// value stands in the message or it is the engine's.
func TestACodeStandsInTheWordsItIsMadeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message, currency string
		said              bool
	}{
		{"what does the clock Alba cost in Canadian dollars", "CAD", true},
		{"what does the clock Alba cost in US dollars", "USD", true},
		{"what does the clock Alba cost in New Zealand dollars", "NZD", true},
		{"what does the clock Alba cost in Canadian dollars", "AUD", false},
		{"what does the clock Alba cost", "CAD", false},
		{"what does the clock Alba cost in Canadian dollars", "cad", false},
	} {
		u, _ := asking(t, c.message, "price_clock", map[string]any{"name": "Alba", "currency": c.currency})
		if len(u.Intents) == 0 {
			t.Fatalf("%q: nothing", c.message)
		}
		ev, said := u.Intents[0].Evidence["currency"]
		if said != c.said {
			t.Errorf("%q, %s: %v", c.message, c.currency, ev)
		}
	}
}
