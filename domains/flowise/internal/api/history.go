package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Roles of messages.
const (
	RoleUser = "userMessage"
	RoleFlow = "apiMessage"
)

// Row is one message in the history of a flow.
type Row struct {
	ID        string `json:"id"`
	Role      string `json:"role"`
	Content   string `json:"content"`
	ChatID    string `json:"chatId"`
	SessionID string `json:"sessionId"`
	// CreatedDate has a resolution of 1 s.
	CreatedDate time.Time `json:"createdDate"`
	// UsedTools is a list of UsedTool, or another value that the server stored.
	UsedTools json.RawMessage `json:"usedTools"`
}

// History returns the messages of one chat with a flow, oldest first. The server stores question
// and answer together when the flow has answered; there are no rows for a running or failed
// prediction. For a missing flow it returns an Error of kind not found.
func (c *Client) History(ctx context.Context, id, chatID string) ([]Row, error) {
	op, err := flowCall(http.MethodGet, id)
	if err != nil {
		return nil, err
	}
	op.label = "/chatmessage/:id"
	if chatID == "" {
		return nil, &Error{Op: op.name(), Kind: KindInvalid, Message: "no chat is named, and the server would list those of everybody", Effect: contracts.EffectNone}
	}
	var rows []Row
	err = c.get(ctx, "/chatmessage/"+id+"?"+url.Values{"chatId": {chatID}, "order": {"ASC"}}.Encode(), op.label, &rows)
	return rows, err
}

// Tools returns the names of the tools used for an answer.
func (r Row) Tools() []string {
	var used []UsedTool
	if json.Unmarshal(r.UsedTools, &used) != nil {
		return nil
	}
	var names []string
	for _, t := range used {
		names = append(names, t.Tool)
	}
	return names
}

// Messages returns the messages of all chats with a flow up to a time, oldest first; the zero time
// returns all.
func (c *Client) Messages(ctx context.Context, id string, until time.Time) ([]Row, error) {
	op, err := flowCall(http.MethodGet, id)
	if err != nil {
		return nil, err
	}
	op.label = "/chatmessage/:id"
	var rows []Row
	err = c.get(ctx, "/chatmessage/"+id+"?"+through(until).Encode(), op.label, &rows)
	return rows, err
}

// DeleteMessages deletes the messages of all chats with a flow up to a time. It is idempotent.
func (c *Client) DeleteMessages(ctx context.Context, id string, until time.Time) error {
	op, err := flowCall(http.MethodDelete, id)
	if err != nil {
		return err
	}
	op.path, op.label = "/chatmessage/"+id+"?"+through(until).Encode(), "/chatmessage/:id"
	return c.send(ctx, op, nil, nil)
}

func through(until time.Time) url.Values {
	query := url.Values{"order": {"ASC"}}
	if !until.IsZero() {
		query.Set("endDate", until.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return query
}
