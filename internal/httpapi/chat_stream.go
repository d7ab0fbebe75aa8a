package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// chunk is one piece of a streamed answer. Choices is never omitted: OpenAI's clients require it.
type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`
	Usage   *usage        `json:"usage,omitempty"`
	// Event is an event for Open WebUI only.
	Event *frontendEvent `json:"event,omitempty"`
}

type chunkChoice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	Reasoning string     `json:"reasoning_content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	Index    int          `json:"index"`
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type frontendEvent struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

type statusData struct {
	Description string `json:"description"`
	Done        bool   `json:"done"`
}

const (
	// maxPiece keeps every line under 64 KiB, also after JSON escaping.
	maxPiece = 8 << 10
	// statusEvery limits status events, because a frontend stores each of them.
	statusEvery = time.Second
)

// chatStream writes a streamed answer. It is not safe for concurrent use.
type chatStream struct {
	*sse

	head   chunk
	rich   bool
	now    func() time.Time
	begun  time.Time
	status time.Time // of the last status event
	tasks  []taskItem
	listed time.Time // of the last checklist, which was tasks
}

func (s *chatRoutes) newChatStream(k *call, r chatRequest) *chatStream {
	return &chatStream{
		sse: newSSE(k.gin.Writer, s.cfg.Now), rich: k.openWebUI(), now: s.cfg.Now, begun: s.cfg.Now(),
		head: chunk{ID: "chatcmpl-" + execution.NewID("m"), Object: "chat.completion.chunk", Created: s.cfg.Now().Unix(), Model: r.Model},
	}
}

func (c *chatStream) send(choices []chunkChoice, change func(*chunk)) {
	out := c.head
	out.Choices = choices
	if out.Choices == nil {
		out.Choices = []chunkChoice{}
	}
	if change != nil {
		change(&out)
	}
	c.data(encode(out))
}

// encode returns v as JSON on one line.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []byte(`{"choices":[]}`) // structs of strings can always be encoded
	}
	return bytes.TrimSpace(buf.Bytes())
}

// begin opens the stream and sends the role, so that the frontend knows that the request was accepted.
func (c *chatStream) begin() {
	c.open()
	c.send([]chunkChoice{{Delta: delta{Role: "assistant", Content: new("")}}}, nil)
}

// text sends a text in pieces of at most maxPiece bytes.
func (c *chatStream) text(s string) {
	for piece := range pieces(s) {
		c.send([]chunkChoice{{Delta: delta{Content: new(piece)}}}, nil)
	}
}

// answer sends a complete answer: first the sentences that a model has worded, one by one, then the
// rest.
func (c *chatStream) answer(text string, a *contracts.Answer) {
	if a != nil && len(a.Blocks) > 0 {
		for _, s := range a.Blocks[0].Sentences {
			said := chat.Escape(s.Text)
			if at := strings.Index(text, said); at >= 0 {
				c.text(text[:at+len(said)])
				text = text[at+len(said):]
			}
		}
	}
	c.text(text)
}

// pieces splits a text between characters.
func pieces(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			n := min(len(s), maxPiece)
			for n < len(s) && n > maxPiece-utf8.UTFMax && !utf8.RuneStart(s[n]) {
				n--
			}
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

// progress sends a progress line as reasoning, which frontends fold. For Open WebUI, a step's start is
// sent only as status, which disappears when the step ends.
func (c *chatStream) progress(e contracts.Event) {
	line := chat.Progress(e)
	if line == "" {
		return
	}
	if !c.rich || e.Type != contracts.EventNodeStart {
		c.send([]chunkChoice{{Delta: delta{Reasoning: chat.Escape(line) + "\n\n"}}}, nil)
	}
	if c.rich && c.now().Sub(c.status) >= statusEvery {
		c.event("status", statusData{Description: line})
		c.status = c.now()
	}
}

func (c *chatStream) event(kind string, data any) {
	c.send(nil, func(out *chunk) { out.Event = &frontendEvent{Type: kind, Data: data} })
}

// end finishes the answer: without it, frontends would show an open status forever.
func (c *chatStream) end(r chatRequest, reason string, tokens contracts.Tokens) error {
	c.send([]chunkChoice{{FinishReason: &reason}}, nil)
	if r.StreamOptions.IncludeUsage {
		c.send(nil, func(out *chunk) { out.Usage = new(usageOf(tokens)) })
	}
	c.data([]byte("[DONE]"))
	return nil
}

// fail ends an open stream with an error.
func (c *chatStream) fail(p contracts.Problem) {
	if !c.status.IsZero() {
		c.event("status", statusData{Description: "It did not work", Done: true})
	}
	c.data(encode(openAIError(p)))
	c.data([]byte("[DONE]"))
}

// streamChat streams the answer. Errors found at once have their own HTTP status; then the role is
// sent, before the message is interpreted. The request never waits for a person, and running
// work continues when the client disconnects.
func (s *chatRoutes) streamChat(k *call, request chatRequest, turn conversation.Input) error {
	accepted, err := s.conversation.Resolve(k.ctx(), k.who, turn)
	if err != nil {
		return err
	}
	end := s.conversation.Exchange(k.ctx(), k.who, accepted)
	stream := s.newChatStream(k, request)
	defer func() { end(stream.err == nil && k.ctx().Err() == nil) }()
	stream.begin()
	type taken struct {
		state orchestrator.SessionView
		err   error
	}
	done := make(chan taken, 1)
	go func() {
		state, err := s.take(k, accepted)
		done <- taken{state, err}
	}()
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case t := <-done:
			if t.err == nil {
				t.err = s.streamProgress(k, request, stream, t.state)
			}
			if t.err != nil && k.ctx().Err() == nil {
				s.problems.log(k.gin, t.err)
			}
			if t.err != nil {
				stream.fail(problemOf(t.err))
			}
			return nil
		case <-beat.C: // the goroutine is awaited even if the client has disconnected
			stream.comment("keep-alive")
		}
	}
}

