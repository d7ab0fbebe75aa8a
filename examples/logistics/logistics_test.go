package logistics_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/conformance"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/logistics"
)

func serve(t *testing.T, config logistics.Config) string {
	t.Helper()
	svc, err := logistics.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return domaintest.Serve(t, svc)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	server := serve(t, logistics.Config{Tokens: []string{"s3cret"}})
	report := conformance.Run(t.Context(), conformance.Options{URL: server, Authorization: "Bearer s3cret", AllowWrites: true})
	for _, f := range report.Findings() {
		t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Pointer, f.Message)
	}
}

// facts executes a capability as a principal and returns its facts.
func facts(t *testing.T, server, capability, parameters, key string) map[string]any {
	t.Helper()
	status, result := domaintest.Execute(t, server, capability, json.RawMessage(parameters),
		map[string]any{"idempotency_key": key, "principal": map[string]any{"id": "dana"}})
	if status != 200 || !result.OK {
		t.Fatalf("%s %s: status %d, %+v", capability, parameters, status, result)
	}
	return result.Facts
}

// rows returns the rows of a listing.
func rows(t *testing.T, facts map[string]any) []map[string]any {
	t.Helper()
	list, ok := facts["rows"].([]any)
	if !ok {
		t.Fatalf("no rows in %v", facts)
	}
	var out []map[string]any
	for _, r := range list {
		row, ok := r.(map[string]any)
		if !ok {
			t.Fatalf("%v is no row", r)
		}
		out = append(out, row)
	}
	return out
}

// The families of each role.
var inventory = map[string]string{ //nolint:gochecknoglobals // a table
	"driver": `driver_cockpit driver_road driver_community driver_compliance driver_financial driver_lifecycle driver_utility
		cross_role_utility financial_extended lifecycle_ops`,
	"recruiter": `recruiter_paid_media recruiter_paid_media_analytics recruiter_outreach recruiter_analytics recruiter_onboarding recruiter_pipeline
		recruiter_retention recruiter_reverse_match cross_role_utility cross_role_paid_media_pipeline external_api lifecycle_ops`,
	"admin": `admin_business_ops admin_platform_config admin_portal admin_support admin_gamification admin_feature_adoption admin_meta_ads_governance
		observability_ops external_api lifecycle_ops cross_role_utility cross_role_paid_media_pipeline`,
	"carrier": `carrier_fleet carrier_compliance carrier_communication carrier_journey b2b_suite cross_role_utility external_api financial_extended`,
}

func TestEachRoleHasItsFamiliesAndEachFamilyTwoCapabilities(t *testing.T) {
	t.Parallel()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, serve(t, logistics.Config{})+"/manifest", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var manifest struct {
		Capabilities []struct {
			Name     string `json:"name"`
			Metadata struct {
				Family   string   `json:"x-family"`
				Roles    []string `json:"allowed_roles"`
				Routable *bool    `json:"routable"`
				Mode     string   `json:"execution_mode"`
				Class    string   `json:"side_effect_class"`
			} `json:"metadata"`
		} `json:"capabilities"`
	}
	if err := json.NewDecoder(response.Body).Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]int{}
	for _, c := range manifest.Capabilities {
		if len(c.Metadata.Roles) == 0 {
			t.Errorf("%s is for everybody", c.Name)
		}
		if reads := c.Metadata.Class == "read" || c.Metadata.Class == "suggest"; reads != (c.Metadata.Mode == "parallel_safe") {
			t.Errorf("%s is a %s in mode %s", c.Name, c.Metadata.Class, c.Metadata.Mode)
		}
		if c.Metadata.Routable != nil {
			continue
		}
		for _, role := range c.Metadata.Roles {
			if got[role] == nil {
				got[role] = map[string]int{}
			}
			got[role][c.Metadata.Family]++
		}
	}
	for role, families := range inventory {
		for family := range strings.FieldsSeq(families) {
			if got[role][family] < 2 {
				t.Errorf("%s has %d capabilities of %s", role, got[role][family], family)
			}
			delete(got[role], family)
		}
		if len(got[role]) > 0 {
			t.Errorf("%s has more: %v", role, got[role])
		}
	}
}

