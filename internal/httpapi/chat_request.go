package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// MaxChatBody bounds the body of a chat request: frontends include images in the history.
const MaxChatBody = 50 << 20

// chatRequest holds the used fields of a chat completion request. Other fields, and all tools but
// the approval card, are ignored.
type chatRequest struct {
	Model         string        `json:"model"`
	Messages      []chatMessage `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string      `json:"role"`
	Content    chatContent `json:"content"`
	ToolCallID string      `json:"tool_call_id"`
}

// chatContent is the text of a message, which is sent as a string or as a list of parts.
type chatContent string

// UnmarshalJSON accepts a string, a list of parts of which only text is used, or null.
func (c *chatContent) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = chatContent(text)
		return nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "the content of a message must be a text or a list of parts")
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	*c = chatContent(strings.Join(texts, "\n"))
	return nil
}

func (k *call) chatRequest() (chatRequest, error) {
	var r chatRequest
	raw, err := k.raw(MaxChatBody)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, contracts.Errorf(contracts.CodeInvalid, "the body is no chat completion request: %w", err)
	}
	if len(r.Messages) == 0 {
		return r, contracts.Invalid("the request is not valid", contracts.Fault{Pointer: "/messages", Message: "must have at least one message"})
	}
	return r, nil
}

func (r chatRequest) offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Function.Name == tool {
			return true
		}
	}
	return false
}

// texts returns the texts of the messages with a role, in order.
func (r chatRequest) texts(role string) []string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == role {
			out = append(out, string(m.Content))
		}
	}
	return out
}

// task reports whether this is a background request of the frontend, and which one.
func (r chatRequest) task(h http.Header) (chat.Task, bool) {
	header, has := frontendHeader(h, "X-OpenWebUI-Task")
	return chat.Recognize(chat.Request{
		Header: header, HasHeader: has, Stream: r.Stream, HasTools: len(r.Tools) > 0,
		System: strings.Join(r.texts("system"), "\n"), Users: r.texts("user"),
	})
}

// conversationOf returns the frontend's id of the chat. Ids of temporary chats are ignored, because
// all temporary chats share them.
func conversationOf(h http.Header) string {
	for _, name := range []string{"X-OpenWebUI-Chat-Id", "X-Conversation-Id", "X-Chat-Id", "X-Session-Id"} {
		id, _ := frontendHeader(h, name)
		if id != "" && id != "new" && len(id) <= 255 && !strings.HasPrefix(id, "local:") {
			return id
		}
	}
	return ""
}

// chatTurn returns the newest message of a history as an input, with the thread that it belongs to.
func (s *chatRoutes) chatTurn(k *call, r chatRequest, domain string) (conversation.Input, error) {
	h, subject := k.gin.Request.Header, k.who.Subject()
	t := conversation.Input{Thread: &conversation.Thread{Conversation: conversationOf(h)}, Domain: domain, Language: chat.PreferredLanguage(h.Get("Accept-Language"))}
	last := r.Messages[len(r.Messages)-1]
	users := r.texts("user")
	if answer, ok := lastAnswer(r.Messages); ok {
		t.Thread.Continued = true
		if m, ok := s.signer.Read(answer, subject); ok {
			t.Thread.Marked, t.Thread.SessionID, t.Thread.Shown = true, m.SessionID, m.Codes
		}
	}
	switch {
	case last.Role == "tool":
		return s.cardTurn(k, r, t), nil
	case last.Role == "assistant": // "continue" asks for more of the same answer
		t.Command = &chat.Command{Verb: chat.Status}
		return t, nil
	case len(users) == 0:
		return t, contracts.Invalid("the request is not valid", contracts.Fault{Pointer: "/messages", Message: "must have a message of the user"})
	}
	t.Message, t.Quoted = chat.UnwrapPrompt(users[len(users)-1])
	t.Key, t.PositionalKey = messageKey(h, users, "", t.Message)
	t.Thread.Place = placeOf(users)
	if t.Thread.Conversation == "" && !t.Thread.Marked {
		if err := tie(t.Thread, h, r); err != nil {
			return t, err
		}
	}
	return t, nil
}

// lastAnswer returns the last answer of the server in a history.
func lastAnswer(messages []chatMessage) (string, bool) {
	for _, m := range slices.Backward(messages) {
		if m.Role == "assistant" {
			return string(m.Content), true
		}
	}
	return "", false
}

// tie identifies repeated requests if the frontend names no chat and the history carries no marker:
// by the message's own id, or else by the retry count of OpenAI's clients.
func tie(t *conversation.Thread, h http.Header, r chatRequest) error {
	if id := messageID(h); id != "" {
		t.Conversation = ofMessage(id)
		return nil
	}
	count := h.Get("X-Stainless-Retry-Count")
	if count == "" {
		return nil
	}
	t.Try = 1 // an unreadable count still says that this is a retry
	if n, err := strconv.Atoi(count); err == nil && n >= 0 {
		t.Try = n
	}
	hash, err := contracts.Hash(map[string]any{"model": r.Model, "messages": r.Messages})
	t.Request = hash
	return err
}

// ofMessage returns the conversation id of a message that belongs to no chat.
func ofMessage(id string) string { return "message:" + id }

// messageKey returns the key of a user's message: its id, or else its position in the history (placed),
// with a hash of its text and of the card that it answers. The text is included because a frontend
// sends the same id again with another text when a user regenerates with an instruction.
func messageKey(h http.Header, users []string, card, words string) (key string, placed bool) {
	id := messageID(h)
	if placed = id == ""; placed {
		id = "message-" + placeOf(users)
	}
	return id + ":" + contracts.HashBytes([]byte(card + "\x00" + words))[:16], placed
}

// placeOf returns the position of the last user message, as a hash of the messages before it.
func placeOf(users []string) string {
	before := ""
	for _, text := range users[:max(len(users)-1, 0)] {
		own, _ := chat.UnwrapPrompt(text)
		before = contracts.HashBytes([]byte(before + "\x00" + own))
	}
	return strconv.Itoa(len(users)) + before[:min(len(before), 16)]
}

// messageID returns the id that a frontend or client gives the message, "" if there is none.
func messageID(h http.Header) string {
	for _, name := range []string{"X-OpenWebUI-User-Message-Id", "Idempotency-Key"} {
		if id, _ := frontendHeader(h, name); id != "" && len(id) <= 200 {
			return id
		}
	}
	return ""
}
