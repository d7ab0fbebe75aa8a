package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// View formats the state of a session. In a group everybody sees the buttons of a gate; whether a press
// counts is checked when it arrives.
func View(state orchestrator.SessionView, group bool, pages map[string]string) []Part {
	say := func(english string) []Part { return notice(chat.Translate(state.Language, english)) }
	parts := notice(chat.TranslateAll(state.Language, state.Notice))
	if state.Answer != nil {
		for _, b := range state.Answer.Blocks {
			parts = append(parts, block(b)...)
		}
		if v := state.Answer.Verdict; v != nil && v.Status != contracts.VerdictVerified {
			words := strings.ReplaceAll(string(v.Status), "_", " ")
			if len(v.Reasons) > 0 {
				words += ": " + strings.Join(v.Reasons, "; ")
			}
			parts = append(parts, Part{lines: []line{{{text: words, tag: "i"}}}})
		}
	}
	if len(state.Rows) > 1 && len(state.Open) > 0 {
		parts = append(parts, plan(state.Rows))
	}
	for _, i := range state.Open {
		if i.Type.IsGate() {
			parts = append(parts, fitting(i, group || slices.Contains(state.MayApprove, i.Code), pages[i.Code], state.Language))
			continue
		}
		parts = append(parts, asks(i))
	}
	switch {
	case state.Running:
		parts = append(parts, say("It is still running. Write `status` to see how far it is, or `cancel`.")...)
	case state.Waits:
		parts = append(parts, say("It waits for its turn, or for a service that is busy, and goes on by itself. Write `status` to see how far it is.")...)
	case len(parts) == 0:
		parts = say("There is nothing to show.")
	}
	return parts
}

func block(b contracts.Block) []Part {
	var head []line
	if b.Title != "" {
		head = []line{{{text: b.Title, tag: "b"}}}
	}
	switch b.Kind {
	case contracts.BlockTable:
		rows := table(b)
		if len(head) == 0 {
			return []Part{rows}
		}
		return []Part{{lines: head}, rows}
	case contracts.BlockList:
		for _, item := range b.Items {
			head = append(head, line{{text: "• " + item}})
		}
	case contracts.BlockError:
		head = append(head, line{{text: "⚠️ " + b.Text}})
	case contracts.BlockText, contracts.BlockNote:
		for l := range strings.SplitSeq(b.Text, "\n") {
			head = append(head, line{{text: l}})
		}
	}
	return []Part{{lines: head}}
}

// widest is the maximum width of a table in characters. A wider one is shown as a list of records,
// because a phone would wrap its lines.
const widest = 64

func table(b contracts.Block) Part {
	rows := make([][]string, 0, len(b.Rows)+1)
	head := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		head[i] = c.Title
		if c.Unit != "" {
			head[i] += " (" + c.Unit + ")"
		}
	}
	rows = append(rows, head)
	for _, r := range b.Rows {
		cells := make([]string, len(head))
		for i := range min(len(r), len(head)) {
			cells[i] = contracts.CleanSummary(chat.FormatValue(r[i]))
		}
		rows = append(rows, cells)
	}
	widths, total := make([]int, len(head)), 0
	for i := range head {
		for _, r := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
		total += widths[i] + 2
	}
	if total-2 > widest {
		return records(rows)
	}
	out := Part{pre: true}
	for _, r := range rows {
		var text strings.Builder
		for i, cell := range r {
			text.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		out.lines = append(out.lines, line{{text: strings.TrimRight(text.String(), " ")}})
	}
	return out
}

func records(rows [][]string) Part {
	var out Part
	for n, r := range rows[1:] {
		if n > 0 {
			out.lines = append(out.lines, line{})
		}
		for i, cell := range r {
			if cell != "" {
				out.lines = append(out.lines, line{{text: rows[0][i] + ": ", tag: "i"}, {text: cell}})
			}
		}
	}
	return out
}

func plan(rows []contracts.PlanRow) Part {
	out := Part{lines: []line{{{text: fmt.Sprintf("Plan: %d steps", len(rows)), tag: "b"}}}}
	for _, r := range rows {
		text := r.NodeID + " " + r.Step
		if len(r.DependsOn) > 0 {
			text += ", after " + strings.Join(r.DependsOn, ", ")
		}
		if r.Approval != "" {
			text += " – needs approval: " + r.Approval
		}
		out.lines = append(out.lines, line{{text: text}})
	}
	return out
}

// maxEvidence bounds the values that a gate shows besides its parameters.
const maxEvidence = 8

func gate(i contracts.Interrupt, mayApprove bool, language string) Part {
	out := Part{lines: []line{{{text: gateview.Asks(i), tag: "b"}, {text: " "}, {text: i.Code, tag: "code"}}}}
	add := func(name, value string) {
		out.lines = append(out.lines, line{{text: chat.Translate(language, name) + ": ", tag: "i"}, {text: value}})
	}
	for _, row := range chat.GateRows(i) {
		add(row[0], row[1])
	}
	grounds := chat.EvidenceRows(i)
	for _, g := range grounds[:min(len(grounds), maxEvidence)] {
		add(g[0], g[1])
	}
	if more := len(grounds) - maxEvidence; more > 0 {
		out.lines = append(out.lines, line{{text: fmt.Sprintf("and %d values more: manifold gates %s", more, i.Code)}})
	}
	for _, d := range chat.Changes(i) {
		add("changed "+d.Pointer, chat.FormatBounded(i, d.Before)+" → "+chat.FormatBounded(i, d.After))
	}
	for _, c := range chat.ContextRows(i) {
		add(c[0], c[1])
	}
	if sent := chat.SentIDs(i); sent != "" {
		add("sent as", sent)
	}
	if i.ExpiresAt != nil {
		add("open until", minute(*i.ExpiresAt))
	}
	if i.Status != contracts.InterruptOpen {
		out.lines = append(out.lines, line{{text: Ended(i), tag: "b"}})
		return out
	}
	if mayApprove {
		reject := button("Reject "+i.Code, gateData(Reject, i))
		out.lines = append(out.lines, inline(fmt.Sprintf(chat.Translate(language, "Reply `approve %s` or `reject %s`."), i.Code, i.Code), false))
		out.buttons = row(button("Approve "+i.Code, gateData(Approve, i)), reject)
		return out
	}
	out.lines = append(out.lines, inline(fmt.Sprintf(chat.Translate(language, "Somebody else has to approve it, with `approve %s`. You can withdraw it: `withdraw %s`."), i.Code, i.Code), false))
	out.buttons = row(button("Withdraw "+i.Code, gateData(Reject, i)))
	return out
}

