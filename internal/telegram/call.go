package telegram

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// lookForGates is how often gates are looked for without a hint that there are
// new ones.
const lookForGates = 15 * time.Second

// callID names the call of one chat to one gate; it is the id of its item in the
// inbox, which stays until the gate is closed.
type callID struct {
	gate string
	chat int64
}

func (c callID) String() string { return c.gate + "@" + strconv.FormatInt(c.chat, 10) }

func readCallID(text string) (callID, bool) {
	gate, chat, _ := strings.Cut(text, "@")
	n, err := strconv.ParseInt(chat, 10, 64)
	return callID{gate, n}, err == nil
}

// caller calls approvers to the gates of others. Its goroutine is the only one
// that touches it.
type caller struct {
	*Bot

	inbox orchestrator.Inbox
	box   string // the channel of its items
	told  map[callID]int
}

// callApprovers tells the chats of approvers of each gate that they may decide and
// did not ask for, once, and takes the buttons away when it is closed.
func (b *Bot) callApprovers(ctx context.Context) {
	if len(b.cfg.Approvers) == 0 {
		return
	}
	c := &caller{Bot: b, inbox: b.inbox, box: b.channel + ":gates", told: map[callID]int{}}
	for wait, known := b.cfg.Pause, false; ctx.Err() == nil; {
		err := safely(func() (err error) {
			if !known {
				err = c.remember(ctx)
				known = err == nil
			}
			if err == nil {
				err = c.look(ctx)
			}
			return err
		})
		if err == nil {
			wait = b.cfg.Pause
			b.conversation.AwaitCommit(ctx, lookForGates)
			_ = sleep(ctx, b.cfg.Limits.Progress)
			continue
		}
		if ctx.Err() == nil {
			b.cfg.Logger.WarnContext(ctx, "telegram cannot call approvers", errAttr(b.api.safe(err)))
		}
		_ = sleep(ctx, wait)
		wait = b.longer(wait)
	}
}

// safely makes a panic an error.
func safely(do func() error) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
		}
	}()
	return do()
}

// remember reads which calls were made before the last stop.
func (c *caller) remember(ctx context.Context) error {
	left, err := c.inbox.Unfinished(ctx, c.box)
	for _, r := range left {
		if id, ok := readCallID(r.ID); ok {
			c.told[id], _ = strconv.Atoi(r.Reply) // none reads as 0: it was not made yet
		}
	}
	return err
}

func (c *caller) look(ctx context.Context) error {
	open, err := c.open(ctx)
	if err != nil {
		return err
	}
	for _, id := range slices.SortedFunc(maps.Keys(open), func(a, b callID) int { return strings.Compare(a.String(), b.String()) }) {
		if err := c.call(ctx, id, open[id]); err != nil {
			return err
		}
	}
	for id, message := range c.told {
		if _, is := open[id]; is {
			continue
		}
		if message > 0 {
			c.unbutton(ctx, id.chat, message)
		}
		if err := c.inbox.Finish(ctx, c.box, id.String()); err != nil {
			return err
		}
		delete(c.told, id)
	}
	return nil
}

// open are the gates that a chat is to be called to: a private chat to those that
// its person may decide, a group to those that somebody on the list may.
func (c *caller) open(ctx context.Context) (map[callID]contracts.Interrupt, error) {
	out := map[callID]contracts.Interrupt{}
	for id, who := range c.people {
		err := c.gates.Each(ctx, who, gates.Filter{Status: contracts.InterruptOpen, Mine: true}, func(i contracts.Interrupt) bool {
			if !i.Type.Expires() || slices.Contains(i.Requesters, who.Subject()) || who.MayDecide(i, contracts.DecisionApprove) != nil {
				return false
			}
			for _, chat := range c.cfg.Approvers {
				if chat == id || chat < 0 {
					out[callID{i.InterruptID, chat}] = i
				}
			}
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// call makes one call, unless it was made.
func (c *caller) call(ctx context.Context, id callID, i contracts.Interrupt) error {
	message, known := c.told[id]
	if message != 0 {
		return nil
	}
	if !known {
		fresh, err := c.inbox.Receive(ctx, []orchestrator.Received{{Channel: c.box, ID: id.String(), Body: []byte(`{}`), At: c.cfg.Now()}})
		if err != nil || len(fresh) == 0 {
			return err
		}
		c.told[id] = 0
	}
	message, err := c.deliver(ctx, place{chat: id.chat, group: id.chat < 0}, 0, []part{gate(i, true)})
	switch {
	case hopeless(err):
		message = -1 // nobody is there, and is not called again
	case err != nil:
		return err
	}
	c.told[id] = message
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout) // what was sent is noted
	defer cancel()
	return c.inbox.NoteReply(ctx, c.box, id.String(), strconv.Itoa(message))
}