// streamProgress streams events until nothing runs any more, then the answer.
func (s *chatRoutes) streamProgress(k *call, request chatRequest, stream *chatStream, state orchestrator.SessionView) error {
	ctx, cancel := context.WithTimeout(k.ctx(), s.cfg.ChatStream)
	defer cancel()
	state, err := s.watch(ctx, k, stream, state)
	if err != nil && ctx.Err() != nil && k.ctx().Err() == nil {
		err = nil // it takes longer than anybody watches a chat
	}
	if err != nil {
		return err
	}
	if !stream.status.IsZero() {
		stream.event("status", statusData{Description: summary(state), Done: true})
	}
	stream.answer(s.content(k, request, state), state.Answer)
	s.settle(ctx, stream, request)
	if card, ok := s.card(k, request, state); ok {
		stream.send([]chunkChoice{{Delta: delta{ToolCalls: []toolCall{card}}}}, nil)
		return stream.end(request, "tool_calls", state.Used)
	}
	// Not with a card: follow-ups are part of the same message, and would go on offering the decision
	// that the card has made.
	if stream.rich && len(state.Open) > 0 {
		stream.event("chat:message:follow_ups", map[string]any{"follow_ups": chat.FollowUps(state)})
	}
	return stream.end(request, "stop", state.Used)
}

// settle keeps the first answer of a chat open until the frontend can show it. Open WebUI creates
// the chat while the answer runs and tells its page the chat's id in the reply to the message.
// Until then the page drops every event of the chat: an answer that ends earlier stays blank until
// it is reloaded. Only the end waits, because the last event has the whole answer.
func (s *chatRoutes) settle(ctx context.Context, stream *chatStream, r chatRequest) {
	rest := s.cfg.ChatSettle - s.cfg.Now().Sub(stream.begun)
	if !stream.rich || rest <= 0 || len(r.texts("assistant")) > 0 {
		return
	}
	wait := time.NewTimer(rest)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

func summary(state orchestrator.SessionView) string {
	switch {
	case len(state.Open) > 0:
		return "Waits for a person"
	case state.Running, state.Waits:
		return "Goes on by itself"
	default:
		return "Done"
	}
}

// watch sends the events of the turn's run. It reads the state before the events: once the state
// says that nothing runs, the events that follow are complete.
func (s *chatRoutes) watch(ctx context.Context, k *call, stream *chatStream, state orchestrator.SessionView) (orchestrator.SessionView, error) {
	if state.RunID == "" {
		return state, nil
	}
	signal, leave := s.conversation.Changes(state.SessionID)
	defer leave()
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	asked := s.cfg.Now()
	for seen := state.After; ; {
		next, err := s.conversation.Refresh(ctx, k.who, state)
		if err != nil {
			return state, err
		}
		state = next
		var held <-chan time.Time
		if stream.steps(state.Steps, !state.Running) {
			held = time.After(statusEvery)
		}
		events, err := s.conversation.News(ctx, k.who, state.SessionID, seen)
		if err != nil {
			return state, err
		}
		seen = stream.sendEvents(state, events, seen)
		if len(events) == 0 && !state.Running {
			return state, nil
		}
		if state.Running && len(events) < contracts.MaxEvents {
			if err := pause(ctx, signal, held, beat.C); err != nil {
				return state, err
			}
		}
		if asked, err = s.askAgain(k, asked); err != nil { //nolint:contextcheck // the call holds its own
			return state, err
		}
		stream.keepAlive(s.cfg.Heartbeat)
		if stream.err != nil {
			return state, stream.err
		}
	}
}

// sendEvents sends the new events of a turn's run and returns the sequence number of the last one.
func (c *chatStream) sendEvents(state orchestrator.SessionView, events []contracts.Event, seen int64) int64 {
	for _, e := range events {
		if seen = e.Seq; e.RunID == state.RunID && state.IsNews(e) {
			c.progress(e)
		}
	}
	return seen
}

// pause waits until there may be an update to send.
func pause(ctx context.Context, signal <-chan struct{}, held, beat <-chan time.Time) error {
	select {
	case <-signal:
	case <-held:
	case <-beat:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// askAgain checks once per heartbeat whether the key is still valid and the user still exists.
func (s *chatRoutes) askAgain(k *call, asked time.Time) (time.Time, error) {
	now := s.cfg.Now()
	if now.Sub(asked) < s.cfg.Heartbeat {
		return asked, nil
	}
	if !s.callers.stillMay(k) {
		return now, contracts.Errorf(contracts.CodeUnauthorized, "the key does not count any more")
	}
	return now, nil
}
