package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// stub is a matcher that always reads the same.
type stub func(q local.Query) ([]local.Clause, error)

func (s stub) Match(_ context.Context, q local.Query) ([]local.Clause, error) { return s(q) }

// candidate makes one of a small catalog.
func candidate(b bundle, ref string, confidence float64) local.Candidate {
	entry, _ := b.catalog.Capability(ref)
	return local.Candidate{Entry: entry, Confidence: confidence, Score: confidence, Parameters: map[string]any{}}
}

// gated runs clauses through the gates of a configuration.
func gated(t *testing.T, b bundle, cfg local.Config, clauses ...local.Clause) intent.Understanding {
	t.Helper()
	a, err := local.New(cfg, stub(func(local.Query) ([]local.Clause, error) { return clauses, nil }))
	if err != nil {
		t.Fatal(err)
	}
	u, err := a.Understand(t.Context(), intent.Request{Message: "something", Catalog: b.catalog})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestGates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const read, write = "stocks.list_alerts", "stocks.delete_alert"
	cases := map[string]struct {
		cfg        local.Config
		candidates []local.Candidate
		want       contracts.ReadingOutcome
		choices    []string
	}{
		"a read at the gate is accepted":          {local.Config{}, []local.Candidate{candidate(b, read, 0.75)}, contracts.ReadingAccepted, nil},
		"a read below the gate is asked":          {local.Config{}, []local.Candidate{candidate(b, read, 0.74)}, contracts.ReadingUnclear, []string{read}},
		"a write needs more than a read":          {local.Config{}, []local.Candidate{candidate(b, write, 0.79)}, contracts.ReadingUnclear, []string{write}},
		"a write above its gate is accepted":      {local.Config{}, []local.Candidate{candidate(b, write, 0.80)}, contracts.ReadingAccepted, nil},
		"the gate of writes can be raised":        {local.Config{AcceptWrite: 0.95}, []local.Candidate{candidate(b, write, 0.94)}, contracts.ReadingUnclear, []string{write}},
		"the gate of reads can be lowered":        {local.Config{Accept: 0.5}, []local.Candidate{candidate(b, read, 0.55)}, contracts.ReadingAccepted, nil},
		"below the lower gate is declined":        {local.Config{}, []local.Candidate{candidate(b, read, 0.39)}, contracts.ReadingDeclined, nil},
		"the lower gate can be moved":             {local.Config{Clarify: 0.2}, []local.Candidate{candidate(b, read, 0.25)}, contracts.ReadingUnclear, []string{read}},
		"no candidate is declined":                {local.Config{}, nil, contracts.ReadingDeclined, nil},
		"a tie of two domains is asked":           {local.Config{}, []local.Candidate{candidate(b, read, 0.95), candidate(b, "parcels.list_shipments", 0.94)}, contracts.ReadingUnclear, []string{read, "parcels.list_shipments"}},
		"a clear lead is no tie":                  {local.Config{}, []local.Candidate{candidate(b, read, 0.95), candidate(b, "parcels.list_shipments", 0.7)}, contracts.ReadingAccepted, nil},
		"the margin of a tie can be widened":      {local.Config{TieMargin: 0.2}, []local.Candidate{candidate(b, read, 0.95), candidate(b, "parcels.list_shipments", 0.86)}, contracts.ReadingUnclear, []string{read, "parcels.list_shipments"}},
		"choices are bounded":                     {local.Config{Suggestions: 1}, []local.Candidate{candidate(b, read, 0.6), candidate(b, "stocks.top_movers", 0.5)}, contracts.ReadingUnclear, []string{read}},
		"a site can ask for more of one":          {local.Config{}, []local.Candidate{demanding(candidate(b, write, 0.9), 0.95)}, contracts.ReadingUnclear, []string{write}},
		"and for more of a read":                  {local.Config{}, []local.Candidate{demanding(candidate(b, read, 0.8), 0.85)}, contracts.ReadingUnclear, []string{read}},
		"never for less":                          {local.Config{}, []local.Candidate{demanding(candidate(b, write, 0.79), 0.5)}, contracts.ReadingUnclear, []string{write}},
		"what is held is asked though it is sure": {local.Config{AcceptWrite: 0.5, Accept: 0.5}, []local.Candidate{held(candidate(b, write, 0.6))}, contracts.ReadingUnclear, []string{write}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := gated(t, b, c.cfg, local.Clause{Text: "something", Candidates: c.candidates})
			if u.Outcome != c.want {
				t.Errorf("outcome %s, want %s", u.Outcome, c.want)
			}
			if c.want == contracts.ReadingDeclined {
				return
			}
			var choices []string
			for _, ch := range u.Choices {
				choices = append(choices, ch.Domain+"."+ch.Capability)
			}
			if diff := cmp.Diff(c.choices, choices); diff != "" {
				t.Errorf("choices (-want +got):\n%s", diff)
			}
			if c.want == contracts.ReadingUnclear && (u.Unclear != "i1" || !strings.Contains(u.Question, "something")) {
				t.Errorf("the question %q about %q does not quote the clause", u.Question, u.Unclear)
			}
		})
	}
}

