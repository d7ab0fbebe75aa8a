package communication

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

type outgoing struct {
	Message string `json:"message" description:"The text to send." min:"1" max:"2000"`
	Title   string `json:"title,omitempty" description:"A heading." max:"200"`
	Channel string `json:"channel" description:"The channel to send it to." pattern:"^[a-z0-9-]{1,40}$" default:"general"`
}

type sent struct {
	MessageID string    `json:"message_id"`
	Channel   string    `json:"channel"`
	SentAt    time.Time `json:"sent_at"`
}

// Summary implements domainkit.Summarizer.
func (s sent) Summary() string {
	return fmt.Sprintf("message %s is sent to %s", s.MessageID, s.Channel)
}

func (d *Domain) sendMessage(_ context.Context, call domainkit.Call, in outgoing) (sent, error) {
	m, err := d.outbox.add(message{
		Channel: in.Channel, Title: in.Title, Message: in.Message, Key: call.IdempotencyKey,
		SentAt: d.now().UTC().Truncate(time.Second),
	})
	if err != nil {
		return sent{}, err
	}
	return sentAs(m), nil
}

func sentAs(m message) sent { return sent{MessageID: m.ID, Channel: m.Channel, SentAt: m.SentAt} }

// resolveMessage looks in the outbox for the result of an earlier request with the key. Messages
// are written atomically, so a missing one was not sent.
func (d *Domain) resolveMessage(_ context.Context, call domainkit.Call, _ json.RawMessage) (domainkit.Resolution, error) {
	if err := d.outbox.health(); err != nil {
		return domainkit.Resolution{}, err
	}
	m, ok := d.outbox.byKey(call.IdempotencyKey)
	if !ok {
		return domainkit.Resolution{Effect: contracts.EffectNone}, nil
	}
	return domainkit.Resolution{Effect: contracts.EffectApplied, Facts: sentAs(m), Summary: sentAs(m).Summary()}, nil
}

type listQuery struct {
	Channel string `json:"channel,omitempty" description:"Only messages of this channel." pattern:"^[a-z0-9-]{1,40}$"`
	Limit   int    `json:"limit" description:"How many to show." min:"1" max:"20" default:"10"`
}

// shownMessage is a message in a list. Long texts are shortened, so that the list stays within the
// size limit of facts.
type shownMessage struct {
	MessageID string    `json:"message_id"`
	Channel   string    `json:"channel"`
	Title     string    `json:"title,omitempty"`
	Message   string    `json:"message"`
	SentAt    time.Time `json:"sent_at"`
}

type messageList struct {
	Messages []shownMessage `json:"messages"`
	Count    int            `json:"count"`
}

// Summary implements domainkit.Summarizer.
func (l messageList) Summary() string { return fmt.Sprintf("%d messages were sent", l.Count) }

func (d *Domain) listMessages(_ context.Context, _ domainkit.Call, q listQuery) (messageList, error) {
	items, count := d.outbox.newest(q.Channel, q.Limit)
	out := messageList{Count: count}
	for _, m := range items {
		out.Messages = append(out.Messages, shownMessage{
			MessageID: m.ID, Channel: m.Channel, Title: contracts.CleanSummary(m.Title),
			Message: contracts.CleanSummary(m.Message), SentAt: m.SentAt,
		})
	}
	return out, nil
}

type messageQuery struct {
	MessageID string `json:"message_id,omitempty" description:"Id of the message."`
	Key       string `json:"key,omitempty" description:"Idempotency key of the request that sent it."`
}

type foundMessage struct {
	Found     bool   `json:"found"`
	Applied   *bool  `json:"applied,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	Channel   string `json:"channel,omitempty"`
	Message   string `json:"message,omitempty"`
}

// Summary implements domainkit.Summarizer.
func (f foundMessage) Summary() string {
	if !f.Found {
		return "there is no such message"
	}
	return fmt.Sprintf("message %s was sent to %s", f.MessageID, f.Channel)
}

func (d *Domain) findMessage(_ context.Context, _ domainkit.Call, q messageQuery) (foundMessage, error) {
	var m message
	var out foundMessage
	if q.MessageID != "" {
		m, out.Found = d.outbox.find(func(m message) bool { return m.ID == q.MessageID })
	} else {
		m, out.Found = d.outbox.byKey(q.Key)
		out.Applied = &out.Found
	}
	out.MessageID, out.Channel, out.Message = m.ID, m.Channel, m.Message
	return out, nil
}
