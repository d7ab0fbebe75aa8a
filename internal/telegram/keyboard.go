package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// keyboard identifies the buttons below one message, for one gate or question.
type keyboard struct {
	Chat    int64  `json:"chat"`
	Message int    `json:"message"`
	Session string `json:"session"`
	Gate    string `json:"gate"`
}

func (k keyboard) id() string { return fmt.Sprintf("%s@%d@%d", k.Gate, k.Chat, k.Message) }

// keyboards tracks the buttons in chats. It removes them once their gate or question is closed, in
// whatever way. The box stores each of them until then, over restarts. If a crash follows right
// after the message was sent, its buttons stay and report that they are stale when pressed.
//
// Like the follower it has no goroutine while nothing changes.
type keyboards struct {
	now    func(ctx context.Context, gate string) (contracts.Interrupt, error)
	out    *sender
	box    *box
	work   *sync.WaitGroup
	logger *slog.Logger

	mu     sync.Mutex                     // guards the fields below
	ctx    context.Context                //nolint:containedctx // the life of the bot
	below  map[string]map[string]keyboard // by session, then by id
	due    map[string]bool                // sessions to check
	active bool                           // a goroutine is running
}

// begin loads the buttons from before the last stop, and checks all of them.
func (b *keyboards) begin(ctx context.Context) {
	left, err := b.box.unfinished(ctx)
	if err != nil {
		b.logger.WarnContext(ctx, "telegram does not know which buttons stand in chats", errAttr(err))
	}
	b.mu.Lock()
	b.ctx = ctx
	for _, r := range left {
		var k keyboard
		if json.Unmarshal(r.Body, &k) == nil {
			b.insert(k)
		}
	}
	b.mu.Unlock()
	b.changed(orchestrator.Change{}) //nolint:contextcheck // what it begins lives as long as the bot
}

// close stops all checks; the next start continues.
func (b *keyboards) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ctx = nil
}

// insert adds buttons; the caller holds mu.
func (b *keyboards) insert(k keyboard) {
	if b.below[k.Session] == nil {
		b.below[k.Session] = map[string]keyboard{}
	}
	b.below[k.Session][k.id()] = k
}

// shown registers a message that was sent with buttons.
func (b *keyboards) shown(ctx context.Context, chat int64, message int, buttons [][]models.InlineKeyboardButton) {
	gate := aboutGate(buttons)
	if gate == "" {
		return
	}
	ctx, cancel := keepably(ctx) // the message was sent, even if the bot is stopping
	defer cancel()
	i, err := b.now(ctx, gate)
	k := keyboard{Chat: chat, Message: message, Session: i.SessionID, Gate: gate}
	var body []byte
	if err == nil {
		body, err = json.Marshal(k)
	}
	if err == nil {
		_, err = b.box.receive(ctx, []orchestrator.InboxMessage{{ID: k.id(), Body: body}})
	}
	if err != nil {
		b.logger.WarnContext(ctx, "telegram will not take buttons away by itself", slog.String("interrupt_id", gate), errAttr(err))
		return
	}
	b.mu.Lock()
	b.insert(k)
	b.mu.Unlock()
	b.changed(orchestrator.Change{SessionID: k.Session}) //nolint:contextcheck // it may be closed since it was shown
}

// aboutGate returns the id of the gate or question of the buttons.
func aboutGate(buttons [][]models.InlineKeyboardButton) string {
	for _, row := range buttons {
		for _, button := range row {
			if parts := strings.Split(button.CallbackData, ":"); len(parts) == 3 {
				return parts[1]
			}
		}
	}
	return ""
}

// changed handles a change from the notifier.
func (b *keyboards) changed(c orchestrator.Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for session := range b.below {
		if c.SessionID == "" {
			b.due[session] = true
		}
	}
	if b.below[c.SessionID] != nil {
		b.due[c.SessionID] = true
	}
	if len(b.due) > 0 && !b.active && b.ctx != nil {
		b.active = true
		ctx := b.ctx
		b.work.Go(func() { b.drain(ctx) })
	}
}

// drain checks the changed sessions until there are none.
func (b *keyboards) drain(ctx context.Context) {
	for {
		b.mu.Lock()
		session, found := "", false
		for session = range b.due {
			found = true
			break
		}
		if !found || ctx.Err() != nil {
			b.active = false
			b.mu.Unlock()
			return
		}
		delete(b.due, session)
		var here []keyboard
		for _, k := range b.below[session] {
			here = append(here, k)
		}
		b.mu.Unlock()
		for _, k := range here {
			if err := safely(func() error { return b.look(ctx, k) }); err != nil && ctx.Err() == nil {
				b.logger.WarnContext(ctx, "telegram leaves buttons where they are", slog.String("interrupt_id", k.Gate), errAttr(b.out.api.safe(err)))
			}
		}
	}
}

// look removes buttons if their gate or question is closed.
func (b *keyboards) look(ctx context.Context, k keyboard) error {
	i, err := b.now(ctx, k.Gate)
	if contracts.CodeOf(err) != contracts.CodeNotFound && (err != nil || i.Status == contracts.InterruptOpen) {
		return err
	}
	if err := b.out.bare(ctx, k.Chat, k.Message); err != nil && !hopeless(err) {
		return err
	}
	b.box.finish(ctx, k.id())
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.below[k.Session], k.id())
	if len(b.below[k.Session]) == 0 {
		delete(b.below, k.Session)
	}
	return nil
}
