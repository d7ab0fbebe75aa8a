package telegram

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/internal/telegram/render"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// commands are the slash commands in Telegram's menu, with the message that each stands for. The
// grammar of package chat interprets it.
var commands = []struct{ name, about, means string }{
	{"status", "Where your request stands", "status"},
	{"gates", "What waits for you", "list gates"},
	{"gate", "Show one gate: /gate CODE", ""},
	{"cancel", "Stop what is running here", "cancel"},
	{"help", "How to use this bot", ""},
}

const helpText = `Say what you want to be done, in your own words.

Before anything is written you see exactly what will be sent, with buttons. You can also write "approve CODE" or "reject CODE".

/status – where your request stands
/gates – what waits for you
/gate CODE – one of them in full
/cancel – stop what is running here`

// place is where a message was sent, and where its answer goes.
type place struct {
	chat   int64
	thread int
	reply  int // the message to reply to, in groups
	group  bool
}

func placeOf(m *models.Message) place {
	p := place{chat: m.Chat.ID, group: m.Chat.Type != models.ChatTypePrivate}
	if m.IsTopicMessage {
		p.thread = m.MessageThreadID
	}
	if p.group {
		p.reply = m.ID
	}
	return p
}

// dialogue converts messages and presses to inputs for the orchestrator, and shows the outcome. It
// has no state.
type dialogue struct {
	channel      string
	audience     *messageFilter
	conversation *conversation.Conversation
	gates        *gates.Gates
	answers      *answers
	follower     *follower
}

// take processes one update.
func (d *dialogue) take(ctx context.Context, j job) {
	u := &j.update
	from, _, _ := d.audience.addressed(u)
	who := d.audience.people[from.ID]
	switch {
	case u.CallbackQuery != nil:
		d.click(ctx, j, who, u.CallbackQuery)
	case u.EditedMessage != nil:
		d.answers.reply(ctx, j, placeOf(u.EditedMessage), render.Plain("I do not follow edits: what you wrote first counts. Send it again as a new message."))
	case u.Message.Text == "":
		d.answers.reply(ctx, j, placeOf(u.Message), render.Plain("I read text only. Write what you want to be done."))
	default:
		d.message(ctx, j, who, u.Message)
	}
}

// message handles a text message: a command of the bot, or a turn.
func (d *dialogue) message(ctx context.Context, j job, who access.Principal, m *models.Message) {
	at, text := placeOf(m), d.audience.unaddressed(m)
	if name, rest, slash := command(text); slash {
		switch name {
		case "start", "help":
			d.answers.reply(ctx, j, at, render.Plain("You are "+who.Subject()+" here ("+roles(who)+").\n\n"+helpText))
			return
		case "gate":
			d.oneGate(ctx, j, who, m, rest)
			return
		}
		means := meaning(name)
		if means == "" || rest != "" {
			d.answers.reply(ctx, j, at, render.Plain("I do not know that command. /help lists those that I know."))
			return
		}
		text = means
	}
	if text == "" {
		d.answers.reply(ctx, j, at, render.Plain(helpText))
		return
	}
	turn := d.input(ctx, &j, who, m)
	turn.Message = text
	// A forwarded message is never a command.
	turn.Quoted = m.ForwardOrigin != nil || m.ViaBot != nil
	turn.Thread.Shown = d.repliedGates(ctx, who, m)
	turn.Thread.Marked = len(turn.Thread.Shown) > 0
	d.turn(ctx, j, who, at, turn)
}

// input returns the input for a message, without its text.
func (d *dialogue) input(ctx context.Context, j *job, who access.Principal, m *models.Message) conversation.Input {
	return conversation.Input{
		Thread: &conversation.Thread{Conversation: conversationOf(d.channel, m.Chat.ID, d.month(ctx, j, who, m))},
		Key:    "message-" + strconv.Itoa(m.ID), SaidAt: j.received.At,
	}
}

// conversationOf returns the orchestrator's id of a chat: a new one each month, so that a chat of many
// years stays fast.
func conversationOf(channel string, chat int64, month string) string {
	return channel + ":" + strconv.FormatInt(chat, 10) + ":" + month
}

// month returns the month of the conversation that a message belongs to: its own, or the previous one
// while something is open there. The decision is stored, so that a resumed message is the same turn.
func (d *dialogue) month(ctx context.Context, j *job, who access.Principal, m *models.Message) string {
	if j.noted.Month != "" {
		return j.noted.Month
	}
	at := time.Unix(int64(m.Date), 0).UTC()
	own, before := at.Format("2006-01"), at.AddDate(0, 0, -at.Day()).Format("2006-01")
	if d.conversation.IsCurrent(ctx, who, conversationOf(d.channel, m.Chat.ID, before), conversationOf(d.channel, m.Chat.ID, own)) {
		j.noted.Month = before
		d.answers.box.note(ctx, *j)
		return before
	}
	return own
}

// turn handles a turn and shows its outcome.
func (d *dialogue) turn(ctx context.Context, j job, who access.Principal, at place, t conversation.Input) {
	taking, cancel := conversation.DetachContext(ctx)
	defer cancel()
	outcome, err := d.conversation.Handle(taking, who, t)
	if err != nil {
		d.answers.reply(ctx, j, at, d.answers.failed(ctx, j, err))
		return
	}
	d.show(ctx, taking, j, who, at, outcome)
}

// show shows the outcome of an input in its chat and follows it; taking bounds the reading of the
// state.
func (d *dialogue) show(ctx, taking context.Context, j job, who access.Principal, at place, outcome conversation.Outcome) {
	state, err := d.conversation.View(taking, who, outcome)
	if err != nil {
		d.answers.reply(ctx, j, at, d.answers.failed(ctx, j, err))
		return
	}
	d.follower.follow(ctx, j, who, at, state)
}

// command parses "/name rest"; the name of the bot was removed before.
func command(text string) (name, rest string, is bool) {
	after, is := strings.CutPrefix(text, "/")
	if !is {
		return "", "", false
	}
	name, rest, _ = strings.Cut(after, " ")
	return strings.ToLower(name), strings.TrimSpace(rest), true
}

func meaning(name string) string {
	for _, c := range commands {
		if c.name == name {
			return c.means
		}
	}
	return ""
}

func roles(who access.Principal) string {
	words := make([]string, len(who.Roles))
	for i, r := range who.Roles {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}
