package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/workday/internal/rest"
)

// Tools are those of the server as a plan of several domains meets them: what there is for
// a flow, the ops that wire it, whether it is wired right, tests of it, and what their
// answers mean.
type Tools struct {
	// Server is nil where none is configured.
	Server *Server
	// Asker finds the worker who a principal is.
	Asker func(context.Context, contracts.Principal) (rest.Worker, bool, error)
	// Failure says what a failed call of the server means to the requester.
	Failure func(error) error
}

// Register adds the capabilities.
func (t Tools) Register(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "discover"}, t.discover),
		domainkit.Add(svc, domainkit.Capability{Name: "compile_ops"}, t.compileOps),
		domainkit.Add(svc, domainkit.Capability{Name: "validate"}, t.validate),
		domainkit.Add(svc, domainkit.Capability{Name: "generate_tests"}, t.generateTests),
		domainkit.Add(svc, domainkit.Capability{Name: "evaluate"}, evaluate),
	)
}

func (t Tools) served(ctx context.Context, actions []string) ([]agentTool, error) {
	tools, err := t.Server.served(ctx, actions)
	if err != nil {
		return nil, t.Failure(err)
	}
	return tools, nil
}

// Purpose is what a flow is for.
type Purpose struct {
	Goal string `json:"goal,omitempty" max:"4000" description:"What the flow shall do"`
}

// Offer is what Workday has for the agent of a flow.
type Offer struct {
	Server string   `json:"server"`
	Tools  []string `json:"tools"`
	// Missing is what an operator has to see to before a flow can use them.
	Missing []string `json:"missing"`
}

// Summary reports what is there, or what is missing.
func (o Offer) Summary() string {
	if len(o.Missing) > 0 {
		return "missing at Workday: " + strings.Join(o.Missing, "; ")
	}
	return fmt.Sprintf("%s has the tools %s", o.Server, strings.Join(o.Tools, ", "))
}

func (t Tools) discover(ctx context.Context, _ domainkit.Call, _ Purpose) (Offer, error) {
	if t.Server == nil {
		return Offer{Tools: []string{}, Missing: []string{noServer}}, nil
	}
	tools, err := t.served(ctx, mcpTools())
	return Offer{Server: t.Server.cfg.URL, Tools: toolNames(tools), Missing: []string{}}, err
}

// FlowGraph is the graph of a flow.
type FlowGraph struct {
	FlowData string `json:"flow_data" description:"The graph of a flow, as JSON text"`
}

// WiringFinding is something wrong with the tools of Workday in a graph.
type WiringFinding struct {
	Node    string `json:"node,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// WiringReport is what a check of a graph found.
type WiringReport struct {
	OK       bool            `json:"ok"`
	Nodes    []string        `json:"nodes"`
	Findings []WiringFinding `json:"findings"`
}

// Summary reports what is wrong first.
func (r WiringReport) Summary() string {
	if r.OK {
		return "the tools of Workday are wired right, at " + strings.Join(r.Nodes, ", ")
	}
	return r.Findings[0].Message
}

// validate checks the places of a graph that use this tenant's MCP server.
func (t Tools) validate(ctx context.Context, _ domainkit.Call, in FlowGraph) (WiringReport, error) {
	var graph struct {
		Nodes []struct {
			ID   string         `json:"id"`
			Data map[string]any `json:"data"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal([]byte(in.FlowData), &graph); err != nil {
		return WiringReport{}, domainkit.Refusef(contracts.ErrInvalidParameters, "flow_data is no graph in JSON: %v", err)
	}
	out := WiringReport{Nodes: []string{}, Findings: []WiringFinding{}}
	if t.Server == nil {
		out.Findings = append(out.Findings, WiringFinding{Message: "no flow can have Workday's tools: " + noServer, Fix: "start the service with --mcp-url"})
		return out, nil
	}
	tools, err := t.served(ctx, mcpTools())
	if err != nil {
		return WiringReport{}, err
	}
	for _, n := range graph.Nodes {
		for _, c := range connections(n.Data["inputs"]) {
			if c.URL != t.Server.cfg.URL {
				continue
			}
			if !slices.Contains(out.Nodes, n.ID) {
				out.Nodes = append(out.Nodes, n.ID)
			}
			out.Findings = append(out.Findings, c.faults(n.ID, toolNames(tools))...)
		}
	}
	if len(out.Nodes) == 0 {
		out.Findings = append(out.Findings, WiringFinding{Message: "no node of the flow uses " + t.Server.cfg.URL, Fix: "apply the ops of compile_ops"})
	}
	out.OK = len(out.Findings) == 0
	return out, nil
}

// connection is how a node reaches an MCP server.
type connection struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	actions []string
}

