package sandbox

import (
	"net/http"
	"slices"
	"time"
)

// message is one message in the history of a flow.
type message struct {
	id, role, content, chat, session string
	tools                            any
	created                          time.Time
}

func (m message) row(flowID string) map[string]any {
	return map[string]any{
		"id": m.id, "role": m.role, "content": m.content, "chatflowid": flowID, "chatType": "EXTERNAL",
		"chatId": m.chat, "sessionId": m.session, "usedTools": m.tools, "createdDate": stamp(m.created),
	}
}

// remember stores question and answer together, once there is an answer.
func (s *Server) remember(f *flow, q question, id string, out map[string]any) {
	content, is := out["text"].(string)
	if !is {
		_, raw := encode(out["text"])
		content = string(raw)
	}
	asked := message{id: s.ids.uuid(), role: "userMessage", content: q.said(), chat: q.ChatID, session: q.Override.SessionID, created: s.second()}
	answered := message{id: id, role: "apiMessage", content: content, chat: q.ChatID, session: q.Override.SessionID, tools: out["usedTools"], created: s.second()}
	f.history = append(f.history, asked, answered)
}

// listHistory answers for a missing flow that the access is unauthorized, as the real server does.
func (s *Server) listHistory(r *request) (reply, error) {
	id, chat := r.PathValue("id"), r.URL.Query().Get("chatId")
	f, known := s.flows[id]
	if !known {
		return reply{}, internal("Error: chatMessagesService.getAllChatMessages - Unauthorized access")
	}
	rows := []map[string]any{}
	for _, m := range f.history {
		if (chat == "" || m.chat == chat) && m.before(r) {
			rows = append(rows, m.row(id))
		}
	}
	return reply{http.StatusOK, rows}, nil
}

// before reports whether a message is not newer than the request's endDate; an invalid date matches
// every message.
func (m message) before(r *request) bool {
	end, err := time.Parse(time.RFC3339, r.URL.Query().Get("endDate"))
	return err != nil || !m.created.After(end)
}

func deleteHistory(s *Server, r *request) (reply, error) {
	if err := r.change(); err != nil {
		return reply{}, err
	}
	f, err := s.find(r)
	if err != nil {
		return reply{}, err
	}
	had := len(f.history)
	f.history = slices.DeleteFunc(f.history, func(m message) bool { return m.before(r) })
	s.record("messages.delete", f.id, f.name)
	return reply{http.StatusOK, map[string]any{"raw": []any{}, "affected": had - len(f.history)}}, nil
}
