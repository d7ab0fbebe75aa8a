package telegram

import (
	"context"
	"log/slog"
	"time"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/internal/telegram/render"
)

// sender sends messages. It applies the rate limits and retries failures.
type sender struct {
	api      *api
	retry    backoff
	progress time.Duration // the pause between two progress edits in a private chat
	logger   *slog.Logger
	// shown is called for each message that was sent with buttons; it may be nil.
	shown func(ctx context.Context, chat int64, message int, buttons [][]models.InlineKeyboardButton)
}

// deliver sends an answer in as many messages as it needs; the first replaces the progress message. It
// retries until it succeeds, cannot succeed, or is stopped. It returns the id of the last message.
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

// put sends one message: as an edit of another one, or as a new one if that is gone.
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
	if about(err, "can't parse entities") { // send plain text rather than nothing
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

// insist retries a call until it succeeds, cannot succeed, or ctx ends. It applies the rate limits, and
// the waits that Telegram requests.
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

// bound limits the time of a call, but does not end it with the bot: whether Telegram has processed a
// cancelled call would be unknown, and it would be repeated.
func bound(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return call(ctx)
}

// glimpse shows progress if the rate limits allow it. It returns the id of the progress message, and
// false if the limits did not allow it.
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

// every returns the pause between two progress edits.
func (s *sender) every(at place) time.Duration {
	if at.group {
		return 3 * s.progress
	}
	return s.progress
}

// toast shows a line above the chat to the person who pressed; Telegram truncates it at 200 characters.
// After a restart it may come too late, which does no harm.
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

// bare removes the buttons of a message. It retries until it succeeds, cannot succeed, or is stopped.
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

// unbutton removes the buttons of a message whose gate another message shows, or whose press was
// rejected. It tries once, because stale buttons do no harm.
func (s *sender) unbutton(ctx context.Context, chat int64, message int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	_, err := s.api.bot.EditMessageReplyMarkup(ctx, &tg.EditMessageReplyMarkupParams{
		ChatID: chat, MessageID: message, ReplyMarkup: models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{}},
	})
	s.api.pace.hush(chat, retryAfter(err))
}

// closeButtons removes the buttons of the message that was pressed.
func (s *sender) closeButtons(ctx context.Context, q *models.CallbackQuery) {
	if m := q.Message.Message; m != nil {
		s.unbutton(ctx, m.Chat.ID, m.ID)
	}
}
