package agentserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// askIn is the input of ask.
type askIn struct {
	Message   string `json:"message" jsonschema:"what is asked for, or the answer to an open question, in the words of the person"`
	SessionID string `json:"session_id,omitempty" jsonschema:"go on with this session, such as to answer its question"`
}

// startIn is the input of run_start.
type startIn struct {
	Goal   string `json:"goal" jsonschema:"what is to be done, in the words of the person"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"read, and only pretend to write"`
}

// runIn names a run.
type runIn struct {
	RunID string `json:"run_id" jsonschema:"a run, as run_start or ask gave it"`
}

// Status is the structured content of tool results.
type Status struct {
	Status    string   `json:"status" jsonschema:"running, awaiting_approval, awaiting_answer, completed, failed, or the state of the run"`
	SessionID string   `json:"session_id,omitempty"`
	RunID     string   `json:"run_id,omitempty"`
	RunIDs    []string `json:"run_ids,omitempty"`
	// Gates are the codes of the open approvals, which a person decides in Manifold.
	Gates []string `json:"gates,omitempty" jsonschema:"codes of the approvals that a person has to give in Manifold"`
	// Facts are the facts of the run's calls, by node.
	Facts map[string]any `json:"facts,omitempty"`
	Tools []Step         `json:"steps,omitempty"`
}

// Step is one call of a run.
type Step struct {
	Node    string `json:"node"`
	Tool    string `json:"tool,omitempty"`
	State   string `json:"state"`
	Summary string `json:"summary,omitempty"`
	Error   string `json:"error,omitempty"`
}

// addRequests adds the tools that all callers have.
func (f *MCP) addRequests(server *mcp.Server) {
	yes, no := true, false
	asks := &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &yes}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no}
	add(f, server, &mcp.Tool{
		Name: "ask", Title: "Ask Manifold", Annotations: asks,
		Description: "Asks for something in words and waits a while for the answer. What would change something waits for a person's approval in Manifold first.",
	}, f.ask)
	add(f, server, &mcp.Tool{
		Name: "run_start", Title: "Start a run", Annotations: asks,
		Description: "Starts what is asked for in words and answers at once, with a run to look at by run_status. What would change something waits for a person's approval in Manifold.",
	}, f.start)
	add(f, server, &mcp.Tool{
		Name: "run_status", Title: "Where a run stands", Annotations: reads,
		Description: "Tells where a run stands, step by step, and what it waits for.",
	}, f.status)
	add(f, server, &mcp.Tool{
		Name: "run_result", Title: "What a run came to", Annotations: reads,
		Description: "Waits a while for a run to end, and gives its answer and what its calls found.",
	}, f.result)
}

// add registers a tool that returns text and a Status.
func add[In any](f *MCP, server *mcp.Server, tool *mcp.Tool, do func(context.Context, *client.Client, In) *mcp.CallToolResult) {
	mcp.AddTool(server, tool, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		api, err := f.caller(req.Extra)
		if err != nil {
			return failed(err), nil, nil
		}
		return do(ctx, api, in), nil, nil
	})
}

func (f *MCP) ask(ctx context.Context, api *client.Client, in askIn) *mcp.CallToolResult {
	var response contracts.SessionResponse
	var err error
	if in.SessionID == "" {
		response, err = api.StartSession(ctx, contracts.StartSession{Message: in.Message}, client.Opt{Wait: f.cfg.Wait})
	} else {
		var decided bool
		if decided, err = decides(ctx, api, in.SessionID, in.Message); decided {
			return failedf("A person has to approve or reject this in Manifold; no words of an agent do.")
		}
		if err == nil {
			response, err = api.Say(ctx, in.SessionID, in.Message, client.Opt{Wait: f.cfg.Wait})
		}
	}
	if err != nil {
		return failed(err)
	}
	return f.told(ctx, api, response)
}

// startWait is long enough to interpret and plan a request.
const startWait = 2 * time.Second

func (f *MCP) start(ctx context.Context, api *client.Client, in startIn) *mcp.CallToolResult {
	response, err := api.StartSession(ctx, contracts.StartSession{Message: in.Goal, DryRun: in.DryRun}, client.Opt{Wait: min(f.cfg.Wait, startWait)})
	if err != nil {
		return failed(err)
	}
	return f.told(ctx, api, response)
}

func (f *MCP) status(ctx context.Context, api *client.Client, in runIn) *mcp.CallToolResult {
	view, err := api.Run(ctx, in.RunID, client.Opt{})
	if err != nil {
		return failed(err)
	}
	s := statusOf(view)
	lines := []string{"The run is " + s.Status + "."}
	for _, step := range s.Tools {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("- %s %s: %s %s%s", step.Node, step.Tool, step.State, step.Summary, step.Error), " "))
	}
	return said(strings.Join(append(lines, questions(view.Interrupts, answerByAsk)...), "\n"), s, false)
}

func (f *MCP) result(ctx context.Context, api *client.Client, in runIn) *mcp.CallToolResult {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Wait)
	defer cancel()
	view, err := api.Run(ctx, in.RunID, client.Opt{Wait: f.cfg.Wait})
	for err == nil && pausing(view) && pause(ctx) {
		view, err = api.Run(ctx, in.RunID, client.Opt{Wait: f.cfg.Wait})
	}
	if err != nil {
		return failed(err)
	}
	return concluded(view)
}

// pausing reports whether a run waits for something other than a person, and so will continue without
// one.
func pausing(v contracts.RunView) bool {
	return v.State == contracts.RunWaiting && len(v.Interrupts) == 0
}

