package intent_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// quotes is a domain that only has Portuguese words.
const quotes = `{"schema_version":"1","domain":"bolsa","version":"1","capabilities":[
 {"name":"get_stock_price","description":"Preço de uma ação.",
  "schema":{"type":"object","properties":{"symbol":{"type":"string"},"symbols":{"type":"array","items":{"type":"string"}}},"oneOf":[{"required":["symbol"]},{"required":["symbols"]}]},
  "metadata":{"side_effect_class":"read","intent_hints":{"keywords":["preço","valor","cotação"],"examples":["qual o preço da PETR4?"]},
   "parameter_specs":{"symbol":{"examples":["PETR4.SA","VALE3.SA"],"aliases":{"PETRO":"PETR4.SA"}},"symbols":{"examples":[["PETR4.SA","VALE3.SA"]]}},
   "decomposition":{"array_params":[{"param_name":"symbols","single_param_name":"symbol","max_concurrency":4}]}}},
 {"name":"list_orders","description":"Ordens abertas na corretora.","schema":{"type":"object"},
  "metadata":{"side_effect_class":"read","intent_hints":{"keywords":["ordens"],"examples":["quais ordens estão abertas?"]}}}]}`

func TestPortugueseManifests(t *testing.T) {
	t.Parallel()
	m := decoded(t, quotes)
	b := setup(t)
	b.catalog = catalogOf("bolsa", m)
	for say, want := range map[string]string{
		"qual o preço da PETR4?":              `bolsa.get_stock_price {"symbol":"PETR4"}`,
		"QUAL É A COTAÇÃO DA PETRO":           `bolsa.get_stock_price {"symbol":"PETR4.SA"}`,
		"me diga o valor da VALE3, por favor": `bolsa.get_stock_price {"symbol":"VALE3"}`,
		"preco de PETR4.SA e VALE3.SA":        `bolsa.get_stock_price {"symbols":["PETR4.SA","VALE3.SA"]}`,
		"tem ordens abertas?":                 `bolsa.list_orders {}`,
	} {
		u := b.say(t, say)
		if diff := cmp.Diff([]string{want}, lines(u.Intents)); diff != "" || u.Outcome != contracts.GateAccept {
			t.Errorf("%q: %s (-want +got):\n%s", say, u.Outcome, diff)
		}
	}
}

// Scripts without spaces are read by pairs of characters: the same characters
// in another order are another word.
func TestPairsOfCharactersTellWordsWithoutSpaces(t *testing.T) {
	t.Parallel()
	read := func(name string, examples ...string) contracts.Capability {
		c := contracts.Capability{Name: name, Schema: []byte(`{"type":"object"}`)}
		c.Metadata.SideEffectClass = contracts.ClassRead
		c.Metadata.IntentHints = &contracts.IntentHints{Examples: examples}
		return c
	}
	catalog := catalogOf("signs", &contracts.Manifest{SchemaVersion: "1", Domain: "freight", Capabilities: []contracts.Capability{
		read("at_sea", "海上运输的价格", "海上货物"),
		read("of_the_city", "上海运输的价格", "上海货物"),
		read("morning", "朝の電車を探す", "朝の便"),
	}})
	for say, want := range map[string]string{
		"海上的运输多少钱": "freight.at_sea", "上海的运输多少钱": "freight.of_the_city", "请查海上运输": "freight.at_sea", "请查上海运输": "freight.of_the_city", "朝の電車はありますか": "freight.morning",
	} {
		ranked, err := newAdapter(t, intent.Config{}).Shortlist(t.Context(), intent.Request{Message: say, Catalog: catalog}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(ranked) == 0 || ranked[0].Entry.Ref() != want {
			t.Errorf("%q leads to %v, want %s", say, ranked, want)
		}
	}
}

// Where one domain changes, the others keep what they learned, word for word;
// settled, the index is what it would have been without a past.
func TestOneChangedDomainLeavesTheOthers(t *testing.T) {
	t.Parallel()
	before := generated(300, 3)
	domains := slices.Clone(before.Domains)
	at := slices.IndexFunc(domains, func(d *contracts.DomainEntry) bool { return d.Name == "domain1" })
	changed := *domains[at]
	changed.Capabilities = slices.Clone(changed.Capabilities)
	c := *changed.Capabilities[4].Capability
	c.Metadata.IntentHints = &contracts.IntentHints{Examples: []string{"quieten the harbour bells"}}
	entry := &contracts.CapabilityEntry{Domain: changed.Name, Capability: &c, Policy: changed.Capabilities[4].Policy}
	changed.Capabilities[4], domains[at] = entry, &changed
	after := contracts.NewCatalog("changed", domains, nil)

	grown := newAdapter(t, intent.Config{})
	settle(t, grown, before)
	ranked := func(a *intent.Adapter, say string, catalog *contracts.Catalog) []intent.Ranked {
		list, err := a.Shortlist(t.Context(), intent.Request{Message: say, Catalog: catalog, Domain: "domain2"}, 3)
		if err != nil || len(list) == 0 {
			t.Fatalf("%q leads to %v, %v", say, list, err)
		}
		return list
	}
	fresh, lost := newAdapter(t, intent.Config{}), 0
	d, _ := before.Domain("domain2")
	for _, e := range d.Capabilities[:20] {
		say := e.Capability.Metadata.IntentHints.Examples[0] + " now"
		was, is, anew := ranked(grown, say, before)[0], ranked(grown, say, after)[0], ranked(fresh, say, after)[0]
		if was.Entry.Ref() != is.Entry.Ref() || was.Score-is.Score > 0.02 || is.Score-was.Score > 0.02 {
			t.Errorf("%q: %s at %.4f, after another domain changed %s at %.4f", say, was.Entry.Ref(), was.Score, is.Entry.Ref(), is.Score)
		}
		if anew.Score-is.Score > 0.02 || is.Score-anew.Score > 0.02 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("an index without a past scores alike: nothing tells whether what was learned was kept")
	}
	found, err := grown.Shortlist(t.Context(), intent.Request{Message: "quieten the bells", Catalog: after}, 1)
	if err != nil || len(found) == 0 || found[0].Entry != entry {
		t.Errorf("the new example leads to %v, %v", found, err)
	}
	if one, two := settle(t, grown, after), settle(t, fresh, after); one.ID() != two.ID() || one.Fingerprint() != two.Fingerprint() {
		t.Error("settled, the index still depends on what was before")
	}
}
