package telegram

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
)

// inboxEntry is the stored part of an update that is being processed, for the next start.
type inboxEntry struct {
	// Tries is how often it was begun and came to nothing.
	Tries int `json:"tries,omitempty"`
	// Month is that of the conversation that it belongs to, if it is not its own.
	Month string `json:"month,omitempty"`
	// Live is the message that shows progress, Gates the one that has buttons, and
	// Shown what that one shows.
	Live  int    `json:"live,omitempty"`
	Gates int    `json:"gates,omitempty"`
	Shown string `json:"shown,omitempty"`
}

// jobOf takes up an item with what was noted of it.
func jobOf(r orchestrator.InboxMessage) job {
	j := job{received: r}
	if r.Reply != "" && json.Unmarshal([]byte(r.Reply), &j.noted) != nil {
		j.noted = inboxEntry{} // it is shown again
	}
	return j
}

// box is what came in by one channel, kept until it was answered. It keeps
// nothing itself: all of it stands in the store.
type box struct {
	inbox   orchestrator.Inbox
	leads   func(context.Context) (bool, error) // nil is always
	channel string
	now     func() time.Time
	retry   backoff
	logger  *slog.Logger
}

// receive keeps items, and returns those that the channel has not brought before.
func (b *box) receive(ctx context.Context, items []orchestrator.InboxMessage) ([]orchestrator.InboxMessage, error) {
	for n := range items {
		items[n].Channel, items[n].At = b.channel, b.now()
	}
	return b.inbox.Receive(ctx, items)
}

// unfinished are the items that were not answered yet.
func (b *box) unfinished(ctx context.Context) ([]orchestrator.InboxMessage, error) {
	return b.inbox.Unfinished(ctx, b.channel)
}

// mine reports whether an item is this server's to begin, and notes that it does: it
// leads, by the clock of the database, and nobody has ended the item. A server that
// was frozen finds that another one has gone on.
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

// keepably is a context for what is written also while the bot is being stopped.
func keepably(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
}

// note keeps what is noted of a job.
func (b *box) note(ctx context.Context, j job) {
	body, err := json.Marshal(j.noted)
	if err == nil {
		_, err = b.noteReply(ctx, j.received.ID, string(body))
	}
	if err != nil {
		b.logger.WarnContext(ctx, "telegram cannot note how far an update is", errAttr(err))
	}
}

// noteReply keeps where the answer to an item is being shown, and reports whether it
// waits for one.
func (b *box) noteReply(ctx context.Context, id, reply string) (bool, error) {
	ctx, cancel := keepably(ctx)
	defer cancel()
	return b.inbox.NoteReply(ctx, b.channel, id, reply)
}

// finish marks an item as answered. Without it a restart would answer again,
// so a store that is held up is tried once more.
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

// giveUp keeps why an item is not answered.
func (b *box) giveUp(ctx context.Context, id, problem string) {
	ctx, cancel := keepably(ctx)
	defer cancel()
	if err := b.inbox.GiveUp(ctx, b.channel, id, problem); err != nil {
		b.logger.WarnContext(ctx, "telegram cannot give an update up", errAttr(err))
	}
}

// tellGivenUp writes down at the start what was given up and is still known.
func (b *box) tellGivenUp(ctx context.Context) {
	given, err := b.inbox.GivenUp(ctx, b.channel)
	if err != nil {
		b.logger.WarnContext(ctx, "telegram cannot read its inbox", errAttr(err))
	}
	for _, r := range given {
		b.logger.WarnContext(ctx, "telegram has an update that was given up", slog.String("update_id", r.ID), slog.Time("received_at", r.At), slog.String("problem", r.Reply))
	}
}
