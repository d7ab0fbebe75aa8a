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

// MaxChatBody bounds a chat's history: frontends put pictures into it.
const MaxChatBody = 50 << 20

// chatRequest is as much of a chat completion's body as matters here. What
// else frontends send, and all tools but the approval card, is ignored.
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

// chatContent is the text of a message, which comes as a text or in parts.
type chatContent string

// UnmarshalJSON takes a text, the text parts of a list, or null.
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

// texts returns the texts of the messages of a role, in order.
func (r chatRequest) texts(role string) []string {
	var out []string
	for _, m := range r.Messages {
		if m.Role == role {
			out = append(out, string(m.Content))
		}
	}
	return out
}

// task reports whether the frontend asks by itself.
func (r chatRequest) task(h http.Header) (chat.Task, bool) {
	header, has := frontendHeader(h, "X-OpenWebUI-Task")
	return chat.Recognize(chat.Request{
		Header: header, HasHeader: has, Stream: r.Stream, HasTools: len(r.Tools) > 0,
		System: strings.Join(r.texts("system"), "\n"), Users: r.texts("user"),
	})
}

// conversationOf is the frontend's id of the chat. Those of temporary chats are
// shared by all of them, and count for nothing.
func conversationOf(h http.Header) string {
	for _, name := range []string{"X-OpenWebUI-Chat-Id", "X-Conversation-Id", "X-Chat-Id", "X-Session-Id"} {
		id, _ := frontendHeader(h, name)
		if id != "" && id != "new" && len(id) <= 255 && !strings.HasPrefix(id, "local:") {
			return id
		}
	}
	return ""
}

// chatTurn reads out of a history what is said now, and what it is said to.
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

// lastAnswer is the last message of ours in a history.
func lastAnswer(messages []chatMessage) (string, bool) {
	for _, m := range slices.Backward(messages) {
		if m.Role == "assistant" {
			return string(m.Content), true
		}
	}
	return "", false
}

// tie ties together what is sent again where the frontend names no chat and the
// history carries no marker: by the message's own id, else by the count of
// repeats that OpenAI's clients send.
func tie(t *conversation.Thread, h http.Header, r chatRequest) error {
	if id := messageID(h); id != "" {
		t.Conversation = ofMessage(id)
		return nil
	}
	count := h.Get("X-Stainless-Retry-Count")
	if count == "" {
		return nil
	}
	t.Try = 1 // of a count that cannot be read only this much is known
	if n, err := strconv.Atoi(count); err == nil && n >= 0 {
		t.Try = n
	}
	hash, err := contracts.Hash(map[string]any{"model": r.Model, "messages": r.Messages})
	t.Request = hash
	return err
}

// ofMessage is the conversation of a message that belongs to no chat.
func ofMessage(id string) string { return "message:" + id }

// messageKey identifies a user's message, by its id or else by its place: after
// these messages, on this card. The words belong to it: the same id comes again
// with other words when somebody regenerates with an instruction.
func messageKey(h http.Header, users []string, card, words string) (key string, placed bool) {
	id := messageID(h)
	if placed = id == ""; placed {
		id = "message-" + placeOf(users)
	}
	return id + ":" + contracts.HashBytes([]byte(card + "\x00" + words))[:16], placed
}

// placeOf is the place of the last message of a user: after these messages.
func placeOf(users []string) string {
	before := ""
	for _, text := range users[:max(len(users)-1, 0)] {
		own, _ := chat.UnwrapPrompt(text)
		before = contracts.HashBytes([]byte(before + "\x00" + own))
	}
	return strconv.Itoa(len(users)) + before[:min(len(before), 16)]
}

// messageID is what a frontend or a client calls the message, "" if it does not.
func messageID(h http.Header) string {
	for _, name := range []string{"X-OpenWebUI-User-Message-Id", "Idempotency-Key"} {
		if id, _ := frontendHeader(h, name); id != "" && len(id) <= 200 {
			return id
		}
	}
	return ""
}
