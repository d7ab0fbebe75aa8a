package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func TestADomainThatIsDownIsSaidBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.health = contracts.HealthDown
	r := o.ask("show the leave balance of Bruno Keller")
	if got := text(r.Answer); !strings.Contains(got, "People cannot be reached just now") || len(r.RunIDs) > 0 || o.calls > 0 {
		t.Errorf("%d runs, %d calls, answer %q", len(r.RunIDs), o.calls, got)
	}
}

func TestACallThatReachesNobodyIsToldInTheDomainsName(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.gone = true
	r := o.ask("show the leave balance of Bruno Keller")
	if got := text(r.Answer); !strings.Contains(got, "People cannot be reached just now") {
		t.Errorf("answer %q", got)
	}
}

func TestADomainThatIsNotInServiceYetIsNamedWhereNothingIsUnderstood(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.absent = []string{"shop"}
	if got := text(o.ask("buy 3 lamps").Answer); !strings.Contains(got, "not in service now: shop.") || strings.Contains(got, "people") {
		t.Errorf("answer %q", got)
	}
}
