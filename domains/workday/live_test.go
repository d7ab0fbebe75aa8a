package workday_test

import (
	"os"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestReadsKeepTheirContract calls every read for one worker; facts that violate the manifest fail.
// It runs against the sandbox and, with WORKDAY_LIVE=1, against the tenant configured by
// workday-domain's environment variables. It writes nothing.
func TestReadsKeepTheirContract(t *testing.T) {
	t.Parallel()
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		b := setup(t, sandbox.Config{})
		b.reads("Ana Souza")
	})
	t.Run("tenant", func(t *testing.T) {
		t.Parallel()
		if os.Getenv("WORKDAY_LIVE") != "1" {
			t.Skip("WORKDAY_LIVE is not 1")
		}
		b := &bench{T: t}
		svc, err := workday.New(workday.Config{
			Tenant: workday.Tenant{
				URL: os.Getenv("WORKDAY_URL"), Name: os.Getenv("WORKDAY_TENANT"), ClientID: os.Getenv("WORKDAY_CLIENT_ID"),
				ClientSecret: os.Getenv("WORKDAY_CLIENT_SECRET"), Tokens: workday.FileTokens(os.Getenv("WORKDAY_TOKEN_STORE"), os.Getenv("WORKDAY_REFRESH_TOKEN")),
			},
			Access: workday.Access{All: []string{"*"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.url = domaintest.Serve(t, svc)
		b.reads(os.Getenv("WORKDAY_LIVE_WORKER"))
	})
}

// reads calls the reads for a person found by name.
func (b *bench) reads(name string) {
	b.Helper()
	found := column(b.facts("search_workers", object{"query": name}, "")["matches"], "value")
	if len(found) == 0 {
		b.Fatalf("nobody is called %q", name)
	}
	about := object{"worker": found[0]}
	for _, capability := range []string{"get_worker", "list_direct_reports", "get_time_off_balances", "list_absence_types", "list_time_off", "list_requests", "get_org_chart", "list_managers"} {
		if out := b.execute(capability, about, ""); !out.OK {
			b.Errorf("%s: %v", capability, out.Error)
		}
	}
	for _, capability := range []string{"list_business_processes", "list_organizations", "list_job_postings"} {
		b.facts(capability, object{}, "")
	}
	soon := time.Now().AddDate(0, 1, 0)
	for soon.Weekday() != time.Tuesday {
		soon = soon.AddDate(0, 0, 1)
	}
	if out := b.execute("plan_time_off", object{"worker": found[0], "days": 1, "start": soon.Format(time.DateOnly)}, ""); !out.OK && out.Error.Type != contracts.ErrPrecondition && out.Error.Type != contracts.ErrConflict {
		b.Errorf("plan_time_off: %v", out.Error)
	}
}
