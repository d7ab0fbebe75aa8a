package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/internal/bridge"
)

// Config configures a server, which has a URL or a command.
type Config struct {
	// URL is the server's streamable HTTP endpoint.
	URL  string
	HTTP bridge.HTTP
	// Tokens are sent with every request, if a person has logged in.
	Tokens *Tokens
	// Command starts a server that uses standard input and output. Its environment is only Env.
	Command []string
	Env     []string
	Dir     string
	// Protocol is the first protocol version to offer [the newest].
	Protocol string
	// MaxTools bounds the listed tools [10000].
	MaxTools int
	// Changed is called when the server reports that its tools have changed.
	Changed func()
	Logger  *slog.Logger
}

// connectTime bounds the time until a server is ready.
const connectTime = 30 * time.Second

// Server is an MCP server as a source. It connects on first use, and again after a connection is lost.
type Server struct {
	cfg    Config
	client *sdk.Client

	progress sync.Map // func(contracts.Progress) by progress token

	mu      sync.Mutex // held while connecting; guards the fields below
	session *session
	closed  bool
}

var _ bridge.Source = (*Server)(nil)

// New returns a source. It does not connect.
func New(cfg Config) (*Server, error) {
	if (cfg.URL == "") == (len(cfg.Command) == 0) {
		return nil, contracts.Errorf(contracts.CodeInvalid, "an MCP server has either a URL or a command")
	}
	cfg.MaxTools = cmp.Or(cfg.MaxTools, 10000)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	s := &Server{cfg: cfg}
	s.client = sdk.NewClient(&sdk.Implementation{Name: "manifold", Title: "Manifold", Version: "1"}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { cfg.Changed() },
		ElicitationHandler:     s.asked, ProgressNotificationHandler: s.progressed,
	})
	s.client.AddReceivingMiddleware(refuse)
	return s, nil
}

// refuse rejects what servers request from clients, with a reason.
func refuse(next sdk.MethodHandler) sdk.MethodHandler {
	words := map[string]string{
		"sampling/createMessage": "Manifold lends its model to no server",
		"roots/list":             "Manifold shows its folders to no server",
	}
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if why, ok := words[method]; ok {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: why}
		}
		return next(ctx, method, req)
	}
}

// asked answers a server's question during a call.
func (s *Server) asked(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	if session == nil || session.ClientSession != req.Session {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	return session.asked(req.Params), nil
}

// progressed passes the progress of a call on.
func (s *Server) progressed(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	if report, ok := s.progress.Load(req.Params.ProgressToken); ok {
		p := req.Params
		report.(func(contracts.Progress))(contracts.Progress{Done: p.Progress, Total: p.Total, Message: p.Message}) //nolint:forcetypeassert,errcheck // nothing else is stored
	}
}

// connected returns the session, after connecting if there is none.
func (s *Server) connected(ctx context.Context) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the bridge is closed")
	}
	if s.session != nil {
		return s.session, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	ctx, status := bridge.WithStatusRecorder(ctx)
	connection, err := s.client.Connect(ctx, s.transport(), &sdk.ClientSessionOptions{ProtocolVersion: s.cfg.Protocol})
	if err != nil {
		if status := status(); status.Failed() {
			return nil, status.Failure("the MCP server")
		}
		return nil, contracts.Errorf(contracts.CodeUnavailable, "the MCP server cannot be reached: %w", err)
	}
	s.session = newSession(connection)
	return s.session, nil
}

func (s *Server) transport() sdk.Transport {
	if s.cfg.URL != "" {
		client := s.cfg.HTTP.Client()
		if s.cfg.Tokens != nil {
			client.Transport = bearer{tokens: s.cfg.Tokens, next: client.Transport}
		}
		return &sdk.StreamableClientTransport{Endpoint: s.cfg.URL, HTTPClient: client, MaxRetries: -1, MaxEventSize: bridge.MaxAnswer}
	}
	cmd := exec.Command(s.cfg.Command[0], s.cfg.Command[1:]...) //nolint:gosec,noctx // an operator names the program; it lives as long as the session
	cmd.Env, cmd.Dir, cmd.Stderr = s.cfg.Env, s.cfg.Dir, logWriter{s.cfg.Logger}
	return &sdk.CommandTransport{Command: cmd}
}

// logWriter logs the standard error of a server.
type logWriter struct{ logger *slog.Logger }

// Write logs at the lowest level: a server may write received data there.
func (l logWriter) Write(p []byte) (int, error) {
	l.logger.Debug("the MCP server said", slog.String("text", contracts.CleanSummary(string(p))))
	return len(p), nil
}

