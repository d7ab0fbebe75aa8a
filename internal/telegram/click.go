package telegram

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/internal/telegram/render"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// click handles the press of a button. It counts only for the action that the button was shown for, and
// for the person who pressed it.
func (d *dialogue) click(ctx context.Context, j job, who access.Principal, q *models.CallbackQuery) {
	parts := strings.Split(q.Data, ":")
	if len(parts) != 3 {
		d.answerClick(ctx, j, q, "This button is not one that I know.")
		return
	}
	i, err := d.gates.Get(ctx, who, parts[1])
	if ctx.Err() != nil {
		return // the next start resumes it
	}
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		d.answerClick(ctx, j, q, "This is not yours to decide: it waits for somebody else, or is gone.")
		return
	}
	if err != nil {
		d.answerClick(ctx, j, q, d.reason(ctx, j, err))
		return
	}
	switch parts[0] {
	case render.Approve:
		d.decide(ctx, j, who, q, i, contracts.DecisionApprove, parts[2])
	case render.Reject:
		d.decide(ctx, j, who, q, i, contracts.DecisionReject, parts[2])
	case render.Option:
		d.choose(ctx, j, who, q, i, parts[2])
	default:
		d.answerClick(ctx, j, q, "This button is not one that I know.")
	}
}

func (d *dialogue) reason(ctx context.Context, j job, err error) string {
	return render.Words(d.answers.failed(ctx, j, err))
}

// decide approves or rejects the action of a button.
func (d *dialogue) decide(ctx context.Context, j job, who access.Principal, q *models.CallbackQuery, i contracts.Interrupt, decision contracts.Decision, hash string) {
	if len(hash) != render.HashPart || !strings.HasPrefix(i.ActionSHA256, hash) {
		d.answerClick(ctx, j, q, "This button is stale: "+i.Code+" is about another action now. Look at it again: /gate "+i.Code)
		return
	}
	var err error
	switch {
	case i.Status == contracts.InterruptOpen:
		// Only the decision continues after a stop; the next start sends the reply.
		taking, cancel := conversation.DetachContext(ctx)
		defer cancel()
		var outcome conversation.Outcome
		outcome, err = d.pressed(taking, j, who, i, contracts.Resume{Decision: decision, ActionSHA256: i.ActionSHA256})
		i = outcome.Decided
	case !gates.HasDecided(i, who.Subject()): // else the press was processed before a stop, and only its reply is missing
		d.answers.out.closeButtons(ctx, q)
		d.answerClick(ctx, j, q, render.Ended(i))
		return
	}
	switch {
	case err != nil:
		d.answerClick(ctx, j, q, d.reason(ctx, j, err))
		return
	case i.Status == contracts.InterruptOpen:
		d.answerClick(ctx, j, q, fmt.Sprintf("%s: noted; it needs %d people.", i.Code, gateview.People(i)))
		return
	}
	d.answers.out.toast(ctx, q.ID, render.Ended(i))
	d.answers.reply(ctx, j, placeOfClick(q), render.Plain(render.Ended(i)))
}

// choose answers a question with one of its options. It shows the outcome of the answer itself, even if
// the run is already at the next gate, and follows the run from there.
func (d *dialogue) choose(ctx context.Context, j job, who access.Principal, q *models.CallbackQuery, i contracts.Interrupt, number string) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(i.Options) {
		d.answerClick(ctx, j, q, "This button is stale: the question has other options now.")
		return
	}
	taking, cancel := conversation.DetachContext(ctx)
	defer cancel()
	outcome := conversation.Outcome{SessionID: i.SessionID, RunID: i.RunID}
	switch {
	case i.Status == contracts.InterruptOpen:
		outcome, err = d.pressed(taking, j, who, i, contracts.Resume{Response: i.Options[n].ID})
	case !again(i, who, i.Options[n]):
		d.answers.out.closeButtons(ctx, q)
		d.answerClick(ctx, j, q, render.Ended(i))
		return
	}
	if err != nil {
		d.answerClick(ctx, j, q, d.reason(ctx, j, err))
		return
	}
	d.answers.out.toast(ctx, q.ID, i.Options[n].Label)
	d.show(ctx, taking, j, who, placeOfClick(q), outcome)
}

// pressed handles a press as a decision or an answer.
func (d *dialogue) pressed(ctx context.Context, j job, who access.Principal, i contracts.Interrupt, body contracts.Resume) (conversation.Outcome, error) {
	return d.conversation.Handle(ctx, who, conversation.Input{Gate: i.InterruptID, Resume: &body, Key: d.channel + " " + j.received.ID})
}

// again reports whether the same person has already given this answer: the press was processed before
// a stop, and only its reply is missing.
func again(i contracts.Interrupt, who access.Principal, o contracts.InterruptOption) bool {
	n := len(i.Decisions)
	value, err := decision.Value(i, o.ID)
	return err == nil && n > 0 && i.Decisions[n-1].DecidedBy == who.Subject() && fmt.Sprint(i.Response) == fmt.Sprint(value)
}

// answerClick replies to a press and finishes its update.
func (d *dialogue) answerClick(ctx context.Context, j job, q *models.CallbackQuery, text string) {
	d.answers.out.toast(ctx, q.ID, text)
	d.answers.box.finish(ctx, j.received.ID)
}

func placeOfClick(q *models.CallbackQuery) place {
	if m := q.Message.Message; m != nil {
		return placeOf(m)
	}
	chat := q.Message.InaccessibleMessage.Chat
	return place{chat: chat.ID, group: chat.Type != models.ChatTypePrivate}
}

// repliedGates returns the gate codes in the bot's message that somebody replies to: a bare "approve"
// refers to them.
func (d *dialogue) repliedGates(ctx context.Context, who access.Principal, m *models.Message) []string {
	if !d.audience.repliedTo(m) || m.ReplyToMessage.ReplyMarkup == nil {
		return nil
	}
	var codes []string
	for _, row := range m.ReplyToMessage.ReplyMarkup.InlineKeyboard {
		for _, button := range row {
			parts := strings.Split(button.CallbackData, ":")
			if len(parts) != 3 || parts[0] != render.Reject && parts[0] != render.Option {
				continue
			}
			i, err := d.gates.Get(ctx, who, parts[1])
			if err == nil && (parts[0] == render.Option || strings.HasPrefix(i.ActionSHA256, parts[2])) {
				codes = append(codes, i.Code)
			}
		}
	}
	return codes
}

// oneGate shows a gate by its code.
func (d *dialogue) oneGate(ctx context.Context, j job, who access.Principal, m *models.Message, code string) {
	if code == "" {
		d.answers.reply(ctx, j, placeOf(m), render.Plain("Write /gate and the code that is shown, such as /gate 7K3Q2."))
		return
	}
	i, err := d.gates.Get(ctx, who, strings.ToUpper(code))
	if err != nil {
		d.answers.reply(ctx, j, placeOf(m), d.answers.failed(ctx, j, err))
		return
	}
	turn := d.input(ctx, &j, who, m)
	turn.Command = &chat.Command{Verb: chat.Show, Codes: []string{i.Code}}
	d.turn(ctx, j, who, placeOf(m), turn)
}
