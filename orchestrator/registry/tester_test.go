package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// spoken returns a manifest with one read, which the examples lead to, and one test.
func spoken(domain, name string, examples []string, say, expect string) string {
	return fmt.Sprintf(`{"schema_version":"1","domain":%q,"version":"1","capabilities":[
		{"name":%q,"description":"Finds what was asked for.","schema":{"type":"object"},
		 "metadata":{"side_effect_class":"read","intent_hints":{"examples":["%s"]}}}],
		"tests":[{"say":%q,"expect":%s}]}`, domain, name, strings.Join(examples, `","`), say, expect)
}

// The real matcher decides here, not a fake.
func TestRealSentences(t *testing.T) {
	t.Parallel()
	ferries := []string{"when does the next ferry leave", "ferry departures today", "list the ferries to the island", "which ferry goes first", "ferry timetable"}
	rooms := []string{"which meeting rooms are free", "find an empty meeting room", "free rooms on the third floor", "is there a room for ten people", "meeting room availability"}
	b := setup(t, registry.Config{})
	r := b.reading(t)
	register := func(domain, manifest string) (contracts.DomainReport, error) {
		b.offer(domain, manifest)
		return r.Register(t.Context(), registration(domain))
	}
	report, err := register("ferry", spoken("ferry", "departures", ferries, "when does the next ferry leave", `{"capability":"departures"}`))
	if err != nil || report.Outcome != contracts.DomainActive {
		t.Fatalf("a sentence that leads where it should: %+v, %v", report, err)
	}
	report, err = register("room", spoken("room", "vacancies", rooms, "the weather on the moon", `{"capability":"vacancies"}`))
	if contracts.CodeOf(err) != contracts.CodeInvalid || len(lines(report.Findings, contracts.SeverityError)) != 1 {
		t.Errorf("a sentence that leads nowhere: %+v, %v", report, err)
	}
	report, err = register("room", spoken("room", "vacancies", rooms, "which meeting rooms are free", `{"capability":"vacancies"}`))
	if err != nil || report.Outcome != contracts.DomainActive {
		t.Errorf("beside each other: %+v, %v", report, err)
	}
	report, err = register("thief", spoken("thief", "departures", ferries, "list the ferries to the island", `{"capability":"departures"}`))
	if err != nil || report.Outcome != contracts.DomainActive || len(lines(report.Findings, contracts.SeverityWarning)) == 0 {
		t.Errorf("a domain that takes the words of another is told of, and refused by nobody: %+v, %v", report, err)
	}
}

// Two domains with the same example sentences; each is valid alone.
func TestAnHonestManifestIsNotRefusedForItsNeighbours(t *testing.T) {
	t.Parallel()
	words := []string{"when does the next ferry leave", "ferry departures today", "list the ferries to the island", "which ferry goes first", "ferry timetable"}
	for name, order := range map[string][2]string{"one way": {"harbour", "ferry"}, "the other": {"ferry", "harbour"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, registry.Config{})
			r := b.reading(t)
			for _, domain := range order {
				b.offer(domain, spoken(domain, "departures", words, "when does the next ferry leave", `{"capability":"departures"}`))
				report, err := r.Register(t.Context(), registration(domain))
				if err != nil || report.Outcome != contracts.DomainActive {
					t.Fatalf("%s: %+v, %v", domain, report, err)
				}
			}
			got, err := r.Show("ferry") // the harbour is judged first
			if told := strings.Join(lines(got.Findings, contracts.SeverityWarning), "\n"); err != nil || !strings.Contains(told, "beside ") {
				t.Errorf("the ferry is told that its sentence is asked about now: %v %v", told, err)
			}
		})
	}
}

// Restrictions of the site on a domain are no fault of its manifest.
func TestADomainTrustedForReadsIsNotRefusedForItsWrites(t *testing.T) {
	t.Parallel()
	b := setup(t, registry.Config{})
	r := b.reading(t)
	b.offer("ferry", `{"schema_version":"1","domain":"ferry","version":"1","capabilities":[
		{"name":"departures","description":"Lists the departures of ferries.","schema":{"type":"object"},
		 "metadata":{"side_effect_class":"read","intent_hints":{"examples":["when does the next ferry leave","ferry departures today","list the ferries","which ferry goes first","ferry timetable"]}}},
		{"name":"book_crossing","description":"Books a place on a ferry.","schema":{"type":"object"},
		 "metadata":{"side_effect_class":"write_irreversible","intent_hints":{"examples":["book a crossing","reserve a place on the ferry","book the ferry","get me a ticket for the boat","I want to cross"]}}}],
		"tests":[{"say":"ferry timetable","expect":{"capability":"departures"}},{"say":"book a crossing","expect":{"capability":"book_crossing"}}]}`)
	reg := registration("ferry")
	reg.Trust = contracts.TrustReadsOnly
	report, err := r.Register(t.Context(), reg)
	if err != nil || report.Outcome != contracts.DomainActive {
		t.Fatalf("%+v, %v", report, err)
	}
	want := `/tests/1: "book a crossing" is not tried: book_crossing is not in use here`
	if got := lines(report.Findings, contracts.SeverityWarning); !slices.Contains(got, want) {
		t.Errorf("got %q, want among them %q", got, want)
	}
}
