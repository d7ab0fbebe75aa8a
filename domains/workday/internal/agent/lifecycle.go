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

// Tools are the capabilities by which plans across domains use the MCP server's tools: discover
// them for a flow, compile the ops that wire them, validate the wiring, generate tests and evaluate
// their results.
type Tools struct {
	// Server is nil if none is configured.
	Server *Server
	// Asker returns the worker of a principal.
	Asker func(context.Context, contracts.Principal) (rest.Worker, bool, error)
	// Failure converts the error of a call to the server for the requester.
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

// Purpose is the purpose of a flow.
type Purpose struct {
	Goal string `json:"goal,omitempty" max:"4000" description:"What the flow shall do"`
}

// Offer describes what Workday offers the agent of a flow.
type Offer struct {
	Server string   `json:"server"`
	Tools  []string `json:"tools"`
	// Missing lists what an operator must configure before a flow can use the tools.
	Missing []string `json:"missing"`
}

// Summary reports the tools, or what is missing.
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

// WiringFinding is a fault in the wiring of Workday's tools in a graph.
type WiringFinding struct {
	Node    string `json:"node,omitempty"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// WiringReport is the result of validating a graph.
type WiringReport struct {
	OK       bool            `json:"ok"`
	Nodes    []string        `json:"nodes"`
	Findings []WiringFinding `json:"findings"`
}

// Summary reports the first fault, if any.
func (r WiringReport) Summary() string {
	if r.OK {
		return "the tools of Workday are wired right, at " + strings.Join(r.Nodes, ", ")
	}
	return r.Findings[0].Message
}

// validate checks every use of this tenant's MCP server in a graph.
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

// connection is a node's configuration of an MCP server.
type connection struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	actions []string
}

// connections returns the connections in a value of a node, at any depth: of a tool node, or of an
// item in an agent's list of tools.
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

// readEither decodes a value that a graph holds as JSON or as a string of JSON.
func readEither(v, out any) bool {
	text, is := v.(string)
	raw := []byte(text)
	if !is {
		raw, _ = json.Marshal(v) // decoded from JSON, so it never fails
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

// scope is the domain scope of tests and evaluations.
const scope = "workday"

// TestWish are the parameters of generate_tests.
type TestWish struct {
	Goal    string   `json:"goal,omitempty" max:"4000" description:"What the flow shall do; the tools that it names are tested, all unless it names one"`
	Actions []string `json:"actions,omitempty" max:"3" description:"Tools of the blueprint, instead of those that the goal names"`
}

// FlowTest is a question to a flow with assertions on each answer.
type FlowTest struct {
	Name       string      `json:"name"`
	Domain     string      `json:"domain"`
	Kind       string      `json:"kind"`
	Question   string      `json:"question"`
	Assertions []Assertion `json:"assertions"`
}

// Assertion is a condition: the flow answered, the answer contains a value, or it used a tool.
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

// TestSuite holds the tests of a flow that concern Workday. All are integration tests, because each
// runs the flow and calls the tenant.
type TestSuite struct {
	DomainScopes     []string   `json:"domain_scopes"`
	Cases            []FlowTest `json:"cases"`
	IntegrationTests []FlowTest `json:"integration_tests"`
}

// Summary reports their number.
func (s TestSuite) Summary() string {
	return fmt.Sprintf("%d tests of Workday's tools", len(s.IntegrationTests))
}

// generateTests generates questions about the requester, who may see their own name and title. If
// Workday does not know the requester, the tests only assert that the tool was used.
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
			continue // flows do not have this tool
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

// Answers are the results of a test of a flow.
type Answers struct {
	Report []map[string]any `json:"report" max:"50" description:"What the test of the flow gave: its cases, and of each what every trial gave"`
}

// Verdict says whether the Workday tests passed, or what to fix.
type Verdict struct {
	Status   string `json:"status"`
	Category string `json:"category,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Fix      string `json:"fix,omitempty"`
}

// Evaluation is the evaluation of the results that concern Workday.
type Evaluation struct {
	DomainScopes []string `json:"domain_scopes"`
	OK           bool     `json:"ok"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Verdict      Verdict  `json:"verdict"`
}

// Summary reports the number of passed tests and what to fix.
func (e Evaluation) Summary() string {
	text := fmt.Sprintf("%d of %d tests about Workday passed: %s", e.Passed, e.Passed+e.Failed, e.Verdict.Status)
	if e.Verdict.Reason != "" {
		text += fmt.Sprintf(" [%s] %s", e.Verdict.Category, e.Verdict.Reason)
	}
	return text
}

// tried is a test case with the results of its trials.
type tried struct {
	Case     FlowTest  `json:"case"`
	Outcomes []outcome `json:"outcomes"`
}

type outcome struct {
	Text  string   `json:"text"`
	Error string   `json:"error"`
	Tools []string `json:"tools"`
}

// evaluate evaluates the cases that concern Workday and ignores those of other domains.
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
		if out.Failed == 0 || v.Category == ofCredential { // the other failures follow from it
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

// The statuses of a verdict, and the category that is reported first.
const (
	statusDone   = "DONE"
	ofCredential = "CREDENTIAL"
)

func iterate(category, reason, fix string) Verdict {
	return Verdict{Status: "ITERATE", Category: category, Reason: reason, Fix: fix}
}

// verdict returns the verdict of one case, from its first failed trial.
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

// problem returns which assertion fails and how to fix it, or "" if all hold.
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
