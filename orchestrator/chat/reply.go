package chat

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/orchestrator"
)

// Frame is what only the frontend and the reader know about the display of a view.
type Frame struct {
	// Links are the pages on which the reader may decide a gate, by its code.
	Links map[string]string
	// Shown are the codes of gates that are displayed above in the same message.
	Shown []string
	// Rich means that the frontend supports <details> and mermaid.
	Rich bool
}

// Compose returns the whole reply of a chat as Markdown. It is never empty, because frontends keep
// waiting for a reply without text.
func Compose(v orchestrator.SessionView, f Frame) string {
	var parts []string
	for _, part := range []string{TranslateAll(v.Language, v.Notice), renderIn(v.Language, v.Answer), questions(v, f), plan(v, f)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	switch {
	case v.Running:
		parts = append(parts, Translate(v.Language, "It is still running. Write `status` to see how far it is, or `cancel`."))
	case v.Waits:
		parts = append(parts, Translate(v.Language, "It waits for its turn, or for a service that is busy, and goes on by itself. Write `status` to see how far it is."))
	case len(parts) == 0:
		parts = append(parts, Translate(v.Language, "There is nothing to show."))
	}
	return strings.Join(parts, "\n\n")
}

// plan displays the steps of a run while a person has to decide about it. Without <details> it does
// so only if more than one step needs an approval.
func plan(v orchestrator.SessionView, f Frame) string {
	writes := 0
	for _, r := range v.Rows {
		if r.Approval != "" {
			writes++
		}
	}
	if len(v.Rows) < 2 || len(v.Open) == 0 || len(f.Shown) > 0 || !f.Rich && writes < 2 {
		return ""
	}
	var out strings.Builder
	if f.Rich {
		fmt.Fprintf(&out, "<details>\n<summary>"+Translate(v.Language, "Plan: %d steps")+"</summary>\n\n", len(v.Rows))
	}
	// A long plan without <details> displays only the steps that need an approval.
	short := !f.Rich && len(v.Rows) > maxRows
	if short {
		fmt.Fprintf(&out, "Of %d steps, these wait for an approval when their turn comes:\n\n", len(v.Rows))
	}
	out.WriteString("| # | step | after | risk | approval |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range v.Rows {
		if short && r.Approval == "" {
			continue
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n",
			Escape(r.NodeID), Escape(r.Step), Escape(strings.Join(r.DependsOn, ", ")), Escape(string(r.Risk)), Escape(r.Approval))
	}
	if f.Rich {
		if v.Mermaid != "" && !strings.Contains(v.Mermaid, "```") {
			out.WriteString("\n```mermaid\n" + strings.TrimSpace(v.Mermaid) + "\n```\n")
		}
		out.WriteString("\n</details>")
	}
	return strings.TrimRight(out.String(), "\n")
}

// maxRows is the longest plan that is displayed in full without <details>.
const maxRows = 10

// questions displays the open interrupts and how to answer them.
func questions(v orchestrator.SessionView, f Frame) string {
	var parts []string
	for _, i := range v.Open {
		mayApprove := slices.Contains(v.MayApprove, i.Code)
		switch {
		case !i.Type.IsGate():
			parts = append(parts, asks(i, slices.Contains(v.MayAnswer, i.Code)))
		case slices.Contains(f.Shown, i.Code):
			parts = append(parts, Translate(v.Language, "It stays open.")+" "+howToDecide(v.Language, i.Code, mayApprove))
		default:
			parts = append(parts, gate(v.Language, i, mayApprove, f.Links[i.Code], f.Rich))
		}
	}
	return strings.Join(parts, "\n\n")
}

func gate(language string, i contracts.Interrupt, mayApprove bool, link string, rich bool) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s** `%s`\n\n", Escape(gateview.Asks(i)), i.Code)
	rows(language, &out, sheetIn(language, i))
	for _, d := range Changes(i) {
		fmt.Fprintf(&out, "\nchanged: %s from %s to %s\n", Escape(d.Pointer), Escape(FormatBounded(i, d.Before)), Escape(FormatBounded(i, d.After)))
	}
	var facts []string
	for _, c := range ContextRows(i) {
		facts = append(facts, capital(Translate(language, c[0]))+": "+Escape(strings.TrimRight(c[1], "."))+".")
	}
	if sent := SentIDs(i); !rich && sent != "" {
		facts = append(facts, capital(Translate(language, "sent as"))+": "+Escape(sent)+".")
	}
	if i.ExpiresAt != nil {
		facts = append(facts, fmt.Sprintf(Translate(language, "Open until %s."), i.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC")))
	}
	out.WriteString("\n" + strings.Join(facts, " "))
	if i.Status == "" || i.Status == contracts.InterruptOpen {
		out.WriteString("\n\n" + howToDecide(language, i.Code, mayApprove))
		if link != "" {
			fmt.Fprintf(&out, "\n\nOr [look at it on a page](%s), which is yours alone: do not pass it on.", link)
		}
	}
	if exact := exact(language, i); rich && exact != "" {
		out.WriteString("\n\n" + exact)
	}
	return strings.TrimSpace(out.String())
}

// rows writes names and values as a table.
func rows(language string, out *strings.Builder, all [][2]string) {
	if len(all) == 0 {
		return
	}
	out.WriteString(Translate(language, "| parameter | value |") + "\n| --- | --- |\n")
	for _, r := range all {
		fmt.Fprintf(out, "| %s | %s |\n", Escape(r[0]), Escape(r[1]))
	}
}

// exact displays, folded, exactly what is sent if the gate shows labels in place of values.
func exact(language string, i contracts.Interrupt) string {
	var all [][2]string
	if i.Action == nil || !slices.ContainsFunc(slices.Collect(maps.Values(i.Action.Sent())), func(v any) bool { return gateview.IsDigest(v) }) && SentIDs(i) == "" {
		return ""
	}
	sent := i.Action.Sent()
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		all = append(all, [2]string{name, FormatBounded(i, sent[name])})
	}
	var out strings.Builder
	out.WriteString("<details>\n<summary>" + Translate(language, "Exactly what is sent") + "</summary>\n\n")
	rows(language, &out, all)
	out.WriteString("\n</details>")
	return out.String()
}

func howToDecide(language, code string, mayApprove bool) string {
	if mayApprove {
		return fmt.Sprintf(Translate(language, "Reply `approve %s` or `reject %s`."), code, code)
	}
	return fmt.Sprintf(Translate(language, "Somebody else has to approve it, with `approve %s`. You can withdraw it: `withdraw %s`."), code, code)
}

// ContextRows returns what an approver should know besides the parameters, by name: the
// installation, the requester, the reason for the gate, and the original message.
func ContextRows(i contracts.Interrupt) [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	if i.Action != nil {
		out = append(out, i.Action.Utterance.Lines()...)
		add("where", i.Action.Instance)
	}
	add("asked by", strings.Join(i.Requesters, ", "))
	add("risk", string(i.RiskLevel))
	add("why", i.Reason)
	out = append(out, gateview.Terms(i)...)
	for _, e := range i.Evidence {
		if said, ok := e.Value.(string); ok && e.Path == contracts.EvidenceSettlement {
			add("before", said)
		}
		if name, shown := strings.CutPrefix(e.Path, contracts.EvidenceShown); shown {
			add(strings.ReplaceAll(name, "_", " "), FormatBounded(i, plainly(e.Value)))
		}
	}
	add("mind", i.Warning)
	return out
}

// maxValue is the maximum number of characters of one value in the text of a gate.
const maxValue = 2000

// FormatBounded formats a value of a gate. Of a value that is too long it returns the beginning,
// the length, the hash, and the command that shows it in full.
func FormatBounded(i contracts.Interrupt, v any) string {
	text := FormatValue(v)
	if utf8.RuneCountInString(text) <= maxValue {
		return text
	}
	raw, is := v.(string)
	if !is {
		raw = text
	}
	return fmt.Sprintf("%s… (cut: %d characters in all, SHA-256 %s; manifold gates %s shows them)",
		string([]rune(text)[:maxValue]), utf8.RuneCountInString(raw), contracts.HashBytes([]byte(raw)), i.Code)
}

// plainly joins a list of values into one text, and formats other values as they are.
func plainly(v any) string {
	list, ok := v.([]any)
	if !ok {
		return FormatValue(v)
	}
	parts := make([]string, len(list))
	for i, item := range list {
		parts[i] = FormatValue(item)
	}
	return strings.Join(parts, "; ")
}

func capital(word string) string {
	first, size := utf8.DecodeRuneInString(word)
	return string(unicode.ToUpper(first)) + word[size:]
}

// GateRows returns what will be sent, by name, for approvers. A value that was chosen from a list
// is its label, followed by the id that will be sent if that is readable.
func GateRows(i contracts.Interrupt) [][2]string { return sheetIn("", i) }

func sheetIn(language string, i contracts.Interrupt) [][2]string {
	var out [][2]string
	for _, r := range gateview.Of(i) {
		value := FormatBounded(i, r.Value)
		most := 80
		if r.Opaque { // the label replaces an unreadable id
			most = 400
		}
		switch label := brief(r.Label, most); {
		case label == "" || label == value:
		case r.Opaque:
			value = label
		default:
			value = label + " [" + value + "]"
		}
		if from := r.From.Words(); from != "" {
			value += " (" + Translate(language, from) + ")"
		}
		out = append(out, [2]string{r.Name, value})
	}
	return out
}

// SentIDs returns the unreadable ids for which GateRows displays only labels.
func SentIDs(i contracts.Interrupt) string {
	var out []string
	for _, r := range gateview.Of(i) {
		if r.Opaque && r.Label != "" && !gateview.IsDigest(r.Value) {
			out = append(out, r.Name+" "+FormatValue(r.Value))
		}
	}
	return strings.Join(out, ", ")
}

// Changes returns the differences to the previous version of a gate that people can read.
func Changes(i contracts.Interrupt) []contracts.FieldDifference {
	return slices.DeleteFunc(slices.Clone(i.Difference), func(d contracts.FieldDifference) bool {
		return gateview.IsDigest(d.Before) || gateview.IsDigest(d.After)
	})
}

// EvidenceRows returns path and value of the evidence that GateRows does not display.
func EvidenceRows(i contracts.Interrupt) [][2]string {
	shown := map[string]bool{}
	for _, r := range gateview.Of(i) {
		shown[FormatValue(r.Value)], shown[r.Label] = true, true
	}
	var out [][2]string
	for _, e := range i.Evidence {
		chosen := strings.HasSuffix(e.Path, ".value") || strings.HasSuffix(e.Path, ".label")
		if gateview.IsDigest(e.Value) || chosen && (shown[contracts.CleanSummary(FormatValue(e.Value))] || e.Value == "") {
			continue
		}
		out = append(out, [2]string{e.Path + " of " + e.NodeID, FormatBounded(i, e.Value)})
	}
	return out
}

// asks displays a question with its context. The code of a procedure's question is displayed,
// because it can be answered by code from another chat.
func asks(i contracts.Interrupt, mayAnswer bool) string {
	var out strings.Builder
	out.WriteString("**" + Escape(i.Prompt) + "**")
	if ofRun(i) {
		out.WriteString(" `" + i.Code + "`")
	}
	out.WriteString("\n")
	if i.Warning != "" {
		out.WriteString("\n" + Escape(i.Warning) + "\n")
	}
	if lines := gateview.Lines(i); len(lines) > 0 {
		out.WriteString("\n| | |\n| --- | --- |\n")
		for _, l := range lines {
			text := Escape(FormatValue(l[1]))
			if strings.HasPrefix(l[1], "https://") && !strings.ContainsAny(l[1], "<>|\\ \t\r\n") {
				text = "<" + l[1] + ">" // escapes would break the URL
			}
			fmt.Fprintf(&out, "| %s | %s |\n", Escape(l[0]), text)
		}
	}
	for n, o := range i.Options {
		fmt.Fprintf(&out, "\n%s %s", OptionMark(i, n), Escape(o.Label))
		if o.Detail != "" {
			out.WriteString(" – " + Escape(o.Detail))
		}
	}
	if words := gateview.Words(i); len(words) > 0 {
		out.WriteString("\n\nOr write `" + strings.Join(words, "`, `") + "`.")
	}
	if !mayAnswer && ofRun(i) {
		out.WriteString("\n\n" + "Somebody else has to answer this" + orNothing(", with the role ", strings.Join(i.Roles, " or ")) + ".")
	}
	return strings.TrimRight(out.String(), "\n")
}

// ofRun reports whether a question is one of a procedure or budget, which another person may answer
// from another chat.
func ofRun(i contracts.Interrupt) bool {
	return i.Workflow != "" || i.Type == contracts.InterruptBudgetExceeded
}

func orNothing(before, text string) string {
	if text == "" {
		return ""
	}
	return before + Escape(text)
}

// FollowUps returns the commands that fit the state of a chat; frontends display them as buttons.
func FollowUps(v orchestrator.SessionView) []string {
	out := []string{}
	for _, i := range v.Open {
		switch {
		case i.Type.IsGate():
			switch {
			case i.Status != "" && i.Status != contracts.InterruptOpen:
			case slices.Contains(v.MayApprove, i.Code):
				out = append(out, "Approve "+i.Code, "Reject "+i.Code)
			default:
				out = append(out, "Status", "Withdraw "+i.Code)
			}
		case len(v.Open) == 1:
			for n := range min(len(i.Options), 5) {
				out = append(out, OptionText(i, n))
			}
		}
	}
	if v.Running || v.Waits {
		out = append(out, "Status", "Cancel")
	}
	return out
}

// OptionText returns the text of the nth option's button: its mark and its label. The label alone
// would be ambiguous: a domain chooses it, and it may be "cancel" or the number of another option.
func OptionText(i contracts.Interrupt, n int) string {
	return OptionMark(i, n) + " " + brief(i.Options[n].Label, 60)
}

// OptionMark returns the mark of the nth option: a number, or a letter if the question asks for a
// number.
func OptionMark(i contracts.Interrupt, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	if AsksNumber(i) && n < len(letters) {
		return letters[n:n+1] + "."
	}
	return strconv.Itoa(n+1) + "."
}

// OptionPosition reads a mark and returns the position of its option, from 1.
func OptionPosition(i contracts.Interrupt, text string) (int, bool) {
	text = strings.ToLower(strings.TrimRight(text, ".)"))
	if AsksNumber(i) {
		if len(text) != 1 || text[0] < 'a' || text[0] > 'z' {
			return 0, false
		}
		return int(text[0]-'a') + 1, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// AsksNumber reports whether the answer to a question is a number.
func AsksNumber(i contracts.Interrupt) bool {
	kind, _ := i.ResponseSchema["type"].(string)
	numeric := kind == "integer" || kind == "number"
	return numeric || len(i.Options) > 0 && !slices.ContainsFunc(i.Options, func(o contracts.InterruptOption) bool {
		switch o.Value.(type) {
		case float64, int, int64:
			return false
		}
		return true
	})
}

// brief returns a text on one line, cut to a maximum number of characters.
func brief(s string, most int) string {
	runes := []rune(contracts.CleanSummary(s))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}

// Progress formats one event as a line of plain text, "" if people need not see it.
func Progress(e contracts.Event) string {
	name := e.NodeName
	if name == "" {
		name = e.NodeID
	}
	line := func(mark, text string) string {
		if e.Summary != "" {
			text += ": " + e.Summary
		}
		return mark + " " + contracts.CleanSummary(text)
	}
	switch e.Type {
	case contracts.EventNodeStart:
		return "· " + contracts.CleanSummary(name)
	case contracts.EventNodeEnd:
		return line("✓", name)
	case contracts.EventNodeError:
		return line("✗", name)
	case contracts.EventInterrupt:
		asks, _, values := strings.Cut(contracts.CleanSummary(e.Summary), "? ")
		if values {
			asks += "?"
		}
		return "? " + asks
	case contracts.EventProgress:
		return line("…", name)
	case contracts.EventInterruptResolved:
		return line("=", e.Status)
	case contracts.EventToolCallStart, contracts.EventToolCallEnd, contracts.EventExpand, contracts.EventVerdict, contracts.EventDone:
	}
	return ""
}
