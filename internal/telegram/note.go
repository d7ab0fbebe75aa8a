package telegram

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
)

// inboxEntry is the stored progress of an update, for the next start.
type inboxEntry struct {
	// Tries is the number of failed attempts.
	Tries int `json:"tries,omitempty"`
	// Month is the month of its conversation, if it is not the message's own.
	Month string `json:"month,omitempty"`
	// Live is the message that shows progress, Gates the one with buttons, Shown the outline of
	// what that one shows.
	Live  int    `json:"live,omitempty"`
	Gates int    `json:"gates,omitempty"`
	Shown string `json:"shown,omitempty"`
}

// jobOf returns a job for a stored item.
func jobOf(r orchestrator.InboxMessage) job {
	j := job{received: r}
	if r.Reply != "" && json.Unmarshal([]byte(r.Reply), &j.noted) != nil {
		j.noted = inboxEntry{} // it is shown again
	}
	return j
}

// box stores the updates of one channel until they are answered. All of its state is in the store.
type box struct {
	inbox   orchestrator.Inbox
	leads   func(context.Context) (bool, error) // nil means always
	channel string
	now     func() time.Time
	retry   backoff
	logger  *slog.Logger
}

// receive stores items and returns those that are new.
func (b *box) receive(ctx context.Context, items []orchestrator.InboxMessage) ([]orchestrator.InboxMessage, error) {
	for n := range items {
		items[n].Channel, items[n].At = b.channel, b.now()
	}
	return b.inbox.Receive(ctx, items)
}

// unfinished returns the items that are not answered yet.
func (b *box) unfinished(ctx context.Context) ([]orchestrator.InboxMessage, error) {
	return b.inbox.Unfinished(ctx, b.channel)
}

// mine reports whether this server may process an item, and stores the attempt: it must be the leader
// by the clock of the database, and nobody may have finished the item. So a server that was frozen
// notices that another one has taken over.
func (b *box) mine(ctx context.Context, j job) (bool, error) {
	if b.leads != nil {
		if leads, err := b.leads(ctx); err != nil || !leads {
			return false, err
		}
	}
	body, err := json.Marshal(j.noted)
	if err != nil {
		return false, err
	}
	return b.noteReply(ctx, j.received.ID, string(body))
}

// keepably returns a context for writes that must succeed while the bot is stopping.
func keepably(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
}

// note stores the progress of a job.
func (b *box) note(ctx context.Context, j job) {
	body, err := json.Marshal(j.noted)
	if err == nil {
		_, err = b.noteReply(ctx, j.received.ID, string(body))
	}
	if err != nil {
		b.logger.WarnContext(ctx, "telegram cannot note how far an update is", errAttr(err))
	}
}

// noteReply stores where the reply to an item is shown, and reports whether the item is unfinished.
func (b *box) noteReply(ctx context.Context, id, reply string) (bool, error) {
	ctx, cancel := keepably(ctx)
	defer cancel()
	return b.inbox.NoteReply(ctx, b.channel, id, reply)
}

// finish marks an item as answered. Otherwise a restart would answer again, so a failure is retried
// once.
func (b *box) finish(ctx context.Context, id string) {
	ctx, cancel := keepably(ctx)
	defer cancel()
	err := b.inbox.Finish(ctx, b.channel, id)
	if err != nil && sleep(ctx, b.retry.first) == nil {
		err = b.inbox.Finish(ctx, b.channel, id)
	}
	if err != nil {
		b.logger.WarnContext(ctx, "telegram cannot finish an update", slog.String("update_id", id), errAttr(err))
	}
}

// giveUp stores why an item is not answered.
func (b *box) giveUp(ctx context.Context, id, problem string) {
	ctx, cancel := keepably(ctx)
	defer cancel()
	if err := b.inbox.GiveUp(ctx, b.channel, id, problem); err != nil {
		b.logger.WarnContext(ctx, "telegram cannot give an update up", errAttr(err))
	}
}

// tellGivenUp logs the stored items that were given up.
func (b *box) tellGivenUp(ctx context.Context) {
	given, err := b.inbox.GivenUp(ctx, b.channel)
	if err != nil {
		b.logger.WarnContext(ctx, "telegram cannot read its inbox", errAttr(err))
	}
	for _, r := range given {
		b.logger.WarnContext(ctx, "telegram has an update that was given up", slog.String("update_id", r.ID), slog.Time("received_at", r.At), slog.String("problem", r.Reply))
	}
}
