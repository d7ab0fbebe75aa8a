package httpapi

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// completion is the response to a chat request that is not streamed.
type completion struct {
	ID      string             `json:"id"`
	Object  string             `json:"object"`
	Created int64              `json:"created"`
	Model   string             `json:"model"`
	Choices []completionChoice `json:"choices"`
	Usage   usage              `json:"usage"`
}

type completionChoice struct {
	Index        int               `json:"index"`
	Message      completionMessage `json:"message"`
	FinishReason string            `json:"finish_reason"`
}

type completionMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func usageOf(t contracts.Tokens) usage {
	return usage{Prompt: t.In, Completion: t.Out, Total: t.In + t.Out}
}

// chatRoutes serve chat frontends, in OpenAI's protocol.
type chatRoutes struct {
	cfg          Config
	conversation *conversation.Conversation
	registry     *registry.Registry
	signer       chat.Signer
	limiter      *limiter
	callers      *callers
	approvals    *linkRoutes
	problems     *problems
}

func (s *chatRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/v1/models", false, s.listModels},
		{http.MethodGet, "/v1/models/:id", false, s.showModel},
		{http.MethodPost, "/v1/chat/completions", false, s.complete},
	}
}

// complete handles POST /v1/chat/completions.
func (s *chatRoutes) complete(k *call) error {
	request, err := k.chatRequest()
	if err != nil {
		return err
	}
	domain, ok := modelDomain(s.registry.Catalog(), request.Model)
	if !ok {
		s.problems.write(k.gin, noModel(request.Model))
		return nil
	}
	if task, is := request.task(k.gin.Request.Header); is {
		return s.answerTask(k, request, domain, task)
	}
	if err := s.limiter.take(k.who.Subject()); err != nil {
		return err
	}
	if err := k.who.May(access.ActionStartSession); err != nil {
		return err
	}
	turn, err := s.chatTurn(k, request, domain)
	if err != nil {
		return err
	}
	k.clearDeadlines()
	if request.Stream {
		return s.streamChat(k, request, turn)
	}
	return s.answerChat(k, request, turn)
}

// clearDeadlines removes the deadlines of the connection for a request that waits on purpose. Each
// write of a stream sets its own.
func (k *call) clearDeadlines() {
	control := http.NewResponseController(k.gin.Writer)
	_ = control.SetReadDeadline(time.Time{})  // a writer without deadlines needs no clearing
	_ = control.SetWriteDeadline(time.Time{}) // as above
}

// setWriteDeadline bounds the write of a delayed answer, so that a client that does not read
// cannot block it forever.
func (k *call) setWriteDeadline() {
	_ = http.NewResponseController(k.gin.Writer).SetWriteDeadline(time.Now().Add(writePatience)) // as above
}

// answerChat answers without streaming: it returns the state after at most ChatWait. Running work
// continues.
func (s *chatRoutes) answerChat(k *call, request chatRequest, turn conversation.Input) error {
	accepted, err := s.conversation.Resolve(k.ctx(), k.who, turn)
	if err != nil {
		return err
	}
	delivered, end := false, s.conversation.Exchange(k.ctx(), k.who, accepted)
	defer func() { end(delivered && k.ctx().Err() == nil) }()
	state, err := s.take(k, accepted)
	if err == nil && state.SessionID != "" && state.Running {
		state, err = s.conversation.Await(k.ctx(), k.who, state, s.cfg.ChatWait)
	}
	k.setWriteDeadline()
	if err != nil {
		return err
	}
	delivered = true
	return k.ok(s.completion(request.Model, s.content(k, request, state), state.Used))
}

func (s *chatRoutes) completion(model, content string, tokens contracts.Tokens) completion {
	return completion{
		ID: "chatcmpl-" + execution.NewID("m"), Object: "chat.completion", Created: s.cfg.Now().Unix(), Model: model, Usage: usageOf(tokens),
		Choices: []completionChoice{{Message: completionMessage{Role: "assistant", Content: content}, FinishReason: "stop"}},
	}
}

// take processes the message to completion, even if the client disconnects.
func (s *chatRoutes) take(k *call, accepted conversation.Input) (state orchestrator.SessionView, err error) {
	ctx, cancel := conversation.DetachContext(k.ctx())
	defer cancel()
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
		}
	}()
	outcome, err := s.conversation.Handle(ctx, k.who, accepted)
	if err != nil {
		return state, err
	}
	return s.conversation.View(ctx, k.who, outcome)
}

// content returns the text of an answer, with the marker that ties the next message to the session.
func (s *chatRoutes) content(k *call, request chatRequest, state orchestrator.SessionView) string {
	frame := chat.Frame{Links: s.approvals.links(k.who, state), Rich: k.openWebUI()}
	if card, ok := s.cardShown(k, request); ok {
		frame.Shown = card.Codes
	}
	text := chat.Compose(state, frame)
	if state.SessionID == "" && len(state.Open) == 0 {
		return text
	}
	s.conversation.RecordDisplayed(k.ctx(), state)
	m := chat.Marker{SessionID: state.SessionID}
	for _, i := range state.Open {
		m.Codes = append(m.Codes, i.Code)
	}
	return text + "\n\n" + s.signer.Line(m, k.who.Subject())
}

// openWebUI reports whether the frontend is Open WebUI, which supports additional events.
func (k *call) openWebUI() bool {
	for name := range k.gin.Request.Header {
		if strings.HasPrefix(name, "X-Openwebui-") {
			return true
		}
	}
	return false
}

// answerTask answers a frontend's background request from what is known of the chat. It starts
// nothing.
func (s *chatRoutes) answerTask(k *call, request chatRequest, domain string, task chat.Task) error {
	// A separate bucket: background requests do not use up the limit of the user.
	if err := s.limiter.take("background of " + k.who.Subject()); err != nil {
		return err
	}
	prompt := strings.Join(request.texts("user"), "\n")
	t := conversation.Thread{Conversation: conversationOf(k.gin.Request.Header)}
	if id := messageID(k.gin.Request.Header); t.Conversation == "" && id != "" {
		t.Conversation = ofMessage(id)
	}
	if m, ok := s.signer.Read(prompt, k.who.Subject()); ok {
		t.Marked, t.SessionID = true, m.SessionID
	}
	state, known, err := s.conversation.Peek(k.ctx(), k.who, t)
	if err != nil {
		return err
	}
	context := chat.TaskContext{Title: chat.FirstWords(prompt), Domain: "Manifold"}
	for _, d := range s.registry.Catalog().Domains {
		if d.Name == domain && d.Manifest.Title != "" {
			context.Domain = d.Manifest.Title
		}
	}
	if known {
		context.Title, context.FollowUps = state.Name, chat.FollowUps(state)
	}
	reply := chat.TaskReply(task, context)
	if !request.Stream {
		return k.ok(s.completion(request.Model, reply, contracts.Tokens{}))
	}
	stream := s.newChatStream(k, request)
	stream.begin()
	stream.text(reply)
	return stream.end(request, "stop", contracts.Tokens{})
}