// Two capabilities agree on a figure, because both compute it from the same events.
func TestFiguresAgree(t *testing.T) {
	t.Parallel()
	at := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	a, again, other := serve(t, logistics.Config{Now: at}), serve(t, logistics.Config{Now: at}), serve(t, logistics.Config{Now: at, Seed: 2})
	const of = `{"carrier":"Blue Ridge Freight"}`
	safety, intel, pay := facts(t, a, "query_safety_api", of, ""), facts(t, a, "query_intel_api", of, ""), facts(t, a, "get_carrier_pay", of, "")
	if safety["trucks"] != intel["trucks"] || safety["trucks"] != pay["trucks"] {
		t.Errorf("trucks: %v, %v and %v", safety["trucks"], intel["trucks"], pay["trucks"])
	}
	turnover := facts(t, a, "get_carrier_turnover", of, "")
	if turnover["turnover_percent"] != intel["turnover_percent"] {
		t.Errorf("turnover: %v and %v", turnover["turnover_percent"], intel["turnover_percent"])
	}
	left, causes := 0.0, turnover["causes"].([]any)
	for _, c := range causes {
		left += c.(map[string]any)["count"].(float64)
	}
	if left != turnover["left"] || len(causes) == 0 {
		t.Errorf("%v left for %v causes", turnover["left"], causes)
	}
	business, leads := facts(t, a, "get_business_summary", `{}`, ""), 0.0
	for _, r := range rows(t, facts(t, a, "get_cost_per_hire", `{}`, "")) {
		leads += r["hired"].(float64)
	}
	if leads != business["hires"] {
		t.Errorf("%v hires by platform, %v in all", leads, business["hires"])
	}
	if diff := cmp.Diff(safety, facts(t, again, "query_safety_api", of, "")); diff != "" {
		t.Errorf("the same seed (-want +got):\n%s", diff)
	}
	if fmt.Sprint(safety) == fmt.Sprint(facts(t, other, "query_safety_api", of, "")) {
		t.Error("another seed gives the same carrier")
	}
}

// A source in maintenance is unavailable until it is up again.
func TestASourceInMaintenanceIsMissing(t *testing.T) {
	t.Parallel()
	server := serve(t, logistics.Config{})
	const of = `{"carrier":"Blue Ridge Freight"}`
	facts(t, server, "query_safety_api", of, "")
	was := facts(t, server, "set_source_state", `{"source":"safety","state":"maintenance"}`, "k1")["was"]
	facts(t, server, "set_source_state", `{"source":"safety","state":"maintenance"}`, "k1")
	for _, name := range []string{"query_safety_api", "check_carrier_safety"} {
		_, result := domaintest.Execute(t, server, name, json.RawMessage(of), map[string]any{})
		if result.OK || result.Error.Type != contracts.ErrUpstream {
			t.Errorf("%s: %+v", name, result)
		}
	}
	down := slices.ContainsFunc(rows(t, facts(t, server, "get_api_health", `{}`, "")), func(r map[string]any) bool {
		return r["source"] == "safety" && r["state"] == "maintenance"
	})
	if was != "up" || !down {
		t.Errorf("it was %v; the health says that it is down: %v", was, down)
	}
	facts(t, server, "return_source", `{"source":"safety","state":"up"}`, "k2")
	facts(t, server, "query_safety_api", of, "")
}

// Missing evidence is reported and does not affect the ranking: without the safety record of one
// carrier, no carrier is rated by it.
func TestRankingIsFairWhenEvidenceIsMissing(t *testing.T) {
	t.Parallel()
	server := serve(t, logistics.Config{})
	two := `"carriers":[{"dot":"1","name":"One","region":"Midwest"},{"dot":"2","name":"Two","region":"Midwest"}]`
	reviews := `"reviews":[{"dot":"1","name":"One","stars":4,"reviews":9,"blamed":"pay","newest":[]},{"dot":"2","name":"Two","stars":3,"reviews":9,"blamed":"pay","newest":[]}]`
	worst := `"safety":[{"dot":"1","name":"One","rating":"conditional","inspections":50,"vehicle_oos_percent":50,"driver_oos_percent":9,"crashes":9,"percentile":100,"trucks":20}]`
	ranked := facts(t, server, "rank_carriers", `{`+two+`,`+reviews+`,`+worst+`}`, "")
	first := rows(t, ranked)[0]
	if first["carrier"] != "One" || first["score"] != 0.8 {
		t.Errorf("%v is first; four of five stars is all that both have", first)
	}
	if diff := cmp.Diff([]any{"safety", "pay", "turnover", "market"}, ranked["missing"]); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	disagree := strings.Replace(worst, `"trucks":20`, `"trucks":80`, 1)
	pay := `"pay":[{"dot":"1","name":"One","cents_per_mile":50,"weekly_miles":2000,"weekly_pay":1000,"home_days":8,"detention_per_hour":20,"usual_weekly_pay":1000,"trucks":20}]`
	if said := facts(t, server, "rank_carriers", `{`+two+`,`+disagree+`,`+pay+`}`, "")["contradictions"]; len(said.([]any)) != 1 {
		t.Errorf("contradictions: %v", said)
	}
}
