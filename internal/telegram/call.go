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

// callID identifies a message to one chat about one gate: the call to decide it, or a later notice with
// its event. It is the id of its item in the inbox, which exists until the gate is closed.
type callID struct {
	gate  string
	chat  int64
	event string // "" for the call itself
}

func (c callID) String() string {
	return strings.TrimSuffix(c.gate+"@"+strconv.FormatInt(c.chat, 10)+"@"+c.event, "@")
}

func readCallID(text string) (callID, bool) {
	gate, rest, _ := strings.Cut(text, "@")
	chat, event, _ := strings.Cut(rest, "@")
	n, err := strconv.ParseInt(chat, 10, 64)
	return callID{gate, n, event}, err == nil
}

// caller notifies the approver chats once of each gate that they may decide and did not request, and of
// its reminders and escalation. Only the goroutine of run uses told; the box stores it too.
type caller struct {
	gates  *gates.Gates
	people map[int64]access.Principal
	chats  []int64 // of the approvers
	out    *sender
	box    *box
	pages  render.Pages
	now    func() time.Time
	every  time.Duration // the delay after an error
	retry  backoff
	logger *slog.Logger

	told map[callID]int
	next time.Time     // when a notice is due without a change; zero means never
	poke chan struct{} // something has changed since the last look
}

// changed wakes the caller after a change that may open or close gates.
func (c *caller) changed(orchestrator.Change) {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// run looks for notices after each change until it is stopped.
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
			c.rest(ctx)
			continue
		}
		if ctx.Err() == nil {
			c.logger.WarnContext(ctx, "telegram cannot call approvers", errAttr(c.out.api.safe(err)))
		}
		_ = sleep(ctx, wait)
		wait = c.retry.after(wait)
	}
}

// rest waits for a change, or until a notice is due.
func (c *caller) rest(ctx context.Context) {
	var due <-chan time.Time
	if !c.next.IsZero() {
		timer := time.NewTimer(c.next.Sub(c.now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-c.poke:
		_ = sleep(ctx, c.every)
	case <-due:
	case <-ctx.Done():
	}
}

// safely converts a panic to an error.
func safely(do func() error) (err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
		}
	}()
	return do()
}

// remember loads the calls that were made before the last stop.
func (c *caller) remember(ctx context.Context) error {
	left, err := c.box.unfinished(ctx)
	for _, r := range left {
		if id, ok := readCallID(r.ID); ok {
			c.told[id], _ = strconv.Atoi(r.Reply) // no reply reads as 0: not sent yet
		}
	}
	return err
}

func (c *caller) look(ctx context.Context) error {
	c.next = time.Time{}
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

// open returns the gates that each chat is to be notified of: a private chat of those that its person
// may decide, a group of those that somebody on the list may.
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
		approve, _, err := c.gates.Permissions(ctx, who, waiting...)
		if err != nil {
			return nil, err
		}
		for _, i := range waiting {
			if slices.Contains(approve, i.Code) || isAsked(who, i) {
				c.want(out, id, who, i)
			}
		}
	}
	return out, nil
}

// want adds the messages that are due because one person may decide a gate: the call and the reminders
// to the approver chats, the reminders to reviewers in person, and the escalation to the people named
// in EscalateTo.
func (c *caller) want(out map[callID]contracts.Interrupt, id int64, who access.Principal, i contracts.Interrupt) {
	events, next := orchestrator.NoticesDue(i, c.now())
	if !next.IsZero() && (c.next.IsZero() || next.Before(c.next)) {
		c.next = next
	}
	for _, chat := range c.chats {
		if chat != id && chat >= 0 {
			continue
		}
		out[callID{gate: i.InterruptID, chat: chat}] = i
		if events.Reminder != "" {
			out[callID{i.InterruptID, chat, events.Reminder}] = i
		}
	}
	if events.Reminder != "" && len(i.Reviewers) > 0 { // otherwise they could not decide it
		out[callID{i.InterruptID, id, events.Reminder}] = i
	}
	named := func(name string) bool { return strings.EqualFold(name, who.Subject()) }
	if events.Escalation != "" && slices.ContainsFunc(i.EscalateTo, named) {
		out[callID{i.InterruptID, id, events.Escalation}] = i
	}
}

// isAsked reports whether a principal has a role that a workflow's question is addressed to.
func isAsked(who access.Principal, i contracts.Interrupt) bool {
	return !i.Type.IsGate() && slices.ContainsFunc(access.AskedRoles(i), func(role string) bool { return who.Has(access.Role(role)) })
}

// call sends one message, unless it was sent. After a crash it is unknown whether a message arrived: a
// reminder is not repeated, because the next one follows anyway; a call or an escalation is repeated.
func (c *caller) call(ctx context.Context, id callID, i contracts.Interrupt) error {
	message, known := c.told[id]
	if message != 0 || known && strings.HasPrefix(id.event, orchestrator.NoticeReminder) {
		return nil
	}
	if !known {
		fresh, err := c.box.receive(ctx, []orchestrator.InboxMessage{{ID: id.String(), Body: []byte(`{}`)}})
		if err != nil || len(fresh) == 0 {
			return err
		}
		c.told[id] = 0
	}
	at := place{chat: id.chat, group: id.chat < 0}
	message, err := c.out.deliver(ctx, at, 0, []render.Part{c.words(id, at, i)})
	switch {
	case hopeless(err):
		message = -1 // nobody is there; do not retry
	case err != nil:
		return err
	}
	c.told[id] = message
	_, err = c.box.noteReply(ctx, id.String(), strconv.Itoa(message))
	return err
}

// words returns the message for a chat. A notice names the gate and shows no content.
func (c *caller) words(id callID, at place, i contracts.Interrupt) render.Part {
	switch id.event {
	case "":
		return render.Asked(i, c.pages.Of(c.people[id.chat], at.group, "", []contracts.Interrupt{i})[i.Code])
	case orchestrator.NoticeEscalation:
		return render.Waits(i, "Escalated to you")
	default:
		return render.Waits(i, "Reminder")
	}
}
