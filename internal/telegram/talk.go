package telegram

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// commands are the slash commands, as Telegram's menu shows them. What they
// mean is the grammar's; here they only get their words.
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

// place is where something was said, and where its answer goes.
type place struct {
	chat   int64
	thread int
	reply  int // the message that is answered, in groups
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

// take takes one update to its answer.
func (b *Bot) take(ctx context.Context, j job) {
	u := &j.update
	from, _, _ := b.addressed(u)
	who := b.people[from.ID]
	switch {
	case u.CallbackQuery != nil:
		b.click(ctx, j, who, u.CallbackQuery)
	case u.EditedMessage != nil:
		b.reply(ctx, j, placeOf(u.EditedMessage), plainText("I do not follow edits: what you wrote first counts. Send it again as a new message."))
	case u.Message.Text == "":
		b.reply(ctx, j, placeOf(u.Message), plainText("I read text only. Write what you want to be done."))
	default:
		b.message(ctx, j, who, u.Message)
	}
}

// message takes what somebody wrote: one of our commands, or a turn.
func (b *Bot) message(ctx context.Context, j job, who access.Principal, m *models.Message) {
	at, text := placeOf(m), b.unaddressed(m)
	if name, rest, slash := command(text); slash {
		switch name {
		case "start", "help":
			b.reply(ctx, j, at, plainText("You are "+who.Subject()+" here ("+roles(who)+").\n\n"+helpText))
			return
		case "gate":
			b.reply(ctx, j, at, b.oneGate(ctx, j, who, rest))
			return
		}
		means := meaning(name)
		if means == "" || rest != "" {
			b.reply(ctx, j, at, plainText("I do not know that command. /help lists those that I know."))
			return
		}
		text = means
	}
	if text == "" {
		b.reply(ctx, j, at, plainText(helpText))
		return
	}
	month := b.month(ctx, &j, who, m)
	turn := conversation.Input{
		Thread: &conversation.Thread{Conversation: conversationOf(b.channel, m.Chat.ID, month)}, Key: "message-" + strconv.Itoa(m.ID), Message: text, Said: j.received.At,
		// Words of somebody else are never a command.
		Quoted: m.ForwardOrigin != nil || m.ViaBot != nil,
	}
	turn.Thread.Shown = b.repliedGates(ctx, who, m)
	turn.Thread.Marked = len(turn.Thread.Shown) > 0
	b.turn(ctx, j, who, at, turn)
}

// conversationOf is the chat as the orchestrator knows it: a new one each month,
// so that a chat that goes on for years stays quick.
func conversationOf(channel string, chat int64, month string) string {
	return channel + ":" + strconv.FormatInt(chat, 10) + ":" + month
}

// month is that of the conversation that a message belongs to: its own, or the
// one before as long as something is open there. Once that is decided it is
// noted, so that a message that is taken up again is the same turn.
func (b *Bot) month(ctx context.Context, j *job, who access.Principal, m *models.Message) string {
	if j.noted.Month != "" {
		return j.noted.Month
	}
	at := time.Unix(int64(m.Date), 0).UTC()
	own, before := at.Format("2006-01"), at.AddDate(0, 0, -at.Day()).Format("2006-01")
	if b.conversation.GoesOn(ctx, who, conversationOf(b.channel, m.Chat.ID, before), conversationOf(b.channel, m.Chat.ID, own)) {
		j.noted.Month = before
		b.note(ctx, *j)
		return before
	}
	return own
}

// turn has a turn taken, and shows what it comes to.
func (b *Bot) turn(ctx context.Context, j job, who access.Principal, at place, t conversation.Input) {
	taking, cancel := conversation.Patiently(ctx)
	defer cancel()
	outcome, err := b.conversation.Take(taking, who, t)
	var state orchestrator.SessionView
	if err == nil {
		state, err = b.conversation.View(taking, who, outcome)
	}
	if err != nil {
		b.reply(ctx, j, at, b.failed(ctx, j, err))
		return
	}
	b.follow(ctx, j, who, at, state)
}

// failed says what went wrong; what is ours to mend stays in the log.
func (b *Bot) failed(ctx context.Context, j job, err error) []part {
	code := contracts.CodeOf(err)
	if code == contracts.CodeInternal || code == "" {
		b.cfg.Logger.ErrorContext(ctx, "telegram update failed", slog.String("update_id", j.received.ID), slog.Any("error", err))
		return plainText("Something went wrong here; the log has it under update " + j.received.ID + ".")
	}
	return plainText(err.Error())
}

// command cuts "/name rest"; the name of the bot was taken off before.
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

// named tells whether a message of a group names the bot: @bot, /command@bot,
// or a link to it.
func (b *Bot) named(m *models.Message) bool {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	for _, e := range entities {
		if b.names(text, e) {
			return true
		}
	}
	return false
}

func (b *Bot) names(text string, e models.MessageEntity) bool {
	switch words := piece(text, e.Offset, e.Length); e.Type {
	case models.MessageEntityTypeMention:
		return strings.EqualFold(words, "@"+b.name)
	case models.MessageEntityTypeBotCommand:
		_, to, _ := strings.Cut(words, "@")
		return strings.EqualFold(to, b.name)
	case models.MessageEntityTypeTextMention:
		return words != "" && e.User != nil && e.User.ID == b.id
	default:
		return false
	}
}

// unaddressed is a message without the name of the bot.
func (b *Bot) unaddressed(m *models.Message) string {
	units := utf16.Encode([]rune(m.Text))
	for _, e := range slices.Backward(m.Entities) {
		if !b.names(m.Text, e) {
			continue
		}
		from, to := e.Offset, min(e.Offset+e.Length, len(units))
		if e.Type == models.MessageEntityTypeBotCommand {
			from += len(utf16.Encode([]rune(strings.SplitN(piece(m.Text, e.Offset, e.Length), "@", 2)[0])))
		}
		units = append(units[:from:from], units[to:]...)
	}
	return strings.TrimSpace(string(utf16.Decode(units)))
}

// piece cuts a text by UTF-16 units, which Telegram counts in.
func piece(text string, offset, length int) string {
	units := utf16.Encode([]rune(text))
	if offset < 0 || length < 0 || offset+length > len(units) {
		return ""
	}
	return string(utf16.Decode(units[offset : offset+length]))
}
