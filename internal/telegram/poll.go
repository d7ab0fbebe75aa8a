package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/orchestrator"
)

// updatePoller receives updates and stores those for the bot. It runs in the bot's goroutine; only
// refusals have goroutines of their own.
type updatePoller struct {
	api      *api
	audience *messageFilter
	box      *box
	lanes    *lanes
	out      *sender
	work     *sync.WaitGroup
	wait     time.Duration // how long one poll waits for updates
	retry    backoff
	now      func() time.Time
	logger   *slog.Logger

	mu        sync.Mutex // guards the fields below
	refused   map[int64]time.Time
	strangers int // running refusals
}

// poll requests updates until ctx ends. The offset acknowledges earlier updates, so it advances only
// after they are in the inbox.
func (i *updatePoller) poll(ctx context.Context) {
	var offset int64
	for wait := i.retry.first; ctx.Err() == nil; {
		updates, err := i.api.updates(ctx, offset, i.wait)
		if err == nil {
			err = i.receive(ctx, updates)
		}
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			i.complain(ctx, err)
			if sleep(ctx, max(wait, retryAfter(err))) != nil {
				return
			}
			wait = i.retry.after(wait)
			continue
		}
		wait = i.retry.first
		for _, u := range updates {
			offset = max(offset, u.ID+1)
		}
	}
}

// complain logs why there are no updates, and what to do about it.
func (i *updatePoller) complain(ctx context.Context, err error) {
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
	i.logger.WarnContext(ctx, "telegram gives no updates", slog.Any("error", i.api.safe(err)), slog.String("hint", hint))
}

// receive stores the updates for the bot and starts the new ones. Strangers are told so, and nothing of
// theirs is stored.
func (i *updatePoller) receive(ctx context.Context, updates []update) error {
	var ours []orchestrator.InboxMessage
	byID := map[string]update{}
	for _, u := range updates {
		switch i.judgeSafely(ctx, &u.Update) {
		case stranger:
			i.turnAway(ctx, u, "You are not on the list of this bot. Ask whoever runs it to add your Telegram user id: ", false)
		case elsewhere:
			i.turnAway(ctx, u, "I do not answer in this group. Ask whoever runs this bot to add the id of the group: ", true)
		case welcome:
			id := strconv.FormatInt(u.ID, 10)
			byID[id] = u
			ours = append(ours, orchestrator.InboxMessage{ID: id, Body: u.raw})
		case ignored:
		}
	}
	if len(ours) == 0 {
		return nil
	}
	fresh, err := i.box.receive(ctx, ours)
	if err != nil {
		return err
	}
	for _, r := range fresh {
		j := jobOf(r)
		j.update = byID[r.ID].Update
		i.lanes.begin(ctx, j)
	}
	return nil
}

// resume starts the updates that were not answered before the last stop.
func (i *updatePoller) resume(ctx context.Context) {
	for wait := i.retry.first; ; wait = i.retry.after(wait) {
		left, err := i.box.unfinished(ctx)
		if err == nil {
			for _, r := range left {
				j := jobOf(r)
				if json.Unmarshal(r.Body, &j.update) == nil && i.judgeSafely(ctx, &j.update) == welcome {
					i.lanes.begin(ctx, j)
					continue
				}
				i.box.finish(ctx, r.ID) // the sender is no longer on the list
			}
			return
		}
		i.logger.WarnContext(ctx, "telegram cannot read its inbox", slog.Any("error", err))
		if sleep(ctx, wait) != nil {
			return
		}
	}
}

const (
	// refuseAgain is the interval between two refusals to the same sender.
	refuseAgain = time.Minute
	// maxStrangers bounds the running refusals, and the remembered ones.
	maxStrangers = 100
)

// turnAway tells a stranger, or an unlisted group, which id is missing. It is rate-limited, so that
// strangers cannot keep the bot busy.
func (i *updatePoller) turnAway(ctx context.Context, u update, text string, group bool) {
	from, chat, _ := i.audience.addressed(&u.Update)
	id := from.ID
	if group {
		id = chat.ID
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	if len(i.refused) > 10*maxStrangers {
		clear(i.refused)
	}
	if u.CallbackQuery == nil && now.Sub(i.refused[id]) < refuseAgain || i.strangers >= maxStrangers {
		return
	}
	i.refused[id] = now
	i.strangers++
	i.logger.InfoContext(ctx, "telegram refused somebody who is not on the list", slog.Int64("id", id))
	i.work.Go(func() {
		defer func() {
			if caught := recover(); caught != nil {
				i.logger.ErrorContext(ctx, "telegram cannot refuse a stranger", slog.Any("panic", caught))
			}
			i.mu.Lock()
			i.strangers--
			i.mu.Unlock()
		}()
		i.refuse(ctx, u, chat, text+strconv.FormatInt(id, 10))
	})
}

func (i *updatePoller) refuse(ctx context.Context, u update, chat models.Chat, text string) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if u.CallbackQuery != nil {
		i.out.toast(ctx, u.CallbackQuery.ID, text)
		return
	}
	if i.api.pace.wait(ctx, chat.ID) != nil {
		return
	}
	if _, err := i.api.bot.SendMessage(ctx, &tg.SendMessageParams{ChatID: chat.ID, Text: text}); err != nil {
		i.api.pace.hush(chat.ID, retryAfter(err))
	}
}

// judgeSafely is like judge, but ignores an update on a panic.
func (i *updatePoller) judgeSafely(ctx context.Context, u *models.Update) (s updateVerdict) {
	defer func() {
		if caught := recover(); caught != nil {
			i.logger.ErrorContext(ctx, "telegram update cannot be read", slog.Int64("update_id", u.ID), slog.String("error", fmt.Sprintf("panic: %v\n%s", caught, debug.Stack())))
			s = ignored
		}
	}()
	return i.audience.judge(u)
}
