package flowise

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/suite"
)

// Question is what to ask a chatflow.
type Question struct {
	FlowRef
	Question  string         `json:"question" min:"1" max:"20000" description:"What to ask it"`
	SessionID string         `json:"session_id,omitempty" max:"200" description:"Conversation to continue"`
	Stream    bool           `json:"stream,omitempty" description:"Let the answer come in pieces, where the flow can"`
	Override  map[string]any `json:"override_config,omitempty" description:"Inputs of nodes to replace, where the flow permits it"`
}

// Answer is what a chatflow said.
type Answer struct {
	ChatflowID string `json:"chatflow_id"`
	Answer     string `json:"answer"`
	SessionID  string `json:"session_id"`
	// MessageID is that of the answer in the flow's history.
	MessageID string   `json:"message_id"`
	Tools     []string `json:"tools"`
	Streamed  bool     `json:"streamed"`
	Pieces    int      `json:"pieces"`
	LatencyMS int64    `json:"latency_ms"`
}

// Summary is what it said, shortened.
func (a Answer) Summary() string { return clip(a.Answer, 280) }

// maxAnswer bounds the answer in the facts; the artifact has the whole.
const maxAnswer = 8000

func (d *domain) predictChatflow(ctx context.Context, call domainkit.Call, in Question) (domainkit.Result[Answer], error) {
	none := domainkit.Result[Answer]{}
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return none, failure(err)
	}
	f, err := d.flow(ctx, call, in.ChatflowID)
	if err != nil {
		return none, err
	}
	if err := d.harmless(ctx, call, f); err != nil {
		return none, err
	}
	out, err := ask(ctx, client, in, api.Question{Question: in.Question, ChatID: in.SessionID, Override: in.Override})
	if err != nil {
		return none, notAnswered(err)
	}
	return out, nil
}

// ask sends a question once, whole or in pieces as is wished.
func ask(ctx context.Context, client *api.Client, in Question, q api.Question) (domainkit.Result[Answer], error) {
	begun, pieces := time.Now(), 0
	var got api.Answer
	var err error
	if in.Stream {
		got, err = client.Stream(ctx, in.ChatflowID, q, func(e api.Event) error {
			if e.Name == "token" {
				pieces++
			}
			return nil
		})
	} else {
		got, err = client.Predict(ctx, in.ChatflowID, q)
	}
	if err != nil {
		return domainkit.Result[Answer]{}, err
	}
	out := Answer{
		ChatflowID: in.ChatflowID, Answer: clipLong(got.Text, maxAnswer), SessionID: got.SessionID, MessageID: got.ChatMessageID,
		Tools: toolsOf(got), Streamed: got.Streamed, Pieces: pieces, LatencyMS: time.Since(begun).Milliseconds(),
	}
	return domainkit.Result[Answer]{Facts: out, Artifacts: map[string]any{"answer": got}}, nil
}

// notAnswered is never retried: the flow may have acted on the world before it
// failed.
func notAnswered(err error) error {
	e, is := api.AsError(err)
	if !is {
		return failure(err)
	}
	refusal, said := errors.AsType[*contracts.ToolError](failure(err))
	if !said {
		return failure(err)
	}
	refusal.Retryable = e.Kind == api.KindBusy
	if e.Kind == api.KindFailed {
		refusal.Message = "the flow failed: " + e.Reason()
		verdict := suite.Conclude([]suite.Judged{{Name: "prediction", Trials: 1, Problems: []string{e.Reason()}}})
		refusal.Detail = map[string]any{"category": verdict.Category, "fix": verdict.Fix}
	}
	return refusal
}

// toolsOf lists the tools that were used on the way to an answer.
func toolsOf(a api.Answer) []string {
	out := []string{}
	for _, t := range a.UsedTools {
		out = append(out, t.Tool)
	}
	return out
}

// TestWish says for what tests are wanted.
type TestWish struct {
	FlowRef
	Criteria []string `json:"criteria,omitempty" max:"10" description:"What success means, such as: answers with \"Pong\""`
}

// TestSuite is a set of test cases.
type TestSuite struct {
	ChatflowID string       `json:"chatflow_id"`
	Cases      []suite.Case `json:"cases"`
	Happy      int          `json:"happy"`
	Edge       int          `json:"edge"`
}

// Summary says how many there are.
func (t TestSuite) Summary() string {
	return fmt.Sprintf("%s: %d happy, %d edge", count(len(t.Cases), "test case"), t.Happy, t.Edge)
}

func (d *domain) generateTests(ctx context.Context, call domainkit.Call, in TestWish) (TestSuite, error) {
	f, err := d.flow(ctx, call, in.ChatflowID)
	if err != nil {
		return TestSuite{}, err
	}
	g, err := flow.Decompile([]byte(f.FlowData))
	if err != nil {
		return TestSuite{}, unreadable(err)
	}
	out := TestSuite{ChatflowID: f.ID, Cases: suite.Generate(g, in.Criteria)}
	for _, c := range out.Cases {
		if c.Kind == suite.Happy {
			out.Happy++
		} else {
			out.Edge++
		}
	}
	return out, nil
}

