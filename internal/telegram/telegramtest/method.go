package telegramtest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// call executes a method.
func (s *Server) call(r *http.Request, method string, p map[string]string) (any, *Failure) {
	switch method {
	case "getMe":
		return map[string]any{"id": BotID, "is_bot": true, "first_name": "Manifold", "username": Name}, nil
	case "setMyCommands":
		return true, nil
	case "getUpdates":
		return s.poll(r, p), nil
	case "sendMessage":
		return s.sendMessage(p)
	case "editMessageText", "editMessageReplyMarkup":
		return s.edit(method, p)
	case "answerCallbackQuery":
		if len([]rune(p["text"])) > 200 {
			return nil, &Failure{Status: http.StatusBadRequest, Text: "Bad Request: MESSAGE_TOO_LONG"}
		}
		s.do(func() { s.toasts = append(s.toasts, Toast{p["callback_query_id"], p["text"]}) })
		return true, nil
	}
	return nil, &Failure{Status: http.StatusNotFound, Text: "Not Found: method not found"}
}

// poll acknowledges the updates before the offset, and waits for later ones.
func (s *Server) poll(r *http.Request, p map[string]string) []json.RawMessage {
	offset := int64(number(p["offset"]))
	timeout := time.After(time.Duration(number(p["timeout"])) * time.Second)
	s.do(func() {
		s.offsets = append(s.offsets, offset)
		s.updates = slices.DeleteFunc(s.updates, func(u json.RawMessage) bool { return updateNo(u) < offset })
	})
	for {
		s.mu.Lock()
		waiting, closed, changed := slices.Clone(s.updates), s.closed, s.changed
		s.mu.Unlock()
		if len(waiting) > 0 || closed {
			return waiting[:min(len(waiting), 100)]
		}
		select {
		case <-changed:
		case <-timeout:
			return []json.RawMessage{}
		case <-r.Context().Done():
			return []json.RawMessage{}
		}
	}
}

func updateNo(raw json.RawMessage) int64 {
	var u struct {
		ID int64 `json:"update_id"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return 0
	}
	return u.ID
}

func (s *Server) sendMessage(p map[string]string) (any, *Failure) {
	m, fault := parse(p)
	if fault != nil {
		return nil, fault
	}
	s.do(func() {
		s.nextID++
		m.ID = s.nextID
		s.messages = append(s.messages, m)
	})
	return m.wire(), nil
}

func (m Message) wire() map[string]any {
	kind := "private"
	if m.Chat < 0 {
		kind = "supergroup"
	}
	return map[string]any{
		"message_id": m.ID, "date": 1_780_000_000, "chat": map[string]any{"id": m.Chat, "type": kind}, "text": m.Text,
		"from": map[string]any{"id": BotID, "is_bot": true, "first_name": "Manifold", "username": Name},
	}
}

func (s *Server) edit(method string, p map[string]string) (any, *Failure) {
	var next Message
	if method == "editMessageText" {
		var fault *Failure
		if next, fault = parse(p); fault != nil {
			return nil, fault
		}
	}
	var result any
	var fault *Failure
	s.do(func() {
		chat, id := int64(number(p["chat_id"])), number(p["message_id"])
		at := slices.IndexFunc(s.messages, func(m Message) bool { return m.ID == id && m.Chat == chat })
		if at < 0 {
			fault = &Failure{Status: http.StatusBadRequest, Text: "Bad Request: message to edit not found"}
			return
		}
		m := &s.messages[at]
		buttons, err := keyboard(p["reply_markup"])
		switch {
		case err != nil:
			fault = err
		case method == "editMessageReplyMarkup":
			m.Buttons = buttons
		case next.HTML == m.HTML && slices.Equal(buttons, m.Buttons):
			fault = &Failure{Status: http.StatusBadRequest, Text: "Bad Request: message is not modified"}
		default:
			m.HTML, m.Text, m.Buttons = next.HTML, next.Text, buttons
			m.Edits++
		}
		result = m.wire()
	})
	return result, fault
}

func parse(p map[string]string) (Message, *Failure) {
	m := Message{Chat: int64(number(p["chat_id"])), Thread: number(p["message_thread_id"]), HTML: p["text"], Text: p["text"]}
	if p["parse_mode"] == "HTML" {
		var err error
		if m.Text, err = visible(p["text"]); err != nil {
			return m, &Failure{Status: http.StatusBadRequest, Text: "Bad Request: can't parse entities: " + err.Error()}
		}
	}
	if n := len(utf16.Encode([]rune(m.Text))); strings.TrimSpace(m.Text) == "" || n > 4096 {
		return m, &Failure{Status: http.StatusBadRequest, Text: "Bad Request: message text has length " + strconv.Itoa(n)}
	}
	var reply struct {
		ID int `json:"message_id"`
	}
	if text := p["reply_parameters"]; text != "" && json.Unmarshal([]byte(text), &reply) != nil {
		return m, &Failure{Status: http.StatusBadRequest, Text: "Bad Request: reply parameters"}
	}
	m.ReplyTo = reply.ID
	var fault *Failure
	m.Buttons, fault = keyboard(p["reply_markup"])
	return m, fault
}

func keyboard(text string) ([]Button, *Failure) {
	if text == "" {
		return nil, nil
	}
	var markup struct {
		Rows [][]Button `json:"inline_keyboard"`
	}
	if json.Unmarshal([]byte(text), &markup) != nil {
		return nil, &Failure{Status: http.StatusBadRequest, Text: "Bad Request: object expected as reply markup"}
	}
	buttons := slices.Concat(markup.Rows...)
	for _, b := range buttons {
		if len(b.Data) == 0 || len(b.Data) > 64 || b.Text == "" {
			return nil, &Failure{Status: http.StatusBadRequest, Text: "Bad Request: BUTTON_DATA_INVALID"}
		}
	}
	return buttons, nil
}

var (
	tag    = regexp.MustCompile(`</?([a-z]+)>`)
	entity = regexp.MustCompile(`&(amp|lt|gt|quot|#\d+|#x[0-9a-fA-F]+);`)
)

// visible parses Telegram's HTML as strictly as Telegram does, and returns the visible text.
func visible(text string) (string, error) {
	var open []string
	var out strings.Builder
	for text != "" {
		at := tag.FindStringSubmatchIndex(text)
		head := text
		if at != nil {
			head = text[:at[0]]
		}
		if strings.ContainsAny(head, "<>") {
			return "", fmt.Errorf("unsupported start tag in %q", head)
		}
		if strings.Contains(entity.ReplaceAllString(head, ""), "&") {
			return "", fmt.Errorf("unescaped ampersand in %q", head)
		}
		out.WriteString(html.UnescapeString(head))
		if at == nil {
			break
		}
		name, closes := text[at[2]:at[3]], text[at[0]+1] == '/'
		switch {
		case !slices.Contains([]string{"b", "i", "code", "pre", "u", "s"}, name):
			return "", fmt.Errorf("unsupported tag %s", name)
		case !closes:
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			return "", fmt.Errorf("unmatched end tag %s", name)
		default:
			open = open[:len(open)-1]
		}
		text = text[at[1]:]
	}
	if len(open) > 0 {
		return "", fmt.Errorf("tag %s is not closed", open[len(open)-1])
	}
	return out.String(), nil
}
