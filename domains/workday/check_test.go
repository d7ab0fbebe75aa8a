package workday_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestTheCheckNamesWhatIsMissing: a missing security domain is named. Nothing is written;
// permissions that only a write would show are reported as such.
func TestTheCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	states := func() map[string]string {
		all, err := workday.Check(t.Context(), b.config)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, p := range all {
			out[p.Domain] = p.State
		}
		return out
	}
	for domain, state := range states() {
		if want := map[bool]string{true: workday.PermissionUntold, false: workday.PermissionGranted}[strings.Contains(domain, "initiate")]; state != want {
			t.Errorf("%s: %s", domain, state)
		}
	}
	for _, missing := range []string{"/balances", "/jobPostings", "/jobChangeReasons"} {
		b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.Forbidden, PathSuffix: missing, Count: -1})
	}
	got := states()
	for _, domain := range []string{"Job Postings", "Staffing Actions: Job Change Reasons"} {
		if got[domain] != workday.PermissionMissing {
			t.Errorf("%s: %s", domain, got[domain])
		}
	}
	if got["Worker Data: Time Off (Time Off Balances)"] != workday.PermissionMissing || got["Worker Data: Time Off"] != workday.PermissionGranted {
		t.Errorf("%v", got)
	}
	if len(b.effects()) != 0 {
		t.Errorf("it wrote: %v", b.effects())
	}
}
