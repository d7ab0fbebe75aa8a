package flowise_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// TestTheLastTwoVersionsNeedNoNames: by default the newest two different versions are compared, the
// current flow being the later one.
func TestTheLastTwoVersionsNeedNoNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Versions", "one")
	if refusal := b.refused("diff_versions", object{"chatflow_id": id}, in{}); refusal.Type != "not_found" {
		t.Errorf("of a flow that never changed: %v", refusal)
	}
	for _, reply := range []string{"two", "three"} {
		b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply(reply)}, in{key: reply})
	}
	out := b.execute("diff_versions", object{"chatflow_id": id}, in{})
	if !out.OK || !strings.Contains(out.Summary, "two → three") {
		t.Errorf("%s %v", out.Summary, out.Error)
	}
}

// TestWhetherThereIsACredentialIsAYesOrNo: by the name of a node, a type or a vendor.
func TestWhetherThereIsACredentialIsAYesOrNo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.server.AddCredential("Team Pinecone", "pineconeApi")
	for name, tt := range map[string]struct {
		asked object
		says  string
	}{
		"a node":                        {object{"node_names": []string{"Pinecone"}}, "yes: Team Pinecone (pineconeApi)"},
		"a company":                     {object{"types": []string{"Pinecone"}}, "yes: Team Pinecone (pineconeApi)"},
		"a company that is no node":     {object{"node_names": []string{"Anthropic"}}, "no, there is no credential of type anthropicApi"},
		"a type of which there is none": {object{"types": []string{"cohereApi"}}, "no, there is no credential of type cohereApi"},
	} {
		if out := b.execute("check_credentials", tt.asked, in{}); !out.OK || out.Summary != tt.says {
			t.Errorf("%s: %q %v", name, out.Summary, out.Error)
		}
	}
}

// TestFlowsThatNobodyChanged: flows changed since the day are left out.
func TestFlowsThatNobodyChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("Young", "x")
	today := time.Now().UTC()
	day := func(n int) string { return today.AddDate(0, 0, n).Format(time.DateOnly) }
	for _, tt := range []struct {
		since, until string
		want         float64
	}{{since: day(0), want: 0}, {since: day(2), want: 1}, {day(-9), day(9), 0}, {day(-9), day(-1), 1}, {until: day(-1), want: 1}} {
		asked := object{}
		for name, value := range map[string]string{"unchanged_since": tt.since, "unchanged_until": tt.until} {
			if value != "" {
				asked[name] = value
			}
		}
		if got := b.facts("list_chatflows", asked, in{})["total"]; got != tt.want {
			t.Errorf("unchanged from %q until %q: %v", tt.since, tt.until, got)
		}
	}
}

// TestChangesOfAPeriod: for one chatflow, all stored changes unless a period is given.
func TestChangesOfAPeriod(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Changed", "one")
	b.facts("apply_patch", object{"chatflow_id": id, "ops": setReply("two")}, in{key: "two"})
	yesterday := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	for name, tt := range map[string]struct {
		asked object
		want  int
	}{
		"all that are kept": {object{"chatflow_id": id}, 2},
		"of a period":       {object{"chatflow_id": id, "since": yesterday}, 2},
		"of one before":     {object{"chatflow_id": id, "since": "2020-01-01", "until": yesterday}, 0},
	} {
		if got, _ := b.facts("list_changes", tt.asked, in{})["changes"].([]any); len(got) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestTheLastChangeSaysWhoAndWhen, also for a flow that was only edited in Flowise.
func TestTheLastChangeSaysWhoAndWhen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Customer Helper", "one")
	last := func() string { return b.execute("last_change", object{"chatflow_id": id}, in{}).Summary }
	if says := last(); !strings.Contains(says, "Customer Helper was changed last by Manifold, run run, at 20") {
		t.Errorf("our own: %s", says)
	}
	graph := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
	b.edit(id, strings.Replace(graph, "one", "by hand", 1))
	if says := last(); !strings.Contains(says, "by somebody in Flowise, at 20") || !strings.Contains(says, "one → by hand") {
		t.Errorf("a colleague's: %s", says)
	}
	var row struct{ ID string }
	b.direct("POST", "/chatflows", object{"name": "Old", "type": "CHATFLOW", "flowData": graph}, &row)
	if out := b.execute("last_change", object{"chatflow_id": row.ID}, in{}); !strings.Contains(out.Summary, "Old was changed last at 20") || !strings.Contains(out.Summary, "keeps no names") {
		t.Errorf("of before: %s %v", out.Summary, out.Error)
	}
}

// TestSoManyQuestions: the number of questions is as requested.
func TestSoManyQuestions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Asked", "Hello")
	if got := b.facts("test_chatflow", object{"chatflow_id": id, "questions": 2}, in{}); got["passed"] != 2.0 || got["failed"] != 0.0 {
		t.Errorf("%v of %v passed", got["passed"], got["failed"])
	}
	if refusal := b.refused("check_credentials", object{}, in{}); refusal.Type != "invalid_parameters" {
		t.Errorf("a credential for nothing: %v", refusal)
	}
}

// TestATestOfAFlowThatDoesNotAnswerEnds within its timeout, with advice; the remaining questions
// are not asked.
func TestATestOfAFlowThatDoesNotAnswerEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Silent", "Hello")
	b.server.Inject(sandboxkit.Fault{Kind: sandboxkit.Slow, PathPrefix: "/api/v1/prediction/", Count: -1})
	cases := []object{}
	for i := range 20 {
		cases = append(cases, object{"name": fmt.Sprint(i), "kind": "happy", "question": "Are you there?", "assertions": []object{{"type": "contains", "value": "Hello"}}})
	}
	_, out := domaintest.Execute(t, b.url, "test_chatflow", object{"chatflow_id": id, "cases": cases, "trials": 5},
		object{"run_id": "run", "node_id": "node", "attempt": 1, "timeout_ms": 6000})
	if !out.OK || out.Facts["ok"] != false || !strings.Contains(out.Summary, "can be reached from the Flowise server") {
		t.Errorf("%s %v", out.Summary, out.Error)
	}
}
