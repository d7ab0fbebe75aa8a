package app

import (
	"context"

	"github.com/manifold-run/manifold/internal/telegram"
)

// Telegram configures the Telegram bot. Without a token there is none.
type Telegram = telegram.Config

// TelegramPerson maps a Telegram user to a person.
type TelegramPerson = telegram.Person

// wireTelegram creates the bot, if it is configured.
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
