package httpapi

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// The texts of an approval card. The frontend recommends the first option of every card, so the
// first option decides nothing.
const (
	cardTool     = "ask_user"
	cardQuestion = "decision"
	cardLater    = "Decide later"
	cardApprove  = "Approve"
	cardReject   = "Reject"
)

type cardArguments struct {
	Questions []cardAsks `json:"questions"`
	Timeout   int        `json:"timeout_ms"`
}

type cardAsks struct {
	ID         string       `json:"id"`
	Header     string       `json:"header"`
	Question   string       `json:"question"`
	Options    []cardOption `json:"options"`
	AllowOther bool         `json:"allow_other"`
}

type cardOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// card returns the single open gate or question as a native card, if the frontend offers cards and
// the caller may decide or answer it. A card must be the only tool call.
func (s *chatRoutes) card(k *call, r chatRequest, state orchestrator.SessionView) (toolCall, bool) {
	if !r.offers(cardTool) || len(state.Open) != 1 || len(state.MayApprove)+len(state.MayAnswer) != 1 {
		return toolCall{}, false
	}
	gate := state.Open[0]
	asks, ok := cardOf(gate)
	if !ok {
		return toolCall{}, false
	}
	if m, ok := s.cardShown(k, r); ok && slices.Contains(m.Codes, gate.Code) {
		return toolCall{}, false // the user has just dismissed it
	}
	arguments := cardArguments{Timeout: 240_000, Questions: []cardAsks{asks}}
	return toolCall{
		ID: s.signer.Card(chat.Marker{SessionID: state.SessionID, Codes: []string{gate.Code}}, k.who.Subject()), Type: "function",
		Function: toolFunction{Name: cardTool, Arguments: string(encode(arguments))},
	}, true
}

// cardChoices bounds the choices of a card besides the first one: Open WebUI shows at most three.
const cardChoices = 2

// cardOf returns a gate or question as a card. It reports false if it must be asked as text.
func cardOf(i contracts.Interrupt) (cardAsks, bool) {
	out := cardAsks{
		ID: cardQuestion, Header: "Approval " + i.Code, Question: cutText(i.Prompt, 480), AllowOther: true,
		Options: []cardOption{{cardLater, "Nothing is done; it stays open and the chat goes on"}},
	}
	if i.Type.IsGate() {
		out.Options = append(out.Options, cardOption{cardApprove, "Do exactly what is shown, once"}, cardOption{cardReject, "Do not do it"})
		return out, true
	}
	if i.Workflow == "" || len(i.Options) == 0 {
		return out, false
	}
	out.Header = "Question " + i.Code
	shown, rest := cardSplit(i)
	for _, o := range shown {
		out.Options = append(out.Options, cardOption{cutText(o.Label, 80), cutText(cmp.Or(o.Detail, "Answer: "+o.Label), 240)})
	}
	if rest = append(rest, gateview.Words(i)...); len(rest) > 0 {
		out.Question = cutText(cutText(i.Prompt, 240)+" Or write: "+strings.Join(rest, " · "), 480)
	}
	return out, true
}

// cardSplit returns the options that a card shows, and the texts for the other ones. Answers precede
// the options to choose from, which the text above the card lists as well.
func cardSplit(i contracts.Interrupt) (shown []contracts.InterruptOption, rest []string) {
	for _, answers := range []bool{true, false} {
		for n, o := range i.Options {
			switch {
			case (o.Value == nil) != answers:
			case len(shown) < cardChoices:
				shown = append(shown, o)
			default:
				rest = append(rest, chat.OptionText(i, n))
			}
		}
	}
	return shown, rest
}

// cardChoice returns the option that a label of a question card stands for.
func (s *chatRoutes) cardChoice(k *call, code, label string) (contracts.InterruptOption, bool) {
	i, err := s.approvals.gates.Get(k.ctx(), k.who, code)
	if err != nil || i.Type.IsGate() || label == "" {
		return contracts.InterruptOption{}, false
	}
	shown, _ := cardSplit(i)
	at := slices.IndexFunc(shown, func(o contracts.InterruptOption) bool { return cutText(o.Label, 80) == label })
	if at < 0 {
		return contracts.InterruptOption{}, false
	}
	return shown[at], true
}

// cardShown returns the marker of our card that the last message answers.
func (s *chatRoutes) cardShown(k *call, r chatRequest) (chat.Marker, bool) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role != "tool" {
		return chat.Marker{}, false
	}
	return s.signer.ReadCard(last.ToolCallID, k.who.Subject())
}

// cardTurn reads the answer to a card. A choice decides or answers the interrupt, free text is
// handled as a chat message, and anything else only returns the status.
func (s *chatRoutes) cardTurn(k *call, r chatRequest, t conversation.Input) conversation.Input {
	t.Command = &chat.Command{Verb: chat.Status}
	m, ok := s.cardShown(k, r)
	if !ok {
		return t
	}
	t.Thread.SessionID, t.Thread.Marked, t.Thread.Shown = m.SessionID, true, m.Codes
	last := r.Messages[len(r.Messages)-1]
	label, words := cardAnswer(string(last.Content))
	t.Key, t.PositionalKey = messageKey(k.gin.Request.Header, r.texts("user"), last.ToolCallID, label+words)
	choice, chosen := s.cardChoice(k, m.Codes[0], label)
	switch {
	case chosen:
		t.Command, t.Message = nil, choice.ID
	case label == cardApprove:
		t.Command = &chat.Command{Verb: chat.Approve, Codes: m.Codes[:1]}
	case label == cardReject:
		t.Command = &chat.Command{Verb: chat.Reject, Codes: m.Codes[:1]}
	case words != "":
		t.Command = nil
		t.Message, t.Quoted = chat.UnwrapPrompt(words)
	}
	return t
}

// cardAnswer returns the chosen label of a card, or the text that was entered.
func cardAnswer(text string) (label, words string) {
	var answer struct {
		Status  string `json:"status"`
		Answers map[string]struct {
			Type  string `json:"type"`
			Label string `json:"label"`
			Text  string `json:"text"`
		} `json:"answers"`
	}
	if json.Unmarshal([]byte(text), &answer) != nil {
		return strings.TrimSpace(text), ""
	}
	chosen := answer.Answers[cardQuestion]
	switch {
	case answer.Status != "answered":
		return "", ""
	case chosen.Type == "option":
		return chosen.Label, ""
	case chosen.Type == "other":
		return "", strings.TrimSpace(chosen.Text)
	}
	return "", ""
}

func cutText(s string, most int) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