// demanding is a candidate of which the site asks to be so sure.
func demanding(c local.Candidate, accept float64) local.Candidate {
	c.Entry = &contracts.CapabilityEntry{Domain: c.Entry.Domain, Capability: c.Entry.Capability, Policy: c.Entry.Policy, Accept: accept}
	return c
}

func held(c local.Candidate) local.Candidate {
	c.Held, c.Note = true, "the message is a question"
	return c
}

func TestGatesMustRise(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]local.Config{
		"clarify above accept":       {Clarify: 0.9, Accept: 0.5},
		"writes easier than reads":   {Accept: 0.9, AcceptWrite: 0.8},
		"more than certain":          {Accept: 0.9, AcceptWrite: 1.2},
		"a negative gate":            {Clarify: -1},
		"a margin of everything":     {TieMargin: 1},
		"a negative number of hints": {Suggestions: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := local.New(cfg); contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Errorf("NewAdapter(%+v) says %v", cfg, err)
			}
		})
	}
}

func TestOneUnclearClauseAsksAboutIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := gated(t, b, local.Config{},
		local.Clause{Text: "first", Candidates: []local.Candidate{candidate(b, "stocks.list_alerts", 0.9)}},
		local.Clause{Text: "second", Candidates: []local.Candidate{candidate(b, "stocks.top_movers", 0.5)}, After: []int{0}})
	if u.Outcome != contracts.ReadingUnclear || u.Unclear != "i2" || !strings.Contains(u.Question, "second") {
		t.Errorf("%s about %q: %q", u.Outcome, u.Unclear, u.Question)
	}
	if diff := cmp.Diff([]string{"stocks.list_alerts {}", "stocks.top_movers {} after i1"}, lines(u.Intents)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingUnclearPassesWithAnotherQuestion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := gated(t, b, local.Config{},
		local.Clause{Text: "first", Candidates: []local.Candidate{candidate(b, "stocks.top_movers", 0.5)}},
		local.Clause{Text: "second", Candidates: []local.Candidate{held(candidate(b, "stocks.delete_alert", 0.6))}, After: []int{0}},
		local.Clause{Text: "third", Candidates: []local.Candidate{candidate(b, "stocks.list_alerts", 0.9)}, After: []int{1}})
	if diff := cmp.Diff([]string{"stocks.top_movers {}", "stocks.list_alerts {}"}, lines(u.Intents)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"second"}, u.Unused); diff != "" || u.Unclear != "i1" || !strings.Contains(u.Question, "second") {
		t.Errorf("asked about %s: %q; left out %q", u.Unclear, u.Question, u.Unused)
	}
}

