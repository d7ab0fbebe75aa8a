package telegram

import (
	"context"
	"log/slog"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// reply sends the whole of an answer and finishes the update that asked for it.
func (b *Bot) reply(ctx context.Context, j job, at place, parts []part) {
	if _, err := b.deliver(ctx, at, j.noted.Live, parts); err != nil && ctx.Err() != nil {
		j.noted.Tries = 0 // it was stopped, and has not failed
		b.note(ctx, j)
		return // the next start takes it up
	}
	b.finish(ctx, j.received)
}

// deliver sends an answer in as many messages as it needs, the first of them in
// place of the message that showed progress. It tries until it succeeds, can
// never succeed, or is stopped, and gives the id of the last message.
func (b *Bot) deliver(ctx context.Context, at place, live int, parts []part) (last int, err error) {
	for n, m := range pack(parts) {
		if n > 0 {
			live = 0
		}
		if last, err = b.put(ctx, at, live, m); err != nil {
			if ctx.Err() == nil {
				b.cfg.Logger.WarnContext(ctx, "telegram refuses an answer", slog.Int64("chat_id", at.chat), slog.Any("error", b.api.safe(err)))
			}
			return last, err
		}
	}
	return last, nil
}

// put writes one message: over another one, or as a new one if that is gone.
func (b *Bot) put(ctx context.Context, at place, live int, m outgoing) (id int, err error) {
	err = b.insist(ctx, at.chat, func(ctx context.Context) error {
		if live > 0 {
			err := b.edit(ctx, at, live, m)
			if !about(err, "message to edit not found") && !about(err, "message can't be edited") {
				id = live
				return err
			}
			live = 0
		}
		id, err = b.send(ctx, at, m)
		return err
	})
	return id, err
}

func (b *Bot) send(ctx context.Context, at place, m outgoing) (int, error) {
	params := &tg.SendMessageParams{
		ChatID: at.chat, MessageThreadID: at.thread, Text: m.html, ParseMode: models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: new(true)},
	}
	if at.reply > 0 {
		params.ReplyParameters = &models.ReplyParameters{MessageID: at.reply, AllowSendingWithoutReply: true}
	}
	if len(m.buttons) > 0 {
		params.ReplyMarkup = models.InlineKeyboardMarkup{InlineKeyboard: m.buttons}
	}
	sent, err := b.api.bot.SendMessage(ctx, params)
	if about(err, "can't parse entities") { // rather plain than not at all
		params.Text, params.ParseMode = m.plain, ""
		sent, err = b.api.bot.SendMessage(ctx, params)
	}
	if err != nil {
		return 0, err
	}
	return sent.ID, nil
}

func (b *Bot) edit(ctx context.Context, at place, id int, m outgoing) error {
	params := &tg.EditMessageTextParams{
		ChatID: at.chat, MessageID: id, Text: m.html, ParseMode: models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: new(true)},
	}
	if len(m.buttons) > 0 {
		params.ReplyMarkup = models.InlineKeyboardMarkup{InlineKeyboard: m.buttons}
	}
	_, err := b.api.bot.EditMessageText(ctx, params)
	if about(err, "can't parse entities") {
		params.Text, params.ParseMode = m.plain, ""
		_, err = b.api.bot.EditMessageText(ctx, params)
	}
	if about(err, "message is not modified") {
		return nil
	}
	return err
}

// insist makes a call until it succeeds, can never succeed, or is stopped. It
// keeps to the limits, and waits as long as Telegram asks for.
func (b *Bot) insist(ctx context.Context, chat int64, call func(context.Context) error) error {
	for wait := b.cfg.Pause; ; wait = b.longer(wait) {
		if err := b.api.pace.wait(ctx, chat); err != nil {
			return err
		}
		err := bound(ctx, call)
		switch quiet := retryAfter(err); {
		case err == nil || hopeless(err) || ctx.Err() != nil:
			return err
		case quiet > 0:
			b.cfg.Logger.InfoContext(ctx, "telegram asks to wait", slog.Int64("chat_id", chat), slog.Duration("wait", quiet))
			b.api.pace.hush(chat, quiet)
		default:
			b.cfg.Logger.WarnContext(ctx, "telegram takes no message", slog.Int64("chat_id", chat), slog.Any("error", b.api.safe(err)))
			if sleep(ctx, wait) != nil {
				return err
			}
		}
	}
}

// bound ends a call after a while, but not with the bot: of a call that is cut
// off nobody knows whether Telegram has taken it, and it would be made again.
func bound(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return call(ctx)
}

// glimpse shows progress, if the limits leave room for it and Telegram takes
// it. It gives the id of the message that shows it.
func (b *Bot) glimpse(ctx context.Context, at place, live int, m outgoing) int {
	if !b.api.pace.may(at.chat) {
		return live
	}
	err := bound(ctx, func(ctx context.Context) error {
		if live > 0 {
			return b.edit(ctx, at, live, m)
		}
		var err error
		live, err = b.send(ctx, at, m)
		return err
	})
	b.api.pace.hush(at.chat, retryAfter(err))
	return live
}

// every is the pause between two glimpses.
func (b *Bot) every(at place) time.Duration {
	if at.group {
		return 3 * b.cfg.Limits.Progress
	}
	return b.cfg.Limits.Progress
}