// drop closes an unusable session.
func (s *Server) drop(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session {
		s.session = nil
		go func() { _ = session.Close() }() // a server that does not end is killed; no need to wait
	}
}

// Close closes the session, and ends the server if the bridge has started it.
func (s *Server) Close() error {
	s.mu.Lock()
	session := s.session
	s.session, s.closed = nil, true
	s.mu.Unlock()
	if session == nil {
		return nil
	}
	_ = session.Close() // errors at the end are of no use
	return nil
}

// Definitions lists the tools. After a lost session it tries once more.
func (s *Server) Definitions(ctx context.Context, _ *bridge.Select) ([]bridge.Definition, error) {
	out, err := s.list(ctx)
	if err != nil && ctx.Err() == nil {
		out, err = s.list(ctx)
	}
	return out, err
}

func (s *Server) list(ctx context.Context) ([]bridge.Definition, error) {
	session, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	if result := session.InitializeResult(); result != nil && result.Capabilities != nil && result.Capabilities.Tools == nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the MCP server has no tools")
	}
	ctx, status := bridge.WithStatusRecorder(ctx)
	var out []bridge.Definition
	params := &sdk.ListToolsParams{}
	for {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			s.drop(session)
			if status := status(); status.Failed() {
				return nil, status.Failure("the MCP server")
			}
			return nil, contracts.Errorf(contracts.CodeUnavailable, "the tools could not be listed: %w", err)
		}
		for _, t := range page.Tools {
			out = append(out, definition(t))
		}
		if len(out) > s.cfg.MaxTools {
			return nil, contracts.Errorf(contracts.CodeTooLarge, "the MCP server lists more than %d tools", s.cfg.MaxTools)
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			return out, nil
		}
		params.Cursor = page.NextCursor
	}
}

// definition returns a tool as an operation.
func definition(t *sdk.Tool) bridge.Definition {
	d := bridge.Definition{Name: t.Name, Description: cmp.Or(t.Description, t.Title)}
	var err, outErr error
	d.InputSchema, err = json.Marshal(t.InputSchema)
	if t.OutputSchema != nil {
		d.OutputSchema, outErr = json.Marshal(t.OutputSchema)
	}
	if err != nil || outErr != nil {
		d.Fault = "its schemas cannot be read"
	}
	if a := t.Annotations; a != nil {
		d.Claims = &bridge.Claims{ReadOnly: a.ReadOnlyHint, Destructive: a.DestructiveHint, Idempotent: a.IdempotentHint, OpenWorld: a.OpenWorldHint}
	}
	return d
}

// Call calls a tool once. If the session was lost, a read is repeated; a write is not.
func (s *Server) Call(ctx context.Context, c bridge.Call) (contracts.ToolResult, error) {
	result, err := s.call(ctx, c)
	if lost := errors.Is(err, sdk.ErrConnectionClosed); lost && !c.Writes && ctx.Err() == nil {
		result, err = s.call(ctx, c)
	}
	if errors.Is(err, sdk.ErrConnectionClosed) {
		err = domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "the connection to the MCP server was lost during %s", c.Name)
	}
	return result, err
}

func (s *Server) call(ctx context.Context, c bridge.Call) (contracts.ToolResult, error) {
	asked, responses, err := remembered(c)
	if err != nil {
		return contracts.ToolResult{}, err
	}
	if c.Tool.KeyParam != "" && asked.Key != "" {
		c.Arguments[c.Tool.KeyParam] = asked.Key
	}
	session, err := s.connected(ctx)
	if refused, ok := errors.AsType[*contracts.ToolError](err); ok && (refused.Type == contracts.ErrUnauthorized || refused.Type == errLoginEnded) {
		return contracts.ToolResult{}, refused
	}
	if err != nil {
		return contracts.ToolResult{}, domainkit.Retryf(contracts.ErrUpstream, "%s", err.Error())
	}
	params := &sdk.CallToolParams{Name: c.Name, Arguments: c.Arguments, InputResponses: responses, RequestState: asked.State}
	result, unclear, err := s.exchange(ctx, session, c, asked, params, c.Writes)
	if unclear && ctx.Err() == nil { // this read may have asked; alone, that is certain
		result, _, err = s.exchange(ctx, session, c, asked, params, true)
	}
	return result, err
}

