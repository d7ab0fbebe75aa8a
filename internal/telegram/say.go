package telegram

import (
	"context"
	"log/slog"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/internal/telegram/render"
)

// sender writes into chats. It keeps to the limits of Telegram and outlives its
// failures; of the chats it knows nothing.
type sender struct {
	api      *api
	retry    backoff
	progress time.Duration // the pause between two glimpses in a private chat
	logger   *slog.Logger
	// shown hears of each message that was sent with buttons; nil is nobody.
	shown func(ctx context.Context, chat int64, message int, buttons [][]models.InlineKeyboardButton)
}

// deliver sends an answer in as many messages as it needs, the first of them in
// place of the message that showed progress. It tries until it succeeds, can
// never succeed, or is stopped, and returns the id of the last message.
func (s *sender) deliver(ctx context.Context, at place, live int, parts []render.Part) (last int, err error) {
	for n, m := range render.Pack(parts) {
		if n > 0 {
			live = 0
		}
		if last, err = s.put(ctx, at, live, m); err != nil {
			if ctx.Err() == nil {
				s.logger.WarnContext(ctx, "telegram refuses an answer", slog.Int64("chat_id", at.chat), slog.Any("error", s.api.safe(err)))
			}
			return last, err
		}
		if s.shown != nil && len(m.Buttons) > 0 {
			s.shown(ctx, at.chat, last, m.Buttons)
		}
	}
	return last, nil
}

// put writes one message: over another one, or as a new one if that is gone.
func (s *sender) put(ctx context.Context, at place, live int, m render.Outgoing) (id int, err error) {
	err = s.insist(ctx, at.chat, func(ctx context.Context) error {
		if live > 0 {
			err := s.edit(ctx, at, live, m)
			if !about(err, "message to edit not found") && !about(err, "message can't be edited") {
				id = live
				return err
			}
			live = 0
		}
		id, err = s.send(ctx, at, m)
		return err
	})
	return id, err
}

func (s *sender) send(ctx context.Context, at place, m render.Outgoing) (int, error) {
	params := &tg.SendMessageParams{
		ChatID: at.chat, MessageThreadID: at.thread, Text: m.HTML, ParseMode: models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: new(true)},
	}
	if at.reply > 0 {
		params.ReplyParameters = &models.ReplyParameters{MessageID: at.reply, AllowSendingWithoutReply: true}
	}
	if len(m.Buttons) > 0 {
		params.ReplyMarkup = models.InlineKeyboardMarkup{InlineKeyboard: m.Buttons}
	}
	sent, err := s.api.bot.SendMessage(ctx, params)
	if about(err, "can't parse entities") { // rather plain than not at all
		params.Text, params.ParseMode = m.Plain, ""
		sent, err = s.api.bot.SendMessage(ctx, params)
	}
	if err != nil {
		return 0, err
	}
	return sent.ID, nil
}

func (s *sender) edit(ctx context.Context, at place, id int, m render.Outgoing) error {
	params := &tg.EditMessageTextParams{
		ChatID: at.chat, MessageID: id, Text: m.HTML, ParseMode: models.ParseModeHTML,
		LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: new(true)},
	}
	if len(m.Buttons) > 0 {
		params.ReplyMarkup = models.InlineKeyboardMarkup{InlineKeyboard: m.Buttons}
	}
	_, err := s.api.bot.EditMessageText(ctx, params)
	if about(err, "can't parse entities") {
		params.Text, params.ParseMode = m.Plain, ""
		_, err = s.api.bot.EditMessageText(ctx, params)
	}
	if about(err, "message is not modified") {
		return nil
	}
	return err
}

// insist makes a call until it succeeds, can never succeed, or is stopped. It
// keeps to the limits, and waits as long as Telegram asks for.
func (s *sender) insist(ctx context.Context, chat int64, call func(context.Context) error) error {
	for wait := s.retry.first; ; wait = s.retry.after(wait) {
		if err := s.api.pace.wait(ctx, chat); err != nil {
			return err
		}
		err := bound(ctx, call)
		switch quiet := retryAfter(err); {
		case err == nil || hopeless(err) || ctx.Err() != nil:
			return err
		case quiet > 0:
			s.logger.InfoContext(ctx, "telegram asks to wait", slog.Int64("chat_id", chat), slog.Duration("wait", quiet))
			s.api.pace.hush(chat, quiet)
		default:
			s.logger.WarnContext(ctx, "telegram takes no message", slog.Int64("chat_id", chat), slog.Any("error", s.api.safe(err)))
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
// it. It returns the id of the message that shows it; false means that there was no
// room.
func (s *sender) glimpse(ctx context.Context, at place, live int, m render.Outgoing) (int, bool) {
	if !s.api.pace.may(at.chat) {
		return live, false
	}
	err := bound(ctx, func(ctx context.Context) error {
		if live > 0 {
			return s.edit(ctx, at, live, m)
		}
		var err error
		live, err = s.send(ctx, at, m)
		return err
	})
	s.api.pace.hush(at.chat, retryAfter(err))
	return live, true
}

// every is the pause between two glimpses.
func (s *sender) every(at place) time.Duration {
	if at.group {
		return 3 * s.progress
	}
	return s.progress
}

// toast shows a line over the chat to whoever pressed; Telegram cuts it at 200
// characters. It comes too late after a stop, which is no matter.
func (s *sender) toast(ctx context.Context, id, text string) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:199]) + "…"
	}
	_, err := s.api.bot.AnswerCallbackQuery(ctx, &tg.AnswerCallbackQueryParams{CallbackQueryID: id, Text: text, ShowAlert: true})
	if wait := retryAfter(err); wait > 0 && sleep(ctx, wait) == nil {
		_, _ = s.api.bot.AnswerCallbackQuery(ctx, &tg.AnswerCallbackQueryParams{CallbackQueryID: id, Text: text, ShowAlert: true}) // the press has its effect without it
	}
}

// bare takes the buttons off a message. It tries until it succeeds, can never
// succeed, or is stopped.
func (s *sender) bare(ctx context.Context, chat int64, message int) error {
	err := s.insist(ctx, chat, func(ctx context.Context) error {
		_, err := s.api.bot.EditMessageReplyMarkup(ctx, &tg.EditMessageReplyMarkupParams{
			ChatID: chat, MessageID: message, ReplyMarkup: models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{}},
		})
		return err
	})
	if about(err, "message is not modified") {
		return nil
	}
	return err
}

// unbutton takes the buttons off a message whose gate another message shows, or that
// was pressed in vain: once, because it is a nicety.
func (s *sender) unbutton(ctx context.Context, chat int64, message int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	_, err := s.api.bot.EditMessageReplyMarkup(ctx, &tg.EditMessageReplyMarkupParams{
		ChatID: chat, MessageID: message, ReplyMarkup: models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{}},
	})
	s.api.pace.hush(chat, retryAfter(err))
}

// closeButtons takes the buttons off the message that was pressed.
func (s *sender) closeButtons(ctx context.Context, q *models.CallbackQuery) {
	if m := q.Message.Message; m != nil {
		s.unbutton(ctx, m.Chat.ID, m.ID)
	}
}
