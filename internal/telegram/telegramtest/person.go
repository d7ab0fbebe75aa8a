package telegramtest

import (
	"maps"
	"strings"
	"unicode/utf16"
)

// Person writes to the bot and presses its buttons.
type Person struct {
	server *Server
	ID     int64
	// Chat is the chat; a private chat has the person's own id.
	Chat int64
}

// Person returns a person in the private chat with the bot.
func (s *Server) Person(id int64) Person { return Person{server: s, ID: id, Chat: id} }

// In returns the same person in a group.
func (p Person) In(group int64) Person {
	p.Chat = group
	return p
}

// Message returns a message with the given fields besides the usual ones.
func (p Person) Message(fields map[string]any) map[string]any {
	m := map[string]any{
		"message_id": p.server.NewMessageID(), "date": 1_780_000_000, "chat": p.chat(),
		"from": map[string]any{"id": p.ID, "is_bot": false, "first_name": "Person"},
	}
	maps.Copy(m, fields)
	return m
}

func (p Person) chat() map[string]any {
	kind := "private"
	if p.Chat < 0 {
		kind = "supergroup"
	}
	return map[string]any{"id": p.Chat, "type": kind}
}

// Text returns the update of a message, with entities for words that begin with / or @.
func (p Person) Text(text string) map[string]any {
	var entities []map[string]any
	at := 0
	for word := range strings.SplitSeq(text, " ") {
		n := len(utf16.Encode([]rune(word)))
		kind := ""
		switch {
		case strings.HasPrefix(word, "/"):
			kind = "bot_command"
		case strings.HasPrefix(word, "@"):
			kind = "mention"
		}
		if kind != "" {
			entities = append(entities, map[string]any{"type": kind, "offset": at, "length": n})
		}
		at += n + 1
	}
	return map[string]any{"message": p.Message(map[string]any{"text": text, "entities": entities})}
}

// Says sends a message and returns the number of its update.
func (p Person) Says(text string) int64 { return p.server.Push(p.Text(text)) }

// Replies sends a reply to one of the bot's messages.
func (p Person) Replies(to Message, text string) int64 {
	var row []map[string]any
	for _, b := range to.Buttons {
		row = append(row, map[string]any{"text": b.Text, "callback_data": b.Data})
	}
	replied := to.wire()
	if len(row) > 0 {
		replied["reply_markup"] = map[string]any{"inline_keyboard": []any{row}}
	}
	u := p.Text(text)
	if m, ok := u["message"].(map[string]any); ok {
		m["reply_to_message"] = replied
	}
	return p.server.Push(u)
}

// Presses presses the first button of a message whose text has this prefix.
func (p Person) Presses(m Message, button string) {
	p.server.t.Helper()
	for _, b := range m.Buttons {
		if strings.HasPrefix(b.Text, button) {
			p.PressesData(m, b.Data)
			return
		}
	}
	p.server.t.Fatalf("there is no button %q below %+v", button, m)
}

// PressesData presses a button with the given data.
func (p Person) PressesData(m Message, data string) int64 {
	return p.server.Push(map[string]any{"callback_query": map[string]any{
		"id": "press-" + data, "from": map[string]any{"id": p.ID, "is_bot": false, "first_name": "Person"},
		"message": m.wire(), "chat_instance": "1", "data": data,
	}})
}
