package registry_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// TestARoleIsCalledAsFarAsTheSiteGrantsIt: the workflows of a domain may call its own capabilities
// and, of other domains, only those with a role that the registration names; notifier is granted to
// all. Other roles make another catalog.
func TestARoleIsCalledAsFarAsTheSiteGrantsIt(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	start(t, b.Registry, contracts.Bootstrap{})
	plays := func(name, role string) string {
		return capability(name, `{"side_effect_class":"read","plays":["`+role+`"]}`)
	}
	workflow := func(name, role string) string {
		return `{"name":"` + name + `","schema":{"type":"object"},"metadata":{},"steps":[{"id":"a","kind":"plays","plays":"` + role + `","players":"all","params":{"message":"x"}}]}`
	}
	notifier := strings.Replace(plays("tell", "notifier"), `"id":`, `"message":`, 1)
	b.register(t, "post", manifestOf("post", strings.ReplaceAll(plays("carry", "courier"), `"id":`, `"message":`), notifier))
	shop := with(t, manifestOf("shop", strings.ReplaceAll(plays("own", "clerk"), `"id":`, `"message":`)), `}]}`,
		`}],"workflows":[`+workflow("send", "courier")+`,`+workflow("say", "notifier")+`,`+workflow("ask", "clerk")+`]}`)
	report := b.register(t, "shop", shop)
	offered := func() string {
		var out []string
		d, _ := b.Catalog().Domain("shop")
		for _, c := range d.Capabilities {
			if c.Workflow != nil {
				out = append(out, c.Capability.Name)
			}
		}
		return strings.Join(out, " ")
	}
	if got := offered(); got != "say ask" {
		t.Errorf("offered are %q; %v", got, report.Findings)
	}
	const refused = "/workflows/0: send is inactive until there is the role courier, which the registration of shop does not grant"
	if got := lines(report.Findings, contracts.SeverityWarning); !strings.Contains(strings.Join(got, "\n"), refused) {
		t.Errorf("it says %v", got)
	}
	before := b.Catalog().Snapshot
	granting := registration("shop")
	granting.Roles = []string{"courier"}
	if _, err := b.Register(t.Context(), granting); err != nil {
		t.Fatal(err)
	}
	if got := offered(); got != "send say ask" || b.Catalog().Snapshot == before {
		t.Errorf("offered are %q", got)
	}
	granting.Roles = []string{"notifier"}
	if _, err := b.Register(t.Context(), granting); contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("a grant that says nothing is taken: %v", err)
	}
}
