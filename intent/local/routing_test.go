package local_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local"
)

func TestRoutingTestsOfTheManifestsHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, d := range b.catalog.Domains {
		for _, f := range local.RunRoutingTests(t.Context(), b.adapter, b.catalog, d.Name) {
			t.Errorf("%s tests[%d] %q: %s", f.Domain, f.Index, f.Say, f.Problem)
		}
	}
}

func TestRoutingTestsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	expect := func(capability string, params map[string]any) *contracts.RoutingExpectation {
		return &contracts.RoutingExpectation{Capability: capability, Parameters: params}
	}
	cases := map[string]struct {
		test contracts.RoutingTest
		want string // a part of the problem; empty: none
	}{
		"a subset of the parameters is enough":  {contracts.RoutingTest{Say: "price of petro in EUR", Expect: expect("get_quote", map[string]any{"symbol": "PETR4.SA"})}, ""},
		"numbers are compared by value":         {contracts.RoutingTest{Say: "set a price alert for AAPL at 250", Expect: expect("create_alert", map[string]any{"above": 250.0})}, ""},
		"a full name is accepted":               {contracts.RoutingTest{Say: "list my alerts", Expect: expect("stocks.list_alerts", nil)}, ""},
		"roles do not matter":                   {contracts.RoutingTest{Say: "delete alert al-17", Expect: expect("delete_alert", nil)}, ""},
		"one of several requests is enough":     {contracts.RoutingTest{Say: "list my alerts and delete alert al-17", Expect: expect("list_alerts", nil)}, ""},
		"another domain's request is not ours":  {contracts.RoutingTest{Say: "read my messages"}, ""},
		"a test that needs a model is left out": {contracts.RoutingTest{Say: "anything", Expect: expect("get_quote", nil), LLM: true}, ""},
		"another capability":                    {contracts.RoutingTest{Say: "list my alerts", Expect: expect("get_quote", nil)}, "get_quote was expected, but stocks.list_alerts was found"},
		"nothing":                               {contracts.RoutingTest{Say: "write a poem", Expect: expect("get_quote", nil)}, "the message was declined"},
		"something where nothing was expected":  {contracts.RoutingTest{Say: "list my alerts"}, "but stocks.list_alerts was accepted"},
		"another value":                         {contracts.RoutingTest{Say: "price of petro", Expect: expect("get_quote", map[string]any{"symbol": "VALE3"})}, `parameter symbol: expected "VALE3", read "PETR4.SA"`},
		"a value that was not read":             {contracts.RoutingTest{Say: "price of petro", Expect: expect("get_quote", map[string]any{"currency": "EUR"})}, `parameter currency: expected "EUR", read null`},
		"the first that is asked about":         {contracts.RoutingTest{Say: "was alert al-17 deleted?", Expect: expect("delete_alert", nil)}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := readManifest(t, "stocks")
			m.Tests = []contracts.RoutingTest{{Say: "list my alerts", Expect: expect("list_alerts", nil)}, c.test}
			for i := range m.Capabilities {
				if m.Capabilities[i].Name == "delete_alert" {
					m.Capabilities[i].Metadata.AllowedRoles = []string{"nobody"}
				}
			}
			failures := local.RunRoutingTests(t.Context(), setup(t).adapter, catalogOf("", m, readManifest(t, "post")), "stocks")
			if c.want == "" {
				if len(failures) > 0 {
					t.Errorf("unexpected %+v", failures)
				}
				return
			}
			if len(failures) != 1 || failures[0].Index != 1 || failures[0].Say != c.test.Say || !strings.Contains(failures[0].Problem, c.want) {
				t.Errorf("got %+v, want one about %q", failures, c.want)
			}
		})
	}
}

func TestRoutingTestsOfAnUnknownDomain(t *testing.T) {
	t.Parallel()
	if f := local.RunRoutingTests(t.Context(), setup(t).adapter, setup(t).catalog, "nobody"); len(f) > 0 {
		t.Errorf("got %+v", f)
	}
}

func TestFillReadsAnAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := map[string]struct {
		ref, answer string
		only        []string
		want        map[string]any
	}{
		"a bare name":                        {"people.book_leave", "Chen Wei", []string{"worker"}, map[string]any{"worker": "Chen Wei"}},
		"a bare name in small letters":       {"people.book_leave", "chen wei", []string{"worker"}, map[string]any{"worker": "chen wei"}},
		"a name in a sentence":               {"people.book_leave", "it's for Chen Wei, please", []string{"worker"}, map[string]any{"worker": "Chen Wei"}},
		"several names make a list":          {"people.get_leave_balances", "Ana Souza and Chen Wei", []string{"worker"}, map[string]any{"workers": []any{"Ana Souza", "Chen Wei"}}},
		"a bare number":                      {"people.book_leave", "3", []string{"days"}, map[string]any{"days": 3.0}},
		"a number with a unit":               {"people.book_leave", "three days", []string{"days"}, map[string]any{"days": 3.0}},
		"a bare date":                        {"people.book_leave", "2026-12-07", []string{"start_date"}, map[string]any{"start_date": "2026-12-07"}},
		"a relative date":                    {"people.book_leave", "next Monday", []string{"start_date"}, map[string]any{"start_date": "2026-11-23"}},
		"a date in doubt stays open":         {"people.book_leave", "03/10/2026", []string{"start_date"}, map[string]any{}},
		"an alias":                           {"stocks.create_alert", "petro", []string{"symbol"}, map[string]any{"symbol": "PETR4.SA"}},
		"an identifier":                      {"stocks.delete_alert", "al-3", []string{"alert_id"}, map[string]any{"alert_id": "al-3"}},
		"two answers at once":                {"people.book_leave", "3 days from 2026-12-07", []string{"days", "start_date"}, map[string]any{"days": 3.0, "start_date": "2026-12-07"}},
		"nothing else is filled":             {"people.book_leave", "3 days from 2026-12-07", []string{"days"}, map[string]any{"days": 3.0}},
		"a text for a free field":            {"post.send_message", "the report is ready, come and get it", []string{"message"}, map[string]any{"message": "the report is ready, come and get it"}},
		"what breaks the pattern is no code": {"parcels.track_parcel", "the blue one", []string{"tracking_code"}, map[string]any{}},
		"an enum value":                      {"people.book_leave", "sick leave", []string{"leave_type"}, map[string]any{"leave_type": "sick_leave"}},
		"no value of an enum":                {"people.book_leave", "jury duty", []string{"leave_type"}, map[string]any{}},
		"yes":                                {"parcels.ship_parcel", "yes", []string{"express"}, map[string]any{"express": true}},
		"a refusal is no name":               {"people.book_leave", "never mind", []string{"worker"}, map[string]any{}},
		"an empty answer":                    {"people.book_leave", "  ", []string{"worker"}, map[string]any{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entry, ok := b.catalog.Capability(c.ref)
			if !ok {
				t.Fatalf("no capability %s", c.ref)
			}
			got, evidence := b.adapter.Fill(entry, c.answer, c.only, saturday)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Fill(%q) (-want +got):\n%s", c.answer, diff)
			}
			for name := range got {
				if ev := evidence[name]; ev.Span[1] <= ev.Span[0] || ev.Span[1] > len(c.answer) || ev.P <= 0 {
					t.Errorf("evidence of %s: %+v", name, ev)
				}
			}
		})
	}
}

func TestChooseReadsTheClauseAnew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	in := contracts.Intent{ID: "i2", Clause: "cancel al-17", Domain: "people", Capability: "cancel_leave", After: []string{"i1"}, Alternatives: []contracts.Alternative{{}}}
	got, err := b.adapter.Choose(b.catalog, in, "stocks.delete_alert", saturday)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`stocks.delete_alert {"alert_id":"al-17"} after i1`}, lines([]contracts.Intent{got})); diff != "" {
		t.Error(diff)
	}
	if got.ID != "i2" || len(got.Alternatives) > 0 || got.Confidence != 1 || got.SnapshotID != "test" {
		t.Errorf("unexpected frame: %+v", got)
	}
	if _, err := b.adapter.Choose(b.catalog, in, "stocks.nothing", saturday); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("an unknown choice: %v", err)
	}
}