// pause waits 250 ms; it reports false if ctx has ended.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(250 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// concluded returns the result of a run with its facts.
func concluded(view contracts.RunView) *mcp.CallToolResult {
	s := statusOf(view)
	s.Facts = factsOf(view)
	text := append([]string{chat.Render(view.Answer)}, questions(view.Interrupts, answerByAsk)...)
	if view.Answer == nil {
		text[0] = "The run is " + s.Status + "."
		text = append(text, ids(s))
	}
	result := said(strings.Join(text, "\n\n"), s, view.State == contracts.RunFailed)
	result.Content = append(result.Content, links(view)...)
	return result
}

// told returns the state of a session.
func (f *MCP) told(ctx context.Context, api *client.Client, r contracts.SessionResponse) *mcp.CallToolResult {
	if n := len(r.RunIDs); n > 0 {
		if view, err := api.Run(ctx, r.RunIDs[n-1], client.Opt{}); err == nil && (view.Answer != nil || len(view.Interrupts) > 0) {
			return concluded(view)
		}
	}
	s := Status{Status: sessionStatus(r), SessionID: r.SessionID, RunIDs: r.RunIDs, Gates: gates(r.Interrupts)}
	if n := len(r.RunIDs); n > 0 {
		s.RunID = r.RunIDs[n-1]
	}
	text := append([]string{chat.Render(r.Answer)}, questions(r.Interrupts, answerByAsk)...)
	if r.Answer == nil && len(r.Interrupts) == 0 {
		text[0] = "It is " + s.Status + "; look again with run_status."
	}
	if r.Answer == nil || len(r.Interrupts) > 0 {
		text = append(text, ids(s))
	}
	return said(strings.TrimSpace(strings.Join(text, "\n\n")), s, r.Status == contracts.SessionError)
}

// ids returns the ids as text, for clients that ignore structured content.
func ids(s Status) string {
	var out []string
	if s.RunID != "" {
		out = append(out, "run_id: "+s.RunID)
	}
	if s.SessionID != "" {
		out = append(out, "session_id: "+s.SessionID)
	}
	return strings.Join(out, "\n")
}

func sessionStatus(r contracts.SessionResponse) string {
	switch {
	case len(gates(r.Interrupts)) > 0:
		return awaitingApproval
	case len(r.Interrupts) > 0:
		return awaitingAnswer
	case r.Status == contracts.SessionError:
		return "failed"
	}
	return string(r.Status)
}

const (
	awaitingApproval = "awaiting_approval"
	awaitingAnswer   = "awaiting_answer"
)

// statusOf returns the status of a run.
func statusOf(v contracts.RunView) Status {
	s := Status{Status: string(v.State), SessionID: v.SessionID, RunID: v.RunID, Gates: gates(v.Interrupts)}
	if v.State == contracts.RunWaiting && len(v.Interrupts) > 0 {
		s.Status = awaitingAnswer
	}
	if v.State == contracts.RunWaiting && len(s.Gates) > 0 {
		s.Status = awaitingApproval
	}
	for _, n := range v.Nodes {
		step := Step{Node: n.NodeID, Tool: cmp.Or(n.Tool, n.Title), State: string(n.State), Summary: n.Summary}
		if n.Error != nil {
			step.Error = n.Error.Message
		}
		s.Tools = append(s.Tools, step)
	}
	return s
}

// factsOf returns the facts of the run's calls, by node.
func factsOf(v contracts.RunView) map[string]any {
	out := map[string]any{}
	for _, n := range v.Nodes {
		if n.Tool != "" && len(n.Facts) > 0 {
			out[n.NodeID] = n.Facts
		}
	}
	return out
}

// gates returns the codes of the open approvals.
func gates(open []contracts.Interrupt) []string {
	var out []string
	for _, i := range open {
		if i.Type.IsGate() || i.Type == contracts.InterruptPlanApproval {
			out = append(out, i.Code)
		}
	}
	return out
}

const answerByAsk = "Answer it with ask, in the same session."

// questions describes the open interrupts, and how to answer a question. Approvals are only mentioned:
// they are given in Manifold.
func questions(open []contracts.Interrupt, how string) []string {
	var out []string
	for i := range open {
		if open[i].Type.IsGate() || open[i].Type == contracts.InterruptPlanApproval {
			out = append(out, approval(open[i]))
			continue
		}
		lines := []string{"Question: " + open[i].Prompt}
		for _, o := range open[i].Options {
			lines = append(lines, "- "+o.Label)
		}
		out = append(out, strings.Join(append(lines, how), "\n"))
	}
	return out
}

func approval(i contracts.Interrupt) string {
	lines := []string{"A person has to approve this in Manifold, code " + i.Code + ": " + gateview.Asks(i)}
	for _, row := range chat.GateRows(i) {
		lines = append(lines, "- "+row[0]+": "+row[1])
	}
	return strings.Join(lines, "\n")
}

// maxText bounds the text of one result, in bytes.
const maxText = 64 << 10

// said returns a tool result. Its text is complete, for clients that ignore structured content.
func said(text string, s any, bad bool) *mcp.CallToolResult {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "\n(cut off; the whole is in the resource of the run)"
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: s, IsError: bad}
}

func failed(err error) *mcp.CallToolResult { return failedf("%s", messageOf(err)) }

func failedf(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}, IsError: true}
}

// asText returns v as indented JSON.
func asText(v any) (string, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	return string(raw), err
}
