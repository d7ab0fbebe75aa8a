package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/telegram/render"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

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

// caller tells the chats of approvers of each gate that they may decide and did
// not ask for, once. The goroutine
// of run is the only one that touches told; what was told stands in the box too.
type caller struct {
	gates  *gates.Gates
	people map[int64]access.Principal
	chats  []int64 // of approvers
	out    *sender
	box    *box
	pages  render.Pages
	every  time.Duration // the pause between two looks
	retry  backoff
	logger *slog.Logger

	told map[callID]int
	poke chan struct{} // something has changed since the last look
}

// changed hears that there may be gates to tell of, or to close.
func (c *caller) changed(orchestrator.Change) {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// run looks after each change until it is stopped.
func (c *caller) run(ctx context.Context) {
	for wait, known := c.retry.first, false; ctx.Err() == nil; {
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
			wait = c.retry.first
			select {
			case <-c.poke:
				_ = sleep(ctx, c.every)
			case <-ctx.Done():
			}
			continue
		}
		if ctx.Err() == nil {
			c.logger.WarnContext(ctx, "telegram cannot call approvers", errAttr(c.out.api.safe(err)))
		}
		_ = sleep(ctx, wait)
		wait = c.retry.after(wait)
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
	left, err := c.box.unfinished(ctx)
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
	for id := range c.told {
		if _, is := open[id]; is {
			continue
		}
		c.box.finish(ctx, id.String())
		delete(c.told, id)
	}
	return nil
}

// open are the gates that a chat is to be called to: a private chat to those that
// its person may decide, a group to those that somebody on the list may.
func (c *caller) open(ctx context.Context) (map[callID]contracts.Interrupt, error) {
	out := map[callID]contracts.Interrupt{}
	for id, who := range c.people {
		var waiting []contracts.Interrupt
		err := c.gates.Each(ctx, who, gates.Filter{Status: contracts.InterruptOpen, Mine: true}, func(i contracts.Interrupt) bool {
			if !slices.Contains(i.Requesters, who.Subject()) && len(access.AskedRoles(i)) > 0 {
				waiting = append(waiting, i)
			}
			return false
		})
		if err != nil {
			return nil, err
		}
		approve, _, err := c.gates.May(ctx, who, waiting...)
		if err != nil {
			return nil, err
		}
		for _, i := range waiting {
			if !slices.Contains(approve, i.Code) && !isAsked(who, i) {
				continue
			}
			for _, chat := range c.chats {
				if chat == id || chat < 0 {
					out[callID{i.InterruptID, chat}] = i
				}
			}
		}
	}
	return out, nil
}

// isAsked tells whether somebody holds a role that a procedure puts its question to.
func isAsked(who access.Principal, i contracts.Interrupt) bool {
	return !i.Type.Gate() && slices.ContainsFunc(access.AskedRoles(i), func(role string) bool { return who.Has(access.Role(role)) })
}

// call makes one call, unless it was made.
func (c *caller) call(ctx context.Context, id callID, i contracts.Interrupt) error {
	message, known := c.told[id]
	if message != 0 {
		return nil
	}
	if !known {
		fresh, err := c.box.receive(ctx, []orchestrator.Received{{ID: id.String(), Body: []byte(`{}`)}})
		if err != nil || len(fresh) == 0 {
			return err
		}
		c.told[id] = 0
	}
	at := place{chat: id.chat, group: id.chat < 0}
	page := c.pages.Of(c.people[id.chat], at.group, []contracts.Interrupt{i})[i.Code]
	message, err := c.out.deliver(ctx, at, 0, []render.Part{render.Asked(i, page)})
	switch {
	case hopeless(err):
		message = -1 // nobody is there, and is not called again
	case err != nil:
		return err
	}
	c.told[id] = message
	return c.box.noteReply(ctx, id.String(), strconv.Itoa(message))
}
