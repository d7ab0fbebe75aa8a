package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// NewTest are the parameters of add_test.
type NewTest struct {
	site.FlowRef
	Question string `json:"question" min:"1" max:"2000" description:"What is asked"`
	Contains string `json:"contains,omitempty" max:"500" description:"What each answer must contain"`
	Lacks    string `json:"lacks,omitempty" max:"500" description:"What no answer may contain"`
	UsesTool string `json:"uses_tool,omitempty" max:"100" description:"The tool that must be used"`
	WithinMS int    `json:"within_ms,omitempty" min:"1" max:"600000" description:"In how many milliseconds it must answer"`
	Trials   int    `json:"trials,omitempty" min:"1" max:"5" description:"How often each test of the flow is asked from now on; all trials must pass"`
}

// SuiteRow is one stored test.
type SuiteRow struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Expect   string `json:"expect"`
	Source   string `json:"source"`
}

// Suite are the tests stored for a flow.
type Suite struct {
	Instance     string     `json:"instance"`
	ChatflowID   string     `json:"chatflow_id"`
	DomainScopes []string   `json:"domain_scopes"`
	Tests        []SuiteRow `json:"integration_tests"`
	Trials       int        `json:"trials"`
	// Test is the id of the test that was added or removed.
	Test string `json:"test"`
	// Found reports for a look-up that the test exists.
	Found bool `json:"found"`
}

// Summary reports their number.
func (s Suite) Summary() string {
	if len(s.Tests) == 0 {
		return "no tests are kept"
	}
	return fmt.Sprintf("%s kept; each is asked before a change of the flow is approved, and must pass %s", present.Count(len(s.Tests), "test"), present.Count(s.Trials, "time"))
}

func suiteOf(call domainkit.Call, id string, k Kept, test string) Suite {
	out := Suite{Instance: call.Instance, ChatflowID: id, DomainScopes: k.DomainScopes, Tests: []SuiteRow{}, Trials: k.Trials, Test: test}
	for _, t := range k.Tests {
		var expect []string
		for _, a := range t.Assertions {
			expect = append(expect, strings.TrimSpace(fmt.Sprintf("%s %s", a.Type, a.Value)))
		}
		out.Found = out.Found || t.ID == test
		out.Tests = append(out.Tests, SuiteRow{t.ID, present.Clip(t.Question, 120), present.Clip(strings.Join(expect, ", "), 120), t.Source})
	}
	return out
}

func (k *Asker) kept(ctx context.Context, call domainkit.Call, id string) (Kept, error) {
	body, err := k.site.Data.Suite(ctx, call.Instance, id)
	if err != nil {
		return Kept{}, err
	}
	return ReadKept(body)
}

// changeSuite changes the stored suite in one transaction.
func (k *Asker) changeSuite(ctx context.Context, call domainkit.Call, id string, change func(Kept) (Kept, error)) (Kept, error) {
	var out Kept
	err := k.site.Data.ChangeSuite(ctx, call.Instance, id, func(body []byte) ([]byte, error) {
		had, err := ReadKept(body)
		if err != nil {
			return nil, err
		}
		if out, err = change(had); err != nil {
			return nil, err
		}
		if len(out.Tests) > MaxKept {
			return nil, domainkit.Refusef(contracts.ErrPrecondition, "a flow can have %d tests; remove one first", MaxKept)
		}
		return json.Marshal(out)
	})
	return out, err
}

