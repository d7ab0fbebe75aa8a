package workday_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

func TestTheServiceKeepsTheContract(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.Authorization = []string{"secret"}
	b.restart()
	report := conformance.Run(t.Context(), conformance.Options{URL: b.url, Authorization: "Bearer secret", AllowWrites: true})
	for _, f := range report.Findings() {
		t.Errorf("%s %s: %s %s", f.Severity, f.Rule, f.Message, f.Pointer)
	}
	written := map[string]bool{}
	for _, e := range b.tenant.Effects() {
		written[e.Kind] = true
		if e.Count > 1 {
			t.Errorf("%s happened %d times", e.Kind, e.Count)
		}
	}
	for _, kind := range []string{sandbox.EffectTimeOffRequested, sandbox.EffectTitleChanged} {
		if !written[kind] {
			t.Errorf("the suite did not cause %s", kind)
		}
	}
}

// catalog is a catalog with this domain only.
func (b *bench) catalog() *contracts.Catalog { return domaintest.Catalog(b, b.manifest()) }

func TestTheManifestsOwnSentencesFindTheirWay(t *testing.T) {
	t.Parallel()
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, sandbox.Config{})
	for _, reports := range []map[string]workday.Report{nil, {"Headcount by Location": {Path: sandbox.HeadcountByLocation}}, {"Headcount": {Path: sandbox.Headcount}, "Headcount by Location": {Path: sandbox.HeadcountByLocation}}} {
		b.config.Reports = reports
		for _, failure := range local.RunRoutingTests(t.Context(), adapter, b.catalog(), "workday") {
			t.Errorf("with the reports %v: %q: %s", slices.Sorted(maps.Keys(reports)), failure.Say, failure.Problem)
		}
	}
}

// TestReportsAndQueriesAreAskedForInWords: a report by its configured name, and only if the request
// names one; a query only in WQL.
func TestReportsAndQueriesAreAskedForInWords(t *testing.T) {
	t.Parallel()
	b := setup(t, sandbox.Config{})
	b.config.Reports = map[string]workday.Report{"Headcount": {Path: sandbox.Headcount}, "Headcount by Location": {Path: sandbox.HeadcountByLocation}}
	catalog := b.catalog()
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for say, want := range map[string]struct {
		capability string
		parameters object
	}{
		"run the report Headcount by Location":                             {"get_report", object{"report": "Headcount by Location"}},
		"run the Workday report Headcount":                                 {"get_report", object{"report": "Headcount"}},
		"show me the custom report Headcount by Location":                  {"get_report", object{"report": "Headcount by Location"}},
		"who reports to Helena Duarte":                                     {"list_direct_reports", object{}},
		"run the WQL query SELECT fullName, email FROM allWorkers LIMIT 5": {"query_data", object{}},
		"tell me when Ana Souza's request has been decided":                {"follow_request", object{"worker": "Ana Souza"}},
		"what became of Ana Souza's request":                               {"list_requests", object{"worker": "Ana Souza"}},
		"approve Ana Souza's time off request in Workday":                  {"approve_step", object{"worker": "Ana Souza"}},
		"deny the request of Bruno Lima in Workday":                        {"deny_step", object{"worker": "Bruno Lima"}},
		"show Ana Souza's chain of managers":                               {"list_managers", object{"worker": "Ana Souza"}},
		"move Ana Souza to the organization Customer Care from 2027-01-01": {"change_job", object{"worker": "Ana Souza", "organization": "Customer Care", "effective": "2027-01-01"}},
		"open positions in Lisbon":                                         {"list_job_postings", object{"location": "Lisbon"}},
		"how many rows has the table of customers in the database":         {},
	} {
		got, err := adapter.Understand(t.Context(), intent.Request{Message: say, Catalog: catalog})
		if err != nil {
			t.Fatal(err)
		}
		if want.capability == "" {
			if len(got.Intents) != 0 {
				t.Errorf("%q: %s", say, got.Intents[0].Capability)
			}
			continue
		}
		if len(got.Intents) != 1 || got.Intents[0].Capability != want.capability {
			t.Errorf("%q: %+v", say, got.Intents)
			continue
		}
		subset(t, want.parameters, got.Intents[0].Parameters)
	}
}

// TestSentencesFillTheParameters uses names that the manifest does not contain.
func TestSentencesFillTheParameters(t *testing.T) {
	t.Parallel()
	catalog := setup(t, sandbox.Config{}).catalog()
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		capability string
		parameters object
		missing    []string
	}{
		"request 2 days off for Nora Becker from 2026-12-07": {
			"request_time_off", object{"worker": "Nora Becker", "days": 2, "start": "2026-12-07"}, nil,
		},
		"book half a day of sick leave for Wei Zhang on 2026-12-03": {
			"request_time_off", object{"worker": "Wei Zhang", "days": 0.5, "start": "2026-12-03", "absence_type": "sick"}, nil,
		},
		"request 2 days off": {
			"request_time_off", object{"days": 2}, []string{"start", "worker"},
		},
		"compare the time off balances of Nora Becker, Wei Zhang and Ana Souza": {
			"get_time_off_balances", object{"workers": []string{"Nora Becker", "Wei Zhang", "Ana Souza"}}, nil,
		},
		"cancel the time off of Nora Becker on 2026-12-07": {
			"cancel_time_off", object{"worker": "Nora Becker", "from": "2026-12-07"}, nil,
		},
		"change the business title of Wei Zhang to Lead Gardener": {
			"change_business_title", object{"worker": "Wei Zhang", "title": "Lead Gardener"}, nil,
		},
		"who is the manager of Wei Zhang": {
			"get_worker", object{"worker": "Wei Zhang"}, nil,
		},
	}
	for say, tt := range tests {
		t.Run(say, func(t *testing.T) {
			t.Parallel()
			got, err := adapter.Understand(t.Context(), intent.Request{Message: say, Catalog: catalog})
			if err != nil || len(got.Intents) != 1 {
				t.Fatalf("%d intents, %v", len(got.Intents), err)
			}
			in := got.Intents[0]
			missing := map[string]bool{}
			for _, name := range in.Missing {
				missing[name] = true
			}
			wanted := map[string]bool{}
			for _, name := range tt.missing {
				wanted[name] = true
			}
			if in.Capability != tt.capability || !cmp.Equal(missing, wanted) {
				t.Errorf("%s, missing %v", in.Capability, in.Missing)
			}
			subset(t, tt.parameters, in.Parameters)
		})
	}
}
