package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// spoken makes a manifest with one read, which the sentences lead to, and one
// test.
func spoken(domain, name string, examples []string, say, expect string) string {
	return fmt.Sprintf(`{"schema_version":"1","domain":%q,"version":"1","capabilities":[
		{"name":%q,"description":"Finds what was asked for.","schema":{"type":"object"},
		 "metadata":{"side_effect_class":"read","intent_hints":{"examples":["%s"]}}}],
		"tests":[{"say":%q,"expect":%s}]}`, domain, name, strings.Join(examples, `","`), say, expect)
}

// The matcher itself decides here, not a stand-in.
func TestRealSentences(t *testing.T) {
	t.Parallel()
	ferries := []string{"when does the next ferry leave", "ferry departures today", "list the ferries to the island", "which ferry goes first", "ferry timetable"}
	rooms := []string{"which meeting rooms are free", "find an empty meeting room", "free rooms on the third floor", "is there a room for ten people", "meeting room availability"}
	b := setup(t, registry.Config{})
	adapter, err := intent.NewAdapter(intent.Config{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(registry.Config{}, b.store, b.world, registry.Sentences(adapter))
	if err != nil {
		t.Fatal(err)
	}
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
	report, err = register("thief", spoken("thief", "departures", ferries, "list the ferries to the island", `null`))
	if err != nil || report.Outcome != contracts.DomainActive || len(lines(report.Findings, contracts.SeverityWarning)) == 0 {
		t.Errorf("a domain that takes the words of another is told of, and refused by nobody: %+v, %v", report, err)
	}
}
