package local_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// A condition may need a read that no word of the message names: those of the domain that the
// message is about are offered to a model, however many others its words find.
func TestReadsOfTheDomainInQuestionAreOffered(t *testing.T) {
	t.Parallel()
	const tide = `{"name":"get_tide","description":"Says how high the water stands","schema":{"type":"object","properties":{}},"metadata":{"side_effect_class":"read","intent_hints":{"examples":["how high is the water"]}}},`
	var yard []string
	for i := range 40 {
		yard = append(yard, fmt.Sprintf(`{"name":"put_%d","description":"Puts a box on shelf %d","schema":{"type":"object","properties":{}},"metadata":{"side_effect_class":"write_irreversible","idempotency":"natural","intent_hints":{"examples":["put a box on shelf %d","put it on"]}}}`, i, i, i))
	}
	var domains []*contracts.DomainEntry
	for _, text := range []string{
		`{"schema_version":"1","domain":"yard","version":"1.0.0","title":"Yard","description":"Stores boxes","capabilities":[` + strings.Join(yard, ",") + `]}`,
		strings.Replace(ferry, `"capabilities":[`, `"capabilities":[`+tide, 1),
	} {
		m, err := contracts.ParseManifest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		domains = append(domains, catalogOf(m.Domain, m).Domains...)
	}
	catalog := contracts.NewCatalog("both", domains, nil)
	reader, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, reader, catalog)
	offered, err := reader.Offer(t.Context(), intent.Request{Message: "put car C-21 on boat B-6 if it can float", Catalog: catalog, AnyRole: true, Now: saturday}, 24)
	if err != nil || len(offered) != 24 {
		t.Fatalf("%v, %d are offered", err, len(offered))
	}
	for _, ref := range []string{"ferry.book_car", "ferry.list_cars", "ferry.get_tide"} {
		if !slices.ContainsFunc(offered, func(e *contracts.CapabilityEntry) bool { return e.Ref() == ref }) {
			t.Errorf("%s is not offered", ref)
		}
	}
}
