package telegram

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/orchestrator/access"
)

// Person is the identity of a Telegram user here.
type Person struct {
	// Name is the person's name in keys, owners and decisions: with an API key of their own they
	// are the same person.
	Name  string
	Roles []string
}

var roleForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// principals returns the principals of the people who may use the bot, by Telegram user id. Telegram
// authenticates them, so they count as vouched for by a frontend.
func principals(people map[int64]Person) (map[int64]access.Principal, error) {
	out := map[int64]access.Principal{}
	for _, id := range slices.Sorted(maps.Keys(people)) {
		p := people[id]
		if id <= 0 || len(p.Roles) == 0 {
			return nil, fmt.Errorf("telegram: user %d needs a positive id and at least one role", id)
		}
		who := access.Principal{Kind: access.KindFrontend, ID: "telegram", Via: "telegram"}
		for _, r := range p.Roles {
			if !roleForm.MatchString(r) {
				return nil, fmt.Errorf("telegram: the role %q of user %d must match %s", r, id, roleForm)
			}
			who.Roles = append(who.Roles, access.Role(r))
		}
		who, err := who.ForPerson(p.Name, nil, true)
		if err != nil {
			return nil, fmt.Errorf("telegram: the name of user %d: %w", id, err)
		}
		out[id] = who
	}
	return out, nil
}

// People returns the principals of the people who may use the bot; none without a token.
func People(cfg Config) ([]access.Principal, error) {
	if cfg.Token == "" {
		return nil, nil
	}
	people, err := principals(cfg.People)
	return slices.Collect(maps.Values(people)), err
}

// updateVerdict classifies an update before it is stored.
type updateVerdict int

const (
	ignored  updateVerdict = iota // not for the bot, or not worth an answer
	stranger                      // for the bot, by somebody who is not on the list
	elsewhere
	welcome
)

// messageFilter selects the updates for the bot. It is immutable, except that name is set before the
// first update is read.
type messageFilter struct {
	id     int64
	name   string // without the @
	people map[int64]access.Principal
	groups map[int64]bool
}

// judge reports whether an update is for the bot and from a known person. Others are neither stored nor
// answered.
func (a *messageFilter) judge(u *models.Update) updateVerdict {
	from, chat, addressed := a.addressed(u)
	switch {
	case from == nil || from.IsBot || !addressed:
		return ignored
	case !a.knows(from.ID):
		return stranger
	case chat.Type != models.ChatTypePrivate && !a.groups[chat.ID]:
		return elsewhere
	}
	return welcome
}

func (a *messageFilter) knows(id int64) bool {
	_, known := a.people[id]
	return known
}

// addressed returns the sender and the chat of an update, and whether it is meant for the bot.
func (a *messageFilter) addressed(u *models.Update) (from *models.User, chat models.Chat, yes bool) {
	m := u.Message
	if m == nil && u.EditedMessage != nil && u.EditedMessage.Location == nil { // live locations are edited all the time
		m = u.EditedMessage
	}
	switch {
	case u.CallbackQuery != nil:
		if at := u.CallbackQuery.Message.Message; at != nil {
			return &u.CallbackQuery.From, at.Chat, true
		}
		if at := u.CallbackQuery.Message.InaccessibleMessage; at != nil {
			return &u.CallbackQuery.From, at.Chat, true
		}
		return &u.CallbackQuery.From, chat, false
	case m == nil:
		return nil, chat, false
	case m.Chat.Type == models.ChatTypePrivate:
		return m.From, m.Chat, spoken(m)
	case m.Chat.Type == models.ChatTypeGroup || m.Chat.Type == models.ChatTypeSupergroup:
		return m.From, m.Chat, spoken(m) && (a.named(m) || a.repliedTo(m))
	}
	return m.From, m.Chat, false
}

func (a *messageFilter) repliedTo(m *models.Message) bool {
	return m.ReplyToMessage != nil && m.ReplyToMessage.From != nil && m.ReplyToMessage.From.ID == a.id
}

// spoken reports whether a person wrote the message; Telegram also sends notes about joins, titles and
// pins.
func spoken(m *models.Message) bool {
	return m.Text != "" || m.Caption != "" || m.Animation != nil || m.Audio != nil || m.Document != nil || len(m.Photo) > 0 ||
		m.Sticker != nil || m.Video != nil || m.VideoNote != nil || m.Voice != nil || m.Contact != nil || m.Dice != nil ||
		m.Poll != nil || m.Venue != nil || m.Location != nil || m.Story != nil || m.Checklist != nil || m.PaidMedia != nil || m.Game != nil
}

// named reports whether a group message names the bot: @bot, /command@bot, or a link to it.
func (a *messageFilter) named(m *models.Message) bool {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	for _, e := range entities {
		if a.names(text, e) {
			return true
		}
	}
	return false
}

func (a *messageFilter) names(text string, e models.MessageEntity) bool {
	switch words := piece(text, e.Offset, e.Length); e.Type {
	case models.MessageEntityTypeMention:
		return strings.EqualFold(words, "@"+a.name)
	case models.MessageEntityTypeBotCommand:
		_, to, _ := strings.Cut(words, "@")
		return strings.EqualFold(to, a.name)
	case models.MessageEntityTypeTextMention:
		return words != "" && e.User != nil && e.User.ID == a.id
	default:
		return false
	}
}

// unaddressed returns a message's text without the name of the bot.
func (a *messageFilter) unaddressed(m *models.Message) string {
	units := utf16.Encode([]rune(m.Text))
	for _, e := range slices.Backward(m.Entities) {
		if !a.names(m.Text, e) {
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

// piece returns a part of a text by UTF-16 units, which Telegram uses.
func piece(text string, offset, length int) string {
	units := utf16.Encode([]rune(text))
	if offset < 0 || length < 0 || offset+length > len(units) {
		return ""
	}
	return string(utf16.Decode(units[offset : offset+length]))
}
