package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/go-telegram/bot/models"
)

// maxTries is how often an update is begun before it is given up: one that ends
// the process, or panics, would do so for ever.
const maxTries = 5

// attempt takes an update, unless it was begun too often.
func (b *Bot) attempt(ctx context.Context, j job) {
	if j.noted.Tries >= maxTries {
		b.giveUp(ctx, j, fmt.Sprintf("the process ended %d times while this was under way", j.noted.Tries))
		return
	}
	defer func() { b.contain(ctx, j, recover()) }()
	j.noted.Tries++
	b.note(ctx, j)
	b.take(ctx, j)
}

// contain keeps a panic to the update that it belongs to, which is tried again a
// few times.
func (b *Bot) contain(ctx context.Context, j job, caught any) {
	if caught == nil {
		return
	}
	b.cfg.Logger.ErrorContext(ctx, "telegram update panicked", slog.String("update_id", j.received.ID), slog.String("error", fmt.Sprintf("panic: %v\n%s", caught, debug.Stack())))
	if j.panics++; j.panics < maxTries {
		b.beginFirst(ctx, j)
		return
	}
	b.giveUp(ctx, j, fmt.Sprintf("panic: %v", caught))
}

// giveUp ends an update that cannot be answered: its problem is kept, and whoever
// sent it is told.
func (b *Bot) giveUp(ctx context.Context, j job, problem string) {
	b.cfg.Logger.ErrorContext(ctx, "telegram update is given up", slog.String("update_id", j.received.ID), slog.String("problem", problem))
	defer func() {
		if caught := recover(); caught != nil {
			b.cfg.Logger.ErrorContext(ctx, "telegram cannot say that an update is given up", slog.Any("panic", caught))
		}
	}()
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if err := b.inbox.GiveUp(keep, b.channel, j.received.ID, problem); err != nil {
		b.cfg.Logger.WarnContext(ctx, "telegram cannot give an update up", errAttr(err))
	}
	text := "Something went wrong here, again and again; the log has it under update " + j.received.ID + ". Nothing more is done about this message. /status shows where your request stands."
	if _, err := b.deliver(ctx, placeOfUpdate(&j.update), j.noted.Live, plainText(text)); err != nil && ctx.Err() == nil {
		b.cfg.Logger.WarnContext(ctx, "telegram cannot say that an update is given up", slog.Any("error", b.api.safe(err)))
	}
}

func placeOfUpdate(u *models.Update) place {
	switch {
	case u.CallbackQuery != nil:
		return placeOfClick(u.CallbackQuery)
	case u.EditedMessage != nil:
		return placeOf(u.EditedMessage)
	default:
		return placeOf(u.Message)
	}
}

// judgeSafely judges an update; one that cannot be judged is for nobody.
func (b *Bot) judgeSafely(ctx context.Context, u *models.Update) (s standing) {
	defer func() {
		if caught := recover(); caught != nil {
			b.cfg.Logger.ErrorContext(ctx, "telegram update cannot be read", slog.Int64("update_id", u.ID), slog.String("error", fmt.Sprintf("panic: %v\n%s", caught, debug.Stack())))
			s = ignored
		}
	}()
	return b.judge(u)
}

// tellGivenUp writes down at the start what was given up and is still known.
func (b *Bot) tellGivenUp(ctx context.Context) {
	given, err := b.inbox.GivenUp(ctx, b.channel)
	if err != nil {
		b.cfg.Logger.WarnContext(ctx, "telegram cannot read its inbox", errAttr(err))
	}
	for _, r := range given {
		b.cfg.Logger.WarnContext(ctx, "telegram has an update that was given up", slog.String("update_id", r.ID), slog.Time("received_at", r.At), slog.String("problem", r.Reply))
	}
}
