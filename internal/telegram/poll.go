package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/orchestrator"
)

// poll asks for updates until the context ends. The offset acknowledges what
// came before it, so it moves only once that is in the inbox.
func (b *Bot) poll(ctx context.Context) {
	var offset int64
	for wait := b.cfg.Pause; ctx.Err() == nil; {
		updates, err := b.api.updates(ctx, offset, b.cfg.PollTimeout)
		if err == nil {
			err = b.receive(ctx, updates)
		}
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			b.complain(ctx, err)
			if sleep(ctx, max(wait, retryAfter(err))) != nil {
				return
			}
			wait = b.longer(wait)
			continue
		}
		wait = b.cfg.Pause
		for _, u := range updates {
			offset = max(offset, u.ID+1)
		}
	}
}

// complain writes down why there are no updates, with what to do about it.
func (b *Bot) complain(ctx context.Context, err error) {
	hint := "it is tried again"
	r, refused := errors.AsType[*refusal](err)
	switch {
	case refused && r.code == http.StatusConflict && about(err, "webhook"):
		hint = "a webhook is set for this bot; remove it with deleteWebhook, or give this server a bot of its own"
	case refused && r.code == http.StatusConflict:
		hint = "another process polls with this token; stop it, or give this server a bot of its own"
	case unauthorized(err):
		hint = "the token was withdrawn; set the new one and restart"
	}
	b.cfg.Logger.WarnContext(ctx, "telegram gives no updates", slog.Any("error", b.api.safe(err)), slog.String("hint", hint))
}

// receive keeps what is for us, and begins what is new. Strangers are told so
// and leave no trace.
func (b *Bot) receive(ctx context.Context, updates []update) error {
	var ours []orchestrator.Received
	byID := map[string]update{}
	for _, u := range updates {
		switch b.judgeSafely(ctx, &u.Update) {
		case stranger:
			b.turnAway(ctx, u, "You are not on the list of this bot. Ask whoever runs it to add your Telegram user id: ", false)
		case elsewhere:
			b.turnAway(ctx, u, "I do not answer in this group. Ask whoever runs this bot to add the id of the group: ", true)
		case welcome:
			id := strconv.FormatInt(u.ID, 10)
			byID[id] = u
			ours = append(ours, orchestrator.Received{Channel: b.channel, ID: id, Body: u.raw, At: b.cfg.Now()})
		case ignored:
		}
	}
	if len(ours) == 0 {
		return nil
	}
	fresh, err := b.inbox.Receive(ctx, ours)
	if err != nil {
		return err
	}
	for _, r := range fresh {
		j := jobOf(r)
		j.update = byID[r.ID].Update
		b.begin(ctx, j)
	}
	return nil
}

// resume takes up what was received and not answered before the last stop.
func (b *Bot) resume(ctx context.Context) {
	for wait := b.cfg.Pause; ; wait = b.longer(wait) {
		left, err := b.inbox.Unfinished(ctx, b.channel)
		if err == nil {
			for _, r := range left {
				j := jobOf(r)
				if json.Unmarshal(r.Body, &j.update) == nil && b.judgeSafely(ctx, &j.update) == welcome {
					b.begin(ctx, j)
					continue
				}
				b.finish(ctx, r) // whoever sent it is no longer on the list
			}
			return
		}
		b.cfg.Logger.WarnContext(ctx, "telegram cannot read its inbox", slog.Any("error", err))
		if sleep(ctx, wait) != nil {
			return
		}
	}
}

// job is one update on its way.
type job struct {
	received orchestrator.Received
	update   models.Update
	noted    noted
	panics   int
}

// begin queues a job. What one person says in one chat is taken in order; what
// others say is not held up by it.
func (b *Bot) begin(ctx context.Context, j job) {
	b.enqueue(ctx, j, func(queue []job) []job { return append(queue, j) })
}

// beginFirst queues a job before all others of its lane.
func (b *Bot) beginFirst(ctx context.Context, j job) {
	b.enqueue(ctx, j, func(queue []job) []job { return append([]job{j}, queue...) })
}

func (b *Bot) enqueue(ctx context.Context, j job, in func(queue []job) []job) {
	from, chat, _ := b.addressed(&j.update)
	lane := strconv.FormatInt(chat.ID, 10) + ":" + strconv.FormatInt(from.ID, 10)
	b.mu.Lock()
	defer b.mu.Unlock()
	queue, runs := b.lanes[lane]
	b.lanes[lane] = in(queue)
	if !runs {
		b.work.Go(func() { b.drain(ctx, lane) })
	}
}

// drain takes the jobs of a lane until there are none.
func (b *Bot) drain(ctx context.Context, lane string) {
	for {
		b.mu.Lock()
		queue := b.lanes[lane]
		if len(queue) == 0 || ctx.Err() != nil {
			delete(b.lanes, lane)
			b.mu.Unlock()
			return
		}
		b.lanes[lane] = queue[1:]
		b.mu.Unlock()
		b.attempt(ctx, queue[0])
	}
}

// finish marks an item as answered. Without it a restart would answer again,
// so a store that is held up is tried once more.
func (b *Bot) finish(ctx context.Context, r orchestrator.Received) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	err := b.inbox.Finish(ctx, b.channel, r.ID)
	if err != nil && sleep(ctx, b.cfg.Pause) == nil {
		err = b.inbox.Finish(ctx, b.channel, r.ID)
	}
	if err != nil {
		b.cfg.Logger.WarnContext(ctx, "telegram cannot finish an update", slog.String("update_id", r.ID), slog.Any("error", err))
	}
}

const (
	// refuseAgain is how long a stranger waits to be told again.
	refuseAgain = time.Minute
	// maxStrangers bounds the refusals under way, and those that are remembered.
	maxStrangers = 100
)

// turnAway tells a stranger, or a group that is not on the list, which id is
// missing. It is bounded, so that strangers cannot make the bot busy.
func (b *Bot) turnAway(ctx context.Context, u update, text string, group bool) {
	from, chat, _ := b.addressed(&u.Update)
	id := from.ID
	if group {
		id = chat.ID
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.cfg.Now()
	if len(b.refused) > 10*maxStrangers {
		clear(b.refused)
	}
	if u.CallbackQuery == nil && now.Sub(b.refused[id]) < refuseAgain || b.strangers >= maxStrangers {
		return
	}
	b.refused[id] = now
	b.strangers++
	b.cfg.Logger.InfoContext(ctx, "telegram refused somebody who is not on the list", slog.Int64("id", id))
	b.work.Go(func() {
		defer func() {
			if caught := recover(); caught != nil {
				b.cfg.Logger.ErrorContext(ctx, "telegram cannot refuse a stranger", slog.Any("panic", caught))
			}
			b.mu.Lock()
			b.strangers--
			b.mu.Unlock()
		}()
		b.refuse(ctx, u, chat, text+strconv.FormatInt(id, 10))
	})
}

func (b *Bot) refuse(ctx context.Context, u update, chat models.Chat, text string) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if u.CallbackQuery != nil {
		b.toast(ctx, u.CallbackQuery.ID, text)
		return
	}
	if b.api.pace.wait(ctx, chat.ID) != nil {
		return
	}
	if _, err := b.api.bot.SendMessage(ctx, &tg.SendMessageParams{ChatID: chat.ID, Text: text}); err != nil {
		b.api.pace.hush(chat.ID, retryAfter(err))
	}
}