func TestHalfAMessageIsConfirmedBeforeAWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	u := gated(t, b, local.Config{},
		local.Clause{Text: "something odd"},
		local.Clause{Text: "list", Candidates: []local.Candidate{candidate(b, "stocks.list_alerts", 0.9)}},
		local.Clause{Text: "delete", Candidates: []local.Candidate{candidate(b, "stocks.delete_alert", 0.9)}})
	if u.Outcome != contracts.ReadingUnclear || u.Unclear != "i2" || len(u.Choices) != 1 || u.Choices[0].Capability != "delete_alert" {
		t.Errorf("%s about %q with %v", u.Outcome, u.Unclear, u.Choices)
	}
}

func TestOrderSurvivesForeignMatchers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := candidate(b, "stocks.list_alerts", 0.9)
	u := gated(t, b, local.Config{},
		local.Clause{Text: "a", Candidates: []local.Candidate{read}, After: []int{1, 7, -1}},
		local.Clause{Text: "b", Candidates: []local.Candidate{candidate(b, "stocks.top_movers", 0.9)}, After: []int{0}})
	if len(u.Intents) != 2 || u.Outcome != contracts.ReadingAccepted {
		t.Fatalf("%s %v", u.Outcome, lines(u.Intents))
	}
	if len(u.Intents[0].After) > 0 && len(u.Intents[1].After) > 0 {
		t.Errorf("the intents wait for each other: %v", lines(u.Intents))
	}
}

// A matcher may say that everything waits for everything.
func TestCirclesOfClausesAreCut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const n = 60
	clauses := make([]local.Clause, n)
	for i := range clauses {
		clauses[i] = local.Clause{Text: "x", Candidates: []local.Candidate{candidate(b, "stocks.list_alerts", 0.9)}}
		for j := range n {
			clauses[i].After = append(clauses[i].After, j)
		}
	}
	u := gated(t, b, local.Config{}, clauses...)
	sound(t, b, "something", u)
	if len(u.Intents) != n {
		t.Errorf("%d of %d requests are left", len(u.Intents), n)
	}
}

