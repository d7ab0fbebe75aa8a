package ask

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// TestWish says for what tests are wanted.
type TestWish struct {
	site.FlowRef
	Criteria []string `json:"criteria,omitempty" max:"10" description:"What success means, such as: answers with \"Pong\""`
}

// TestSuite is a set of test cases. Of the domains of a plan each makes one: what a flow
// can be asked about itself are cases, what goes through it to another system are
// integration tests, which the domain of that system makes.
type TestSuite struct {
	ChatflowID       string   `json:"chatflow_id"`
	DomainScopes     []string `json:"domain_scopes"`
	Cases            []Case   `json:"cases"`
	IntegrationTests []Case   `json:"integration_tests"`
	Happy            int      `json:"happy"`
	Edge             int      `json:"edge"`
}

// Summary reports how many there are.
func (t TestSuite) Summary() string {
	return fmt.Sprintf("%s: %d happy, %d edge", present.Count(len(t.Cases), "test case"), t.Happy, t.Edge)
}

func (k *Asker) generateTests(ctx context.Context, call domainkit.Call, in TestWish) (TestSuite, error) {
	f, g, err := k.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return TestSuite{}, err
	}
	return generated(f, g, in.Criteria), nil
}

// generated makes the cases for a graph that was read.
func generated(f api.Flow, g *flow.Graph, criteria []string) TestSuite {
	out := TestSuite{ChatflowID: f.ID, DomainScopes: []string{Scope}, Cases: Generate(g, criteria), IntegrationTests: []Case{}}
	for _, c := range out.Cases {
		if c.Kind == Happy {
			out.Happy++
		} else {
			out.Edge++
		}
	}
	return out
}

// TestRun describes what to test.
type TestRun struct {
	site.FlowRef
	Cases    []Case   `json:"cases,omitempty" max:"20" description:"The test cases; those that are kept beside the flow unless given, or generated ones"`
	Criteria []string `json:"criteria,omitempty" max:"10" description:"What success means, for generated cases"`
	// IntegrationTests are asked beside the others.
	IntegrationTests []Case `json:"integration_tests,omitempty" max:"20" description:"Tests that other domains made of the flow, asked beside the cases"`
	// Questions bounds how many of them are asked.
	Questions int `json:"questions,omitempty" min:"1" max:"20" description:"How many questions to ask; all of the cases unless given"`
	Trials    int `json:"trials" default:"1" min:"1" max:"5" description:"How often each case is tried; all trials must pass"`
}