// connections are those that a value of a node holds, at any depth: a tool of its own, or
// one in an agent's list of tools.
func connections(v any) (out []connection) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, connections(item)...)
		}
	case map[string]any:
		if config, is := v["mcpServerConfig"]; is {
			var c connection
			if readEither(config, &c) {
				readEither(v["mcpActions"], &c.actions)
				out = append(out, c)
			}
		}
		for _, member := range v {
			out = append(out, connections(member)...)
		}
	}
	return out
}

// readEither reads a value that stands in a graph as JSON or as a text of JSON.
func readEither(v, out any) bool {
	text, is := v.(string)
	raw := []byte(text)
	if !is {
		raw, _ = json.Marshal(v) // it was read from JSON
	}
	return json.Unmarshal(raw, out) == nil
}

func (c connection) faults(node string, tools []string) (out []WiringFinding) {
	add := func(fix, format string, args ...any) {
		out = append(out, WiringFinding{Node: node, Message: node + ": " + fmt.Sprintf(format, args...), Fix: fix})
	}
	for _, action := range c.actions {
		if !slices.Contains(tools, action) {
			add("take one of "+strings.Join(tools, ", "), "Workday's MCP server has no tool %q", action)
		}
	}
	if len(c.actions) == 0 {
		add("name the tools in mcpActions", "none of Workday's tools is chosen")
	}
	switch token := c.Headers["Authorization"]; {
	case token == "":
		add("send the header Authorization: Bearer {{"+tokenVariable+"}}", "no token is sent to Workday")
	case !strings.Contains(token, "{{$vars."):
		add("put the token into the variable beartoken, and {{"+tokenVariable+"}} into the flow", "a token stands in the flow itself, where everybody who opens it reads it")
	}
	return out
}

// scope is what tests and their judgements are of.
const scope = "workday"

// TestWish says of which tools tests are wanted.
type TestWish struct {
	Goal    string   `json:"goal,omitempty" max:"4000" description:"What the flow shall do; the tools that it names are tested, all unless it names one"`
	Actions []string `json:"actions,omitempty" max:"3" description:"Tools of the blueprint, instead of those that the goal names"`
}

// FlowTest is a question to a flow, with what must hold of each answer.
type FlowTest struct {
	Name       string      `json:"name"`
	Domain     string      `json:"domain"`
	Kind       string      `json:"kind"`
	Question   string      `json:"question"`
	Assertions []Assertion `json:"assertions"`
}

// Assertion is one thing that must hold: the answer is there, contains a value, or was
// found by a tool.
type Assertion struct {
	Type  string `json:"type"`
	Value string `json:"value,omitempty"`
}

// The types of assertions.
const (
	isAnswered = "answered"
	isSaid     = "contains"
	isUsed     = "uses_tool"
)

// TestSuite are the tests of a flow that are about Workday. Each goes through the flow and
// ends in the tenant, so all are integration tests.
type TestSuite struct {
	DomainScopes     []string   `json:"domain_scopes"`
	Cases            []FlowTest `json:"cases"`
	IntegrationTests []FlowTest `json:"integration_tests"`
}

// Summary counts them.
func (s TestSuite) Summary() string {
	return fmt.Sprintf("%d tests of Workday's tools", len(s.IntegrationTests))
}

// generateTests asks for the requester, whose name and title he may see; of a person whom
// Workday does not know, only that the tool was used can be asserted.
func (t Tools) generateTests(ctx context.Context, call domainkit.Call, in TestWish) (TestSuite, error) {
	out := TestSuite{DomainScopes: []string{scope}, Cases: []FlowTest{}, IntegrationTests: []FlowTest{}}
	actions, err := chosenActions(Wiring{Goal: in.Goal, Actions: in.Actions})
	if err != nil || t.Server == nil { // without a server no flow has its tools
		return out, err
	}
	tools, err := t.served(ctx, actions)
	if err != nil {
		return TestSuite{}, err
	}
	me, known, err := t.Asker(ctx, call.Principal)
	if err != nil {
		return TestSuite{}, err
	}
	for i, action := range actions {
		question, title := "Which account do you use in Workday?", ""
		switch {
		case tools[i].Bare:
			continue // a flow has it not
		case action == toolMyInfo:
		case !known:
			question = "Look up in Workday who works here, and name one person."
		case action == toolSearch:
			question, title = "What is the business title of "+me.Descriptor+"? Look it up in Workday.", me.Title
		default:
			question, title = "What is the business title of the worker with the Workday ID "+me.ID+"?", me.Title
		}
		test := FlowTest{Name: "Workday: " + action, Domain: scope, Kind: "happy", Question: question, Assertions: []Assertion{{Type: isAnswered}, {isUsed, tools[i].Name}}}
		if title != "" {
			test.Assertions = append(test.Assertions, Assertion{isSaid, title})
		}
		out.IntegrationTests = append(out.IntegrationTests, test)
	}
	return out, nil
}