// TestRun says what to test.
type TestRun struct {
	FlowRef
	Cases    []suite.Case `json:"cases,omitempty" max:"20" description:"The test cases; generated unless given"`
	Criteria []string     `json:"criteria,omitempty" max:"10" description:"What success means, for generated cases"`
	Trials   int          `json:"trials" default:"1" min:"1" max:"5" description:"How often each case is tried; all trials must pass"`
}

// TestReport is what tests showed.
type TestReport struct {
	ChatflowID string         `json:"chatflow_id"`
	OK         bool           `json:"ok"`
	Passed     int            `json:"passed"`
	Failed     int            `json:"failed"`
	Trials     int            `json:"trials"`
	Cases      []suite.Judged `json:"cases"`
	Verdict    suite.Verdict  `json:"verdict"`
}

// Summary says how many passed and what to mend.
func (t TestReport) Summary() string {
	text := fmt.Sprintf("%d of %d cases passed: %s", t.Passed, t.Passed+t.Failed, t.Verdict.Status)
	if t.Verdict.Status == suite.Iterate {
		text += fmt.Sprintf(" [%s] %s", t.Verdict.Category, t.Verdict.Reason)
	}
	return text
}

// testAtOnce bounds the predictions of one test; the client bounds all.
const testAtOnce = 8

// testChatflow asks every question as often as wanted, in parallel, each in a
// conversation of its own.
func (d *domain) testChatflow(ctx context.Context, call domainkit.Call, in TestRun) (domainkit.Result[TestReport], error) {
	none := domainkit.Result[TestReport]{}
	client, err := d.pool.Client(call.Instance)
	if err != nil {
		return none, failure(err)
	}
	f, err := d.flow(ctx, call, in.ChatflowID)
	if err != nil {
		return none, err
	}
	if err := d.harmless(ctx, call, f); err != nil {
		return none, err
	}
	if len(in.Cases) == 0 {
		made, err := d.generateTests(ctx, call, TestWish{in.FlowRef, in.Criteria})
		if err != nil {
			return none, err
		}
		in.Cases = made.Cases
	}
	results := make([]suite.Result, len(in.Cases))
	var group errgroup.Group
	group.SetLimit(testAtOnce)
	for i, c := range in.Cases {
		results[i] = suite.Result{Case: c, Outcomes: make([]suite.Outcome, in.Trials)}
		for trial := range in.Trials {
			session := fmt.Sprintf("test-%s-%s-%d-t%d", call.RunID, call.NodeID, i, trial)
			group.Go(func() error {
				results[i].Outcomes[trial] = try(ctx, client, in.ChatflowID, session, c.Question)
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
	return domainkit.Result[TestReport]{
		Facts: report(in.ChatflowID, in.Trials, results), Artifacts: map[string]any{"test_report": results},
	}, nil
}

func try(ctx context.Context, client *api.Client, id, session, question string) suite.Outcome {
	begun := time.Now()
	got, err := client.Predict(ctx, id, api.Question{Question: question, ChatID: session})
	out := suite.Outcome{LatencyMS: time.Since(begun).Milliseconds(), Text: got.Text, Tools: toolsOf(got), Raw: got.Raw}
	if err != nil {
		out.Error = err.Error()
		if e, is := api.AsError(err); is {
			out.Error = e.Reason()
		}
	}
	return out
}

// report judges results; what does not fit is cut, the counts stay.
func report(id string, trials int, results []suite.Result) TestReport {
	out := TestReport{ChatflowID: id, Trials: trials, Cases: suite.Judgements(results)}
	out.Verdict = suite.Conclude(out.Cases)
	out.Verdict.Reason = clip(out.Verdict.Reason, 300)
	for i := range out.Cases {
		if out.Cases[i].OK {
			out.Passed++
		} else {
			out.Failed++
		}
		problems := out.Cases[i].Problems[:min(3, len(out.Cases[i].Problems))]
		for j := range problems {
			problems[j] = clip(problems[j], 160)
		}
		out.Cases[i].Problems = problems
	}
	out.OK = out.Failed == 0 && out.Passed > 0
	return out
}

// Evaluation is a test report to judge again, by other assertions if given.
type Evaluation struct {
	ChatflowID string            `json:"chatflow_id,omitempty" description:"Which chatflow"`
	Report     []suite.Result    `json:"report" max:"50" description:"The artifact test_report of test_chatflow"`
	Assertions []suite.Assertion `json:"assertions,omitempty" max:"20" description:"Assertions to judge every happy case by, besides its own"`
}

// evaluateChatflow judges answers that were given; it asks nobody.
func (*domain) evaluateChatflow(_ context.Context, _ domainkit.Call, in Evaluation) (TestReport, error) {
	trials := 0
	for i := range in.Report {
		if in.Report[i].Case.Kind == suite.Happy {
			in.Report[i].Case.Assertions = append(in.Report[i].Case.Assertions, in.Assertions...)
		}
		trials = max(trials, len(in.Report[i].Outcomes))
	}
	return report(in.ChatflowID, trials, in.Report), nil
}