// exchange makes one call. unclear reports that a question was asked that may belong to another call.
func (s *Server) exchange(ctx context.Context, session *session, c bridge.Call, asked memory, params *sdk.CallToolParams, alone bool) (_ contracts.ToolResult, unclear bool, _ error) {
	f := &flight{answered: asked.Answered}
	end, err := session.begin(ctx, f, alone)
	if err != nil {
		return contracts.ToolResult{}, false, domainkit.Retryf(contracts.ErrUpstream, "another call of the MCP server is under way")
	}
	defer end()
	token := rand.Text()
	s.progress.Store(token, func(p contracts.Progress) { domainkit.Report(ctx, p) })
	defer s.progress.Delete(token)
	params.SetProgressToken(token)
	noting, status := bridge.WithStatusRecorder(ctx)
	answer, err := session.CallTool(noting, params)
	open, unclear := session.result(f)
	refused, _ := errors.AsType[*jsonrpc.Error](err)
	var pages error
	if refused != nil {
		pages = asked.pages(refused)
	}
	switch {
	case len(open) > 0 && ctx.Err() == nil:
		err = asked.meanwhile(c, open)
	case pages != nil:
		err = pages
	case err != nil:
		err = s.failure(ctx, session, c, status(), err)
	case answer.NeedsInput():
		err = asked.inAnswer(answer)
	default:
		result, err := resultOf(c, answer)
		return result, unclear, err
	}
	return contracts.ToolResult{}, unclear, err
}

// failure returns the error of a failed call, with its effect as far as it is known.
func (s *Server) failure(ctx context.Context, session *session, c bridge.Call, status bridge.Status, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok && status.Refused == nil && status.Code < 400 && (refused.Code == jsonrpc.CodeInvalidParams || refused.Code == jsonrpc.CodeMethodNotFound) {
		return domainkit.Refusef(contracts.ErrInvalidParameters, "the MCP server refused %s: %s", c.Name, contracts.CleanSummary(refused.Message))
	}
	s.drop(session)
	if status.Failed() {
		return status.Failure("the MCP server")
	}
	if errors.Is(err, sdk.ErrConnectionClosed) {
		return err
	}
	if errors.Is(err, bridge.ErrTooLarge) {
		return domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "the answer of %s has more than %d bytes", c.Name, bridge.MaxAnswer)
	}
	return domainkit.Failf(contracts.ErrUpstream, contracts.EffectUnknown, "%s failed at the MCP server: %s", c.Name, contracts.CleanSummary(err.Error()))
}

// resultOf converts the result of a call.
func resultOf(c bridge.Call, answer *sdk.CallToolResult) (contracts.ToolResult, error) {
	text := textOf(answer.Content)
	if answer.IsError {
		return contracts.ToolResult{}, domainkit.Failf("domain.tool_error", cmp.Or(c.Tool.ErrorEffect, contracts.EffectUnknown), "%s", cmp.Or(contracts.CleanSummary(text), c.Name+" failed and does not say why"))
	}
	value := answer.StructuredContent
	if value == nil {
		value = jsonOf(text)
	}
	result, err := bridge.Result(value, text)
	if err != nil {
		return result, err
	}
	raw, err := json.Marshal(answer.Content)
	if err != nil {
		return result, fmt.Errorf("content: %w", err)
	}
	result.Data = contracts.NewOpaque(raw)
	return result, nil
}

// textOf joins the texts of a result, and names content of other types.
func textOf(content []sdk.Content) string {
	var out string
	for _, c := range content {
		if out != "" {
			out += "\n"
		}
		switch c := c.(type) {
		case *sdk.TextContent:
			out += c.Text
		case *sdk.ImageContent:
			out += fmt.Sprintf("(a picture, %s, %d bytes)", c.MIMEType, len(c.Data))
		case *sdk.AudioContent:
			out += fmt.Sprintf("(a sound, %s, %d bytes)", c.MIMEType, len(c.Data))
		case *sdk.ResourceLink:
			out += fmt.Sprintf("(%s: %s)", c.Name, c.URI)
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				out += c.Resource.Text
			}
		}
	}
	return out
}

// jsonOf parses a text that is a JSON object or list; it returns nil for other texts.
func jsonOf(text string) any {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return nil
	}
	var v any
	if contracts.Decode([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// Environment returns the environment of a command: the variables that locate programs and files, and
// the named ones.
func Environment(names ...string) []string {
	var out []string
	for _, name := range append([]string{"PATH", "HOME", "LANG", "TMPDIR", "SystemRoot"}, names...) {
		if value, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}
