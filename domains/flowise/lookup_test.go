package flowise_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// TestTheLastTwoVersionsNeedNoNames: without versions the newest two that differ are
// compared, the flow as it is now being the later one.
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

// TestWhetherThereIsACredentialIsAYesOrNo: by the name of a node, of a type or of a company.
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

// TestFlowsThatNobodyChanged: a day leaves out what was changed since.
func TestFlowsThatNobodyChanged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.create("Young", "x")
	today := time.Now().UTC()
	for day, want := range map[string]float64{today.Format(time.DateOnly): 0, today.AddDate(0, 0, 2).Format(time.DateOnly): 1} {
		if got := b.facts("list_chatflows", object{"unchanged_since": day}, in{})["total"]; got != want {
			t.Errorf("unchanged since %s: %v", day, got)
		}
	}
}

// TestATestOfAFlowThatDoesNotAnswerEnds: within its bound, with what to do; the other
// questions are not asked in vain.
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