// Answers are what a test of a flow gave.
type Answers struct {
	Report []map[string]any `json:"report" max:"50" description:"What the test of the flow gave: its cases, and of each what every trial gave"`
}

// Verdict reports whether the tests about Workday passed, or what to mend.
type Verdict struct {
	Status   string `json:"status"`
	Category string `json:"category,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Fix      string `json:"fix,omitempty"`
}

// Evaluation is a judgement of the answers that are about Workday.
type Evaluation struct {
	DomainScopes []string `json:"domain_scopes"`
	OK           bool     `json:"ok"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Verdict      Verdict  `json:"verdict"`
}

// Summary reports how many passed and what to mend.
func (e Evaluation) Summary() string {
	text := fmt.Sprintf("%d of %d tests about Workday passed: %s", e.Passed, e.Passed+e.Failed, e.Verdict.Status)
	if e.Verdict.Reason != "" {
		text += fmt.Sprintf(" [%s] %s", e.Verdict.Category, e.Verdict.Reason)
	}
	return text
}

// tried is a case with what its trials gave, as far as a judgement needs it.
type tried struct {
	Case     FlowTest  `json:"case"`
	Outcomes []outcome `json:"outcomes"`
}

type outcome struct {
	Text  string   `json:"text"`
	Error string   `json:"error"`
	Tools []string `json:"tools"`
}

// evaluate judges the cases that are about Workday; the others are those of other domains.
func evaluate(_ context.Context, _ domainkit.Call, in Answers) (Evaluation, error) {
	var report []tried
	raw, err := json.Marshal(in.Report)
	if err == nil {
		err = json.Unmarshal(raw, &report)
	}
	if err != nil {
		return Evaluation{}, domainkit.Refusef(contracts.ErrInvalidParameters, "report is not what a test gives: %v", err)
	}
	out := Evaluation{DomainScopes: []string{scope}, Verdict: Verdict{Status: statusDone}}
	for _, r := range report {
		if r.Case.Domain != scope {
			continue
		}
		v := r.verdict()
		if v.Status == statusDone {
			out.Passed++
			continue
		}
		if out.Failed == 0 || v.Category == ofCredential { // the others follow from that
			out.Verdict = v
		}
		out.Failed++
	}
	if out.Passed+out.Failed == 0 {
		out.Verdict = iterate("INCOMPLETE", "no test was about Workday", "ask it what its tools are for; generate_tests has such questions")
	}
	out.OK = out.Failed == 0 && out.Passed > 0
	return out, nil
}

// The statuses of a verdict, and the category that is told before others.
const (
	statusDone   = "DONE"
	ofCredential = "CREDENTIAL"
)

func iterate(category, reason, fix string) Verdict {
	return Verdict{Status: "ITERATE", Category: category, Reason: reason, Fix: fix}
}

// verdict is that of one case, of the first trial that did not pass.
func (r tried) verdict() Verdict {
	if len(r.Outcomes) == 0 {
		return iterate("INCOMPLETE", r.Case.Name+": it was not tried", "test the flow again")
	}
	for _, o := range r.Outcomes {
		problem, fix := r.Case.problem(o)
		if text := o.Text + o.Error; problem != "" && (strings.Contains(text, "invalid_token") || strings.Contains(text, "401")) {
			return iterate(ofCredential, r.Case.Name+": Workday does not take the token of the flow", "put a fresh access token into the variable beartoken")
		}
		if problem != "" {
			return iterate("LOGIC", r.Case.Name+": "+problem, fix)
		}
	}
	return Verdict{Status: statusDone}
}

// problem is what does not hold of an answer, and what mends that; "" if all holds.
func (t FlowTest) problem(o outcome) (problem, fix string) {
	if o.Error != "" {
		return o.Error, "look at what the flow's own domain says of it"
	}
	for _, a := range t.Assertions {
		switch {
		case a.Type == isUsed && !slices.Contains(o.Tools, a.Value):
			return "the tool " + a.Value + " was not used", "tell the agent in its prompt to look people up in Workday"
		case a.Type == isSaid && !strings.Contains(strings.ToLower(o.Text), strings.ToLower(a.Value)):
			return fmt.Sprintf("the answer does not say %q", a.Value), "compare the answer with what the tool gave"
		case a.Type == isAnswered && strings.TrimSpace(o.Text) == "":
			return "the answer is empty", "tell the agent in its prompt to answer with what it found"
		}
	}
	return "", ""
}