func TestMatcherErrorsKeepTheirCode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	down := contracts.Errorf(contracts.CodeUnavailable, "the model is away")
	a, err := local.New(local.Config{}, stub(func(local.Query) ([]local.Clause, error) { return nil, down }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Understand(t.Context(), intent.Request{Message: "x", Catalog: b.catalog})
	if !errors.Is(err, down) || contracts.CodeOf(err) != contracts.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestRolesPhasesAndDomainsLimitTheChoice(t *testing.T) {
	t.Parallel()
	m := readManifest(t, "stocks")
	for i := range m.Capabilities {
		switch m.Capabilities[i].Name {
		case "delete_alert":
			m.Capabilities[i].Metadata.AllowedRoles = []string{"trader"}
		case "list_alerts":
			m.Capabilities[i].Metadata.Phases = []string{"discover"}
		}
	}
	b := setup(t)
	b.catalog = catalogOf("limited", m, readManifest(t, "people"))
	cases := map[string]struct {
		req  intent.Request
		want []string
	}{
		"without the role it does not exist":  {intent.Request{Message: "delete alert al-17"}, nil},
		"with the role it does":               {intent.Request{Message: "delete alert al-17", Roles: []string{"viewer", "trader"}}, []string{"stocks.delete_alert"}},
		"outside its phase it does not exist": {intent.Request{Message: "list my alerts", Phase: "apply"}, nil},
		"in its phase it does":                {intent.Request{Message: "list my alerts", Phase: "discover"}, []string{"stocks.list_alerts"}},
		"in another domain it does not exist": {intent.Request{Message: "list my alerts", Domain: "people"}, nil},
		"in its domain it does":               {intent.Request{Message: "list my alerts", Domain: "stocks"}, []string{"stocks.list_alerts"}},
		"what is not routable never matches":  {intent.Request{Message: "find_ticker query=apple"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.req.Catalog = b.catalog
			u, err := b.adapter.Understand(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if u.Outcome == contracts.ReadingAccepted {
				for _, in := range u.Intents {
					got = append(got, in.Ref())
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", u.Outcome, diff)
			}
			for _, ch := range u.Choices {
				if ref := ch.Domain + "." + ch.Capability; ref == "stocks.delete_alert" && len(c.req.Roles) == 0 || c.req.Domain != "" && ch.Domain != c.req.Domain {
					t.Errorf("%s is suggested though it may not be chosen", ref)
				}
			}
		})
	}
}

// twins are two domains with the same capability.
func twins(t *testing.T) *contracts.Catalog {
	t.Helper()
	m := readManifest(t, "stocks")
	other := readManifest(t, "stocks")
	other.Domain, other.Title = "crypto", "Coins"
	return catalogOf("twins", m, other)
}

func TestTheSameCapabilityInTwoDomains(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.catalog = twins(t)
	for name, c := range map[string]struct{ say, want string }{
		"is asked about":                       {"list my alerts", ""},
		"is asked about, filled":               {"price of VALE3", ""},
		"is asked about, by its identifier":    {"list_alerts", ""},
		"is told apart by the domain's name":   {"list my crypto alerts", "crypto"},
		"is told apart by the domain's title":  {"price of VALE3 in market data", "stocks"},
		"is told apart by the full identifier": {"crypto.list_alerts", "crypto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := b.say(t, c.say)
			if c.want != "" {
				if len(u.Intents) != 1 || u.Intents[0].Domain != c.want || u.Outcome != contracts.ReadingAccepted {
					t.Errorf("%s %v, want it from %s", u.Outcome, lines(u.Intents), c.want)
				}
				return
			}
			domains := map[string]bool{}
			for _, ch := range u.Choices {
				domains[ch.Domain] = true
			}
			if u.Outcome != contracts.ReadingUnclear || !domains["crypto"] || !domains["stocks"] {
				t.Errorf("%s with choices %v", u.Outcome, u.Choices)
			}
		})
	}
}

func TestExamplesAndNamesAreCertain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, d := range b.catalog.Domains {
		for _, e := range d.Capabilities {
			if e.Capability.Metadata.IntentHints == nil {
				continue
			}
			for _, say := range e.Capability.Metadata.IntentHints.Examples {
				u := b.say(t, say)
				if u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 1 || u.Intents[0].Ref() != e.Ref() || u.Intents[0].Confidence < 0.99 {
					t.Errorf("the example %q of %s: %s %v", say, e.Ref(), u.Outcome, lines(u.Intents))
				}
			}
		}
	}
}

func TestHardNegativesAreNotAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, d := range b.catalog.Domains {
		for _, e := range d.Capabilities {
			if e.Capability.Metadata.IntentHints == nil {
				continue
			}
			for _, say := range e.Capability.Metadata.IntentHints.Not {
				u := b.say(t, say)
				for _, in := range u.Intents {
					if u.Outcome == contracts.ReadingAccepted && in.Ref() == e.Ref() {
						t.Errorf("%q is said not to mean %s, and was accepted", say, e.Ref())
					}
				}
			}
		}
	}
}

// What begins with the verb of one capability alone is not asked about before its
// values are, unless a site wants to be surer.
func TestASurerSiteAsksWhichWasMeantBeforeItAsksForValues(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for accept, want := range map[float64]bool{0: true, 1: false} {
		a, err := local.New(local.Config{AcceptWrite: accept})
		if err != nil {
			t.Fatal(err)
		}
		u, err := a.Understand(t.Context(), intent.Request{Message: "delete an alert", Catalog: b.catalog})
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Outcome == contracts.ReadingAccepted; got != want {
			t.Errorf("with the gate at %g it goes on to the values: %v, want %v (%s)", accept, got, want, u.Question)
		}
	}
}