// fits reports whether a gate fits into one message, above its buttons.
func fits(p Part) bool { return len(Pack([]Part{p})) == 1 }

// fitting returns a gate for deciding in the chat. If it does not fit into one message, it can only be
// rejected here, and is approved where it is shown completely.
func fitting(i contracts.Interrupt, mayApprove bool, page, language string) Part {
	whole := gate(i, mayApprove, language)
	if i.Status != contracts.InterruptOpen || fits(whole) {
		return whole
	}
	out := Part{lines: whole.lines[:1:1]}
	say := func(text string) { out.lines = append(out.lines, line{{text: text}}) }
	say("This is too long for a message, so it cannot be approved here.")
	if mayApprove && page != "" {
		say("Look at it and decide on this page, which is yours alone: " + page)
	}
	say("\"manifold gates " + i.Code + "\" shows all of it.")
	label := "Withdraw "
	if mayApprove {
		label = "Reject "
	}
	out.buttons = row(button(label+i.Code, gateData(Reject, i)))
	return out
}

// ShownWhole returns a view with only those gates that its messages show completely.
func ShownWhole(state orchestrator.SessionView, parts []Part) orchestrator.SessionView {
	if len(Pack(parts)) > maxMessages {
		state.Open = nil // it is unknown what was omitted
	}
	state.Open = slices.DeleteFunc(slices.Clone(state.Open), func(i contracts.Interrupt) bool { return !fits(gate(i, true, state.Language)) })
	return state
}

// Pages returns the approval page of a gate for a person, "" if there is none.
type Pages func(who access.Principal, i contracts.Interrupt) string

// Of returns the pages of the gates that do not fit into a message of a private chat. Groups get none,
// because the URL of a page grants the right to decide.
func (p Pages) Of(who access.Principal, group bool, language string, open []contracts.Interrupt) map[string]string {
	out := map[string]string{}
	for _, i := range open {
		if p != nil && !group && i.Type.IsGate() && !fits(gate(i, true, language)) {
			out[i.Code] = p(who, i)
		}
	}
	return out
}

// Asked formats a gate or question for a person who is called to it.
func Asked(i contracts.Interrupt, page string) Part {
	if i.Type.IsGate() {
		return fitting(i, true, page, "")
	}
	return asks(i)
}

// Progress formats the progress message of a run, with its last steps.
func Progress(lines []string) Outgoing {
	p := Part{lines: []line{{{text: "Working…", tag: "b"}}}}
	for _, l := range lines {
		p.lines = append(p.lines, line{{text: l}})
	}
	return Pack([]Part{p})[0]
}

// Waits formats the notice that a gate or question is still open. It shows no content: /gate does, to
// those who may read it.
func Waits(i contracts.Interrupt, what string) Part {
	head := line{{text: what + ": ", tag: "b"}, {text: gateview.Asks(i)}, {text: " "}, {text: i.Code, tag: "code"}}
	since := "It has waited since " + minute(i.CreatedAt)
	if i.ExpiresAt != nil {
		since += ", and is open until " + minute(*i.ExpiresAt)
	}
	return Part{lines: []line{head, {{text: since + "."}}, {{text: "/gate " + i.Code}, {text: " shows it, to be decided."}}}}
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// maxOptions bounds the options with a button; all options have a number.
const maxOptions = 8

func asks(i contracts.Interrupt) Part {
	out := Part{lines: []line{{{text: i.Prompt, tag: "b"}}}}
	if i.Workflow != "" {
		out.lines[0] = append(out.lines[0], span{text: " "}, span{text: i.Code, tag: "code"})
	}
	for _, l := range gateview.Lines(i) {
		out.lines = append(out.lines, line{{text: l[0] + ": ", tag: "i"}, {text: chat.FormatValue(l[1])}})
	}
	for n, o := range i.Options {
		text := chat.OptionMark(i, n) + " " + o.Label
		if o.Detail != "" {
			text += " – " + o.Detail
		}
		out.lines = append(out.lines, line{{text: text}})
		if n < maxOptions {
			out.buttons = append(out.buttons, row(button(chat.OptionText(i, n), buttonData(Option, i.InterruptID, strconv.Itoa(n))))...)
		}
	}
	for _, words := range gateview.Words(i) {
		out.lines = append(out.lines, line{{text: "Or write "}, {text: words, tag: "code"}})
	}
	return out
}

func button(text, data string) models.InlineKeyboardButton {
	return models.InlineKeyboardButton{Text: text, CallbackData: data}
}

// row returns a keyboard of one row. A button whose data is too long for Telegram is left out: its
// option can be written.
func row(buttons ...models.InlineKeyboardButton) [][]models.InlineKeyboardButton {
	buttons = slices.DeleteFunc(buttons, func(b models.InlineKeyboardButton) bool { return len(b.CallbackData) > maxData })
	if len(buttons) == 0 {
		return nil
	}
	return [][]models.InlineKeyboardButton{buttons}
}
