package app

import (
	"context"

	"github.com/manifold-run/manifold/internal/telegram"
)

// Telegram is how the Telegram bot works; without a token there is none.
type Telegram = telegram.Config

// TelegramPerson is who a Telegram user is here.
type TelegramPerson = telegram.Person

// wireTelegram makes the bot, if one is asked for.
func (a *App) wireTelegram() error {
	if a.cfg.Telegram.Token == "" {
		return nil
	}
	cfg := a.cfg.Telegram
	cfg.Now, cfg.Logger = a.cfg.Now, a.cfg.Logger
	var err error
	a.telegram, err = telegram.New(cfg, telegram.Deps{Conversation: a.useCases.conversation, Gates: a.useCases.gates, Inbox: a.store.mail, Notifier: a.notifier, Pages: a.api.Page, Leads: a.leads()})
	return err
}

func (a *App) startTelegram(ctx context.Context) error {
	if a.telegram == nil {
		return nil
	}
	return a.telegram.Start(ctx)
}

func (a *App) stopTelegram(ctx context.Context) error {
	if a.telegram == nil {
		return nil
	}
	return a.telegram.Stop(ctx)
}
