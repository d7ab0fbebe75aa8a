package ask

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/present"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// MessageFilter are the parameters of list_conversations.
type MessageFilter struct {
	site.FlowRef
	Limit int `json:"limit" default:"20" min:"1" max:"50" description:"How many at most"`
}

// MessageRow is one message.
type MessageRow struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	Text string    `json:"text"`
	Chat string    `json:"chat"`
}

// Messages are the last messages of a flow, newest first.
type Messages struct {
	ChatflowID string       `json:"chatflow_id"`
	Messages   []MessageRow `json:"messages"`
	Total      int          `json:"total"`
	Chats      int          `json:"chats"`
}

// Summary reports their number.
func (m Messages) Summary() string {
	if m.Total == 0 {
		return "nobody has talked with it yet"
	}
	return fmt.Sprintf("%s in %s", present.Count(m.Total, "message"), present.Count(m.Chats, "conversation"))
}

// listMessages returns the questions to a flow and its answers.
func (k *Asker) listMessages(ctx context.Context, call domainkit.Call, in MessageFilter) (Messages, error) {
	rows, err := k.messages(ctx, call, in.ChatflowID, time.Time{})
	if err != nil {
		return Messages{}, err
	}
	out := Messages{ChatflowID: in.ChatflowID, Total: len(rows), Chats: chats(rows), Messages: []MessageRow{}}
	for _, r := range slices.Backward(rows) {
		if len(out.Messages) == in.Limit {
			break
		}
		by := "flow"
		if r.Role == api.RoleUser {
			by = "person"
		}
		out.Messages = append(out.Messages, MessageRow{r.CreatedDate, by, present.Clip(flow.Hide(r.Content), 200), r.ChatID})
	}
	out.Messages = present.Within(out.Messages, 5<<10)
	return out, nil
}

func (k *Asker) messages(ctx context.Context, call domainkit.Call, id string, until time.Time) ([]api.Row, error) {
	client, err := k.site.Pool.Client(call.Instance)
	if err != nil {
		return nil, site.Failure(err)
	}
	rows, err := client.Messages(ctx, id, until)
	if err != nil {
		return nil, site.Failure(err)
	}
	return rows, nil
}

func chats(rows []api.Row) int {
	seen := map[string]bool{}
	for _, r := range rows {
		seen[r.ChatID] = true
	}
	return len(seen)
}

// MessageCount are the parameters of count_messages.
type MessageCount struct {
	site.FlowRef
	Until string `json:"until,omitempty" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$" description:"Only messages until this moment"`
	// Some refuses a flow without messages, so that nobody is asked to delete none.
	Some bool `json:"some,omitempty" description:"Refuse where there are none"`
}

// MessagesCounted is the number of messages, with the time of the last one as the only choice.
type MessagesCounted struct {
	Count   int      `json:"count"`
	Matches []choice `json:"matches"`
}

type choice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// Summary reports their number.
func (m MessagesCounted) Summary() string { return present.Count(m.Count, "message") }

func (k *Asker) countMessages(ctx context.Context, call domainkit.Call, in MessageCount) (MessagesCounted, error) {
	until, err := moment(in.Until)
	if err != nil {
		return MessagesCounted{}, err
	}
	rows, err := k.messages(ctx, call, in.ChatflowID, until)
	if err != nil {
		return MessagesCounted{}, err
	}
	out := MessagesCounted{Count: len(rows), Matches: []choice{}}
	if len(rows) == 0 {
		if in.Some {
			return out, domainkit.Refusef(contracts.ErrPrecondition, "there are no messages to delete")
		}
		return out, nil
	}
	last := rows[len(rows)-1].CreatedDate.UTC()
	out.Matches = append(out.Matches, choice{last.Format(momentFormat), fmt.Sprintf(
		"%s in %s, until %s", present.Count(len(rows), "message"), present.Count(chats(rows), "conversation"), last.Format("2006-01-02 15:04:05"))})
	return out, nil
}

const momentFormat = "2006-01-02T15:04:05.000Z"

func moment(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, domainkit.Refusef(contracts.ErrInvalidParameters, "%q is no moment such as 2026-01-31T12:00:00.000Z", text)
	}
	return at, nil
}

// Forgetting are the parameters of delete_messages. Which must be given explicitly, although there
// is only one choice, because the deletion is permanent.
type Forgetting struct {
	site.FlowRef
	Which string `json:"which" enum:"all" description:"Which messages: all that were said until now"`
	Until string `json:"until,omitempty" pattern:"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$" description:"Only messages until this moment, which is that of the last one that was looked at"`
}

// Forgotten is the result of a deletion.
type Forgotten struct {
	Instance   string `json:"instance"`
	ChatflowID string `json:"chatflow_id"`
	Deleted    int    `json:"deleted"`
	Until      string `json:"until"`
}

// Summary reports the number of deleted messages.
func (f Forgotten) Summary() string {
	return present.Count(f.Deleted, "message") + " deleted; the chatflow itself is as it was"
}

// deleteMessages deletes the messages up to the reviewed time. Later messages stay, however late
// the approval is given.
func (k *Asker) deleteMessages(ctx context.Context, call domainkit.Call, in Forgetting) (Forgotten, error) {
	if in.Until == "" {
		return Forgotten{}, domainkit.Refusef(contracts.ErrInvalidParameters, "say until when; count_messages gives the moment of the last message")
	}
	until, err := moment(in.Until)
	if err != nil {
		return Forgotten{}, err
	}
	rows, err := k.messages(ctx, call, in.ChatflowID, until)
	if err != nil {
		return Forgotten{}, err
	}
	client, err := k.site.Pool.Client(call.Instance)
	if err != nil {
		return Forgotten{}, site.Failure(err)
	}
	if err := client.DeleteMessages(ctx, in.ChatflowID, until); err != nil {
		return Forgotten{}, site.Failure(err)
	}
	return Forgotten{call.Instance, in.ChatflowID, len(rows), in.Until}, nil
}

// forgetting is the metadata of delete_messages: it can be retried, it cannot be undone, and a
// look-up before the gate determines which messages are deleted.
func forgetting() contracts.Metadata {
	zero := any(0)
	return contracts.Metadata{
		SideEffectClass: contracts.ClassWriteIrreversible, ExecutionMode: contracts.ModeSequential, Idempotency: contracts.IdempotencyNatural,
		ApprovalRequired: new(true), RiskLevel: contracts.RiskHigh, TimeoutMS: 60000, Locks: []string{"chatflow:{chatflow_id}"},
		Flow: &contracts.Flow{Pre: []contracts.PreStep{policy.ResolveFlow(false), {
			Type: "look_at_messages", Param: "until", SearchCapability: "count_messages", Choose: contracts.ChooseFail,
			ParamMap: map[string]any{"chatflow_id": "${params.chatflow_id}", "instance": "${params.instance}", "some": true},
		}}},
		Verify: &contracts.VerifyRule{Capability: "count_messages", WithinMS: 5000, ParamMap: map[string]any{
			"chatflow_id": "${params.chatflow_id}", "until": "${params.until}", "instance": "${result.facts.instance}",
		}, Assertions: []contracts.Condition{{Path: "facts.count", Equals: &zero}}},
		Present: &contracts.Present{Title: "Messages", Columns: []contracts.PresentColumn{{Path: "deleted", Title: "Deleted"}, {Path: "until", Title: "Until"}}},
	}
}