// addTest stores a test; an identical one is stored once.
func (k *Asker) addTest(ctx context.Context, call domainkit.Call, in NewTest) (Suite, error) {
	if _, err := k.site.Flow(ctx, call, in.ChatflowID); err != nil {
		return Suite{}, err
	}
	assertions := []Assertion{{Type: Answered}}
	add := func(kind, value string) {
		if value != "" {
			assertions = append(assertions, Assertion{Type: kind, Value: value})
		}
	}
	add(Contains, in.Contains)
	add(NotContains, in.Lacks)
	add(UsesTool, in.UsesTool)
	if in.WithinMS > 0 {
		assertions = append(assertions, Assertion{Type: MaxLatency, Bound: in.WithinMS})
	}
	id := ""
	after, err := k.changeSuite(ctx, call, in.ChatflowID, func(had Kept) (out Kept, err error) {
		out, id, _ = had.With(in.Question, assertions, "a person")
		out.Trials = cmp.Or(in.Trials, out.Trials)
		return out, nil
	})
	return suiteOf(call, in.ChatflowID, after, id), err
}

// Conversations selects the questions that become tests.
type Conversations struct {
	site.FlowRef
	Last int `json:"last" default:"5" min:"1" max:"20" description:"How many of the last questions"`
}

// keepConversations stores tests for the last questions of people. They only assert that there is
// an answer; a person may add what it must contain.
func (k *Asker) keepConversations(ctx context.Context, call domainkit.Call, in Conversations) (Suite, error) {
	rows, err := k.messages(ctx, call, in.ChatflowID, time.Time{})
	if err != nil {
		return Suite{}, err
	}
	var asked []string
	for i := len(rows) - 1; i >= 0 && len(asked) < in.Last; i-- {
		if said := strings.TrimSpace(flow.Hide(rows[i].Content)); rows[i].Role == api.RoleUser && said != "" && !strings.HasPrefix(rows[i].ChatID, "test-") {
			asked = append(asked, present.Clip(said, 2000))
		}
	}
	if len(asked) == 0 {
		return Suite{}, domainkit.Refusef(contracts.ErrPrecondition, "nobody has asked it anything yet")
	}
	id := ""
	after, err := k.changeSuite(ctx, call, in.ChatflowID, func(had Kept) (Kept, error) {
		for _, question := range asked {
			had, id, _ = had.With(question, []Assertion{{Type: Answered}}, "a conversation")
		}
		return had, nil
	})
	return suiteOf(call, in.ChatflowID, after, id), err
}

func (k *Asker) listTests(ctx context.Context, call domainkit.Call, in site.FlowRef) (Suite, error) {
	had, err := k.kept(ctx, call, in.ChatflowID)
	return suiteOf(call, in.ChatflowID, had, ""), err
}

// OneTest identifies a stored test.
type OneTest struct {
	site.FlowRef
	Test string `json:"test" min:"1" max:"40" description:"Which test, by its id such as t1a2b3c4"`
}

func (k *Asker) findTest(ctx context.Context, call domainkit.Call, in OneTest) (Suite, error) {
	had, err := k.kept(ctx, call, in.ChatflowID)
	return suiteOf(call, in.ChatflowID, had, in.Test), err
}

// removeTest removes a test; an unknown one is ignored.
func (k *Asker) removeTest(ctx context.Context, call domainkit.Call, in OneTest) (Suite, error) {
	after, err := k.changeSuite(ctx, call, in.ChatflowID, func(had Kept) (Kept, error) {
		out, _ := had.Without(in.Test)
		return out, nil
	})
	return suiteOf(call, in.ChatflowID, after, in.Test), err
}

// Trials of a suite before an approval.
const (
	// trialTime is the timeout of all trials; tests not asked by then count as not tried.
	trialTime = 20 * time.Second
	// trialsKept is how many reports are cached: a proposal is made several times.
	trialsKept = 256
)

// Trial runs a flow's stored tests against the graph that a write would give it, and describes the
// result, or returns "" if there are no tests. A graph that is not on the server yet is tested as a
// temporary copy there.
func (k *Asker) Trial(ctx context.Context, call domainkit.Call, f api.Flow, next string) (string, error) {
	had, err := k.kept(ctx, call, f.ID)
	if err != nil || len(had.Cases()) == 0 {
		return "", err
	}
	key := call.Instance + site.HashOf(next) + had.Hash()
	if said, known := k.tried.get(key); known {
		return said, nil
	}
	bounded, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	said, err := k.trial(bounded, call, f, next, had)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Sprintf("its tests were not done within %s", trialTime), nil
	}
	if refusal, refused := errors.AsType[*contracts.ToolError](err); refused {
		return "its tests were not run: " + present.Clip(refusal.Message, 120), nil
	}
	if err != nil {
		return "", err
	}
	k.tried.put(key, said)
	return said, nil
}

