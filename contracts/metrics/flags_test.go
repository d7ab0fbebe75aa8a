package metrics_test

import (
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/contracts/metrics"
)

func TestSettingsThatAreNotUnderstoodAreRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"verifier", "verifier=", "verifier=maybe", "parallel_reads=shadow", "dag_planning=101%", "dag_planning=-1%", "dag_planning=x%",
		"shop/other=on", "other=on", "=on", "/verifier", "branch_approvals=50",
	} {
		if got, err := metrics.ParseRollout([]string{s}); err == nil {
			t.Errorf("%q is %v", s, got)
		}
	}
	if _, err := metrics.ParseRollout([]string{"verifier=on", "verifier=off"}); err == nil {
		t.Error("a flag was set twice")
	}
}

func TestTheStrictestOfTheDomainsCounts(t *testing.T) {
	t.Parallel()
	r, err := metrics.ParseRollout([]string{"verifier=shadow", "hr/verifier=off", "shop/verifier=on", "hr/dag_planning=off", "branch_approvals=on"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		domains []string
		want    string
	}{
		{nil, "verifier=shadow"},
		{[]string{"shop"}, "verifier=shadow"}, // a general setting cannot be weakened for a domain
		{[]string{"shop", "hr"}, "dag_planning=off verifier=off"},
	} {
		if got := r.For("s", c.domains).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c.domains, got, c.want)
		}
	}
}

// A session always gets the same result, and different flags split the sessions differently.
func TestAShareOfTheSessions(t *testing.T) {
	t.Parallel()
	r, err := metrics.ParseRollout([]string{"dag_planning=25%", "branch_approvals=25%"})
	if err != nil {
		t.Fatal(err)
	}
	on, both := 0, 0
	for i := range 4000 {
		s := fmt.Sprintf("ses_%d", i)
		f := r.For(s, nil)
		if f != r.For(s, nil) {
			t.Fatal("a session changed sides")
		}
		if f.DAGPlanning == metrics.FlagOn {
			on++
			if f.BranchApprovals == metrics.FlagOn {
				both++
			}
		}
	}
	if on < 850 || on > 1150 || both > on/2 {
		t.Errorf("%d of 4000 have the one, and %d of those the other", on, both)
	}
}
