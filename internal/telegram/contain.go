package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/internal/telegram/render"
)

// maxTries bounds the attempts at one update: one that crashes the process, or panics, would do so
// forever.
const maxTries = 5

// attempt processes an update, unless it was tried too often or belongs to another server.
func (l *lanes) attempt(ctx context.Context, j job) {
	if j.noted.Tries >= maxTries {
		l.giveUp(ctx, j, fmt.Sprintf("the process ended %d times while this was under way", j.noted.Tries))
		return
	}
	defer func() { l.contain(ctx, j, recover()) }()
	j.noted.Tries++
	if l.mine(ctx, j) {
		l.take(ctx, j)
	}
}

// mine reports whether this server may process an update. It retries until the store answers.
func (l *lanes) mine(ctx context.Context, j job) bool {
	retry := l.answers.box.retry
	for wait := retry.first; ; wait = retry.after(wait) {
		mine, err := l.answers.box.mine(ctx, j)
		if err == nil {
			return mine
		}
		l.logger.WarnContext(ctx, "telegram cannot look at an update", slog.String("update_id", j.received.ID), errAttr(err))
		if sleep(ctx, wait) != nil {
			return false
		}
	}
}

// contain limits a panic to its update, which is retried a few times.
func (l *lanes) contain(ctx context.Context, j job, caught any) {
	if caught == nil {
		return
	}
	l.logger.ErrorContext(ctx, "telegram update panicked", slog.String("update_id", j.received.ID), slog.String("error", fmt.Sprintf("panic: %v\n%s", caught, debug.Stack())))
	if j.panics++; j.panics < maxTries {
		l.beginFirst(ctx, j)
		return
	}
	l.giveUp(ctx, j, fmt.Sprintf("panic: %v", caught))
}

// giveUp ends an update that cannot be processed: its problem is stored, and its sender is told.
func (l *lanes) giveUp(ctx context.Context, j job, problem string) {
	l.logger.ErrorContext(ctx, "telegram update is given up", slog.String("update_id", j.received.ID), slog.String("problem", problem))
	defer func() {
		if caught := recover(); caught != nil {
			l.logger.ErrorContext(ctx, "telegram cannot say that an update is given up", slog.Any("panic", caught))
		}
	}()
	l.answers.box.giveUp(ctx, j.received.ID, problem)
	text := "Something went wrong here, again and again; the log has it under update " + j.received.ID + ". Nothing more is done about this message. /status shows where your request stands."
	if _, err := l.answers.out.deliver(ctx, placeOfUpdate(&j.update), j.noted.Live, render.Plain(text)); err != nil && ctx.Err() == nil {
		l.logger.WarnContext(ctx, "telegram cannot say that an update is given up", slog.Any("error", l.answers.out.api.safe(err)))
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