// TestReport is what tests showed.
type TestReport struct {
	ChatflowID string `json:"chatflow_id"`
	// DomainScopes are the domains that the cases are about.
	DomainScopes []string `json:"domain_scopes"`
	OK           bool     `json:"ok"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Trials       int      `json:"trials"`
	Cases        []Judged `json:"cases"`
	Verdict      Verdict  `json:"verdict"`
	// TookMS is how long all of them took, side by side.
	TookMS int64 `json:"took_ms,omitempty"`
}

// Summary reports how many passed and what to mend.
func (t TestReport) Summary() string {
	text := fmt.Sprintf("%d of %d cases passed: %s", t.Passed, t.Passed+t.Failed, t.Verdict.Status)
	if t.Verdict.Status == Iterate {
		text = fmt.Sprintf("%d of %d cases passed; %s; %s", t.Passed, t.Passed+t.Failed, present.Clip(t.Verdict.Reason, 130), Advice(t.Verdict.Category, t.Verdict.Reason))
	}
	return present.Clip(text, 290)
}

// testAtOnce bounds the predictions of one test; the client bounds all.
const testAtOnce = 8

// testChatflow asks every question as often as wanted, in parallel, each in a
// conversation of its own.
func (k *Asker) testChatflow(ctx context.Context, call domainkit.Call, in TestRun) (domainkit.Result[TestReport], error) {
	none := domainkit.Result[TestReport]{}
	client, err := k.site.Pool.Client(call.Instance)
	if err != nil {
		return none, site.Failure(err)
	}
	f, g, err := k.site.GraphOf(ctx, call, in.ChatflowID)
	if err != nil {
		return none, err
	}
	if _, form := flow.FormOf(g); form {
		return none, domainkit.Refusef(site.ErrFormNeeded, "%s begins with a form, and test cases are questions; predict_chatflow takes a form", present.Clip(f.Name, 80))
	}
	if err := k.rules.Harmless(ctx, call, f, g); err != nil {
		return none, err
	}
	if len(in.Cases) == 0 && len(in.Criteria) == 0 {
		had, err := k.kept(ctx, call, in.ChatflowID)
		if err != nil {
			return none, err
		}
		in.Cases, in.Trials = had.Cases(), max(in.Trials, had.Trials)
	}
	if len(in.Cases) == 0 {
		in.Cases = generated(f, g, in.Criteria).Cases
	}
	in.Cases = slices.Concat(in.Cases, in.IntegrationTests)
	if in.Questions > 0 {
		in.Cases = in.Cases[:min(in.Questions, len(in.Cases))]
	}
	begun := time.Now()
	wait := waitFor(ctx)
	var silent atomic.Bool // some question got no answer, and so would the others
	results := make([]Result, len(in.Cases))
	var group errgroup.Group
	group.SetLimit(testAtOnce)
	for i, c := range in.Cases {
		results[i] = Result{Case: c, Outcomes: make([]Outcome, in.Trials)}
		for trial := range in.Trials {
			session := fmt.Sprintf("test-%s-%s-%d-t%d", call.RunID, call.NodeID, i, trial)
			group.Go(func() error {
				if silent.Load() {
					results[i].Outcomes[trial] = Outcome{Error: "it was not asked, since another question got no answer"}
					return nil
				}
				bounded, cancel := context.WithTimeout(ctx, wait)
				defer cancel()
				out := try(bounded, client, in.ChatflowID, session, c.Question)
				if bounded.Err() != nil && ctx.Err() == nil {
					silent.Store(true)
					out.Error = fmt.Sprintf("it gave no answer within %s", wait.Round(time.Second))
				}
				results[i].Outcomes[trial] = out
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return none, err
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	said := report(in.ChatflowID, in.Trials, results)
	said.TookMS = time.Since(begun).Milliseconds()
	return domainkit.Result[TestReport]{
		Facts: said, Artifacts: map[string]any{"test_report": results},
	}, nil
}

// waitFor is how long a test waits for one answer: a share of what the whole test has, so
// that a flow that never answers is reported within that time.
func waitFor(ctx context.Context) time.Duration {
	wait := time.Minute
	if deadline, has := ctx.Deadline(); has {
		wait = min(wait, time.Until(deadline)/3)
	}
	return wait
}

func try(ctx context.Context, client *api.Client, id, session, question string) Outcome {
	begun := time.Now()
	got, err := client.Predict(ctx, id, api.Question{Question: question, ChatID: session})
	out := Outcome{LatencyMS: time.Since(begun).Milliseconds(), Text: got.Text, Tools: toolsOf(got), Raw: got.Raw}
	if err != nil {
		out.Error = flow.Hide(err.Error())
		if e, is := api.AsError(err); is {
			out.Error = flow.Hide(e.Reason())
		}
	}
	return out
}

// report judges results; what does not fit is cut, the counts stay.
func report(id string, trials int, results []Result) TestReport {
	cases := make([]Case, len(results))
	for i := range results {
		cases[i] = results[i].Case
	}
	out := TestReport{ChatflowID: id, DomainScopes: Scopes(cases), Trials: trials, Cases: Judgements(results)}
	out.Verdict = Conclude(out.Cases)
	out.Verdict.Reason = present.Clip(out.Verdict.Reason, 300)
	for i := range out.Cases {
		if out.Cases[i].OK {
			out.Passed++
		} else {
			out.Failed++
		}
		problems := out.Cases[i].Problems[:min(3, len(out.Cases[i].Problems))]
		for j := range problems {
			problems[j] = present.Clip(problems[j], 160)
		}
		out.Cases[i].Problems = problems
	}
	out.OK = out.Failed == 0 && out.Passed > 0
	return out
}

// Evaluation is a test report to judge again, by other assertions if given.
type Evaluation struct {
	ChatflowID string      `json:"chatflow_id,omitempty" description:"Which chatflow"`
	Report     []Result    `json:"report" max:"50" description:"The artifact test_report of test_chatflow"`
	Assertions []Assertion `json:"assertions,omitempty" max:"20" description:"Assertions to judge every happy case by, besides its own"`
}

// evaluateChatflow judges answers that were given; it asks nobody.
func (*Asker) evaluateChatflow(_ context.Context, _ domainkit.Call, in Evaluation) (TestReport, error) {
	trials := 0
	for i := range in.Report {
		if in.Report[i].Case.Kind == Happy {
			in.Report[i].Case.Assertions = append(in.Report[i].Case.Assertions, in.Assertions...)
		}
		trials = max(trials, len(in.Report[i].Outcomes))
	}
	return report(in.ChatflowID, trials, in.Report), nil
}

// evaluate judges those answers of a test that are about the flow itself, as a step that
// all domains of a plan do: each judges its own.
func (k *Asker) evaluate(ctx context.Context, call domainkit.Call, in Evaluation) (TestReport, error) {
	in.Report = slices.DeleteFunc(in.Report, func(r Result) bool { return r.Case.Scope() != Scope })
	return k.evaluateChatflow(ctx, call, in)
}