func (k *Asker) trial(ctx context.Context, call domainkit.Call, f api.Flow, next string, had Kept) (string, error) {
	id := f.ID
	if next != f.FlowData {
		client, err := k.site.Pool.Client(call.Instance)
		if err != nil {
			return "", site.Failure(err)
		}
		g, err := flow.Decompile([]byte(next))
		if err != nil {
			return "", site.Unreadable(err)
		}
		// A flow that must not be asked is not copied either.
		if err := k.rules.Harmless(ctx, call, f, g); err != nil {
			return "", err
		}
		id = site.KeyedID("trial", call.Instance, call.RunID+call.NodeID+f.ID+site.HashOf(next))
		if _, err := client.CreateFlow(ctx, api.NewFlow{ID: id, Name: site.TrialPrefix + present.Clip(f.Name, 120), Type: f.Type, FlowData: next}); err != nil {
			return "", site.Failure(err)
		}
		defer func() {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer cancel()
			if err := client.DeleteFlow(late, id); err != nil && !api.IsKind(err, api.KindNotFound) {
				k.site.Log.WarnContext(late, "a copy for tests was left behind", slog.String("chatflow_id", id), slog.String("error", flow.Hide(err.Error())))
			}
		}()
	}
	done, err := k.testChatflow(ctx, call, TestRun{FlowRef: site.FlowRef{Place: site.Place{Instance: call.Instance}, ChatflowID: id}, Cases: had.Cases(), Trials: max(1, had.Trials)})
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("tests: %d of %d pass", done.Facts.Passed, done.Facts.Passed+done.Facts.Failed)
	for _, c := range done.Facts.Cases {
		if !c.OK && len(c.Problems) > 0 {
			return fmt.Sprintf("%s, not %s (%s)", said, present.Clip(c.Name, 60), present.Clip(c.Problems[0], 60)), nil
		}
	}
	return said, nil
}

// keeping is the metadata of a change of the tests: they are stored in this domain and not in
// Flowise, and a retry has no further effect.
func keeping(undo string) contracts.Metadata {
	yes := any(true)
	md := contracts.Metadata{
		SideEffectClass: contracts.ClassWriteReversible, ExecutionMode: contracts.ModeSequential, Idempotency: contracts.IdempotencyNatural,
		ApprovalRequired: new(false), RiskLevel: contracts.RiskLow, TimeoutMS: 30000, Locks: []string{"chatflow:{chatflow_id}"},
		Flow: &contracts.Flow{Pre: []contracts.PreStep{policy.ResolveFlow(false)}},
		Compensation: &contracts.CapabilityCall{Capability: undo, ParamMap: map[string]any{
			"chatflow_id": "${params.chatflow_id}", "instance": "${result.facts.instance}", "test": "${result.facts.test}",
		}},
		Verify: &contracts.VerifyRule{Capability: "find_test", WithinMS: 5000, ParamMap: map[string]any{
			"chatflow_id": "${params.chatflow_id}", "instance": "${result.facts.instance}", "test": "${result.facts.test}",
		}, Assertions: []contracts.Condition{{Path: "facts.found", Equals: &yes}}},
	}
	return md
}

// removing is the metadata of the removal of a test, which a person approves.
func removing() contracts.Metadata {
	no := any(false)
	md := keeping("")
	md.SideEffectClass, md.ApprovalRequired, md.Compensation = contracts.ClassWriteIrreversible, new(true), nil
	md.Verify.Assertions = []contracts.Condition{{Path: "facts.found", Equals: &no}}
	return md
}
