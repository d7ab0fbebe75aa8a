package httpapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// The words of an approval card. The frontend recommends the first option of
// every card, so the first one decides nothing.
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

// card is an approval as a native card, where the frontend offers them: for one
// gate that the reader may approve. It must be the only tool call.
func (s *chatRoutes) card(k *call, r chatRequest, state orchestrator.SessionView) (toolCall, bool) {
	if !r.offers(cardTool) || len(state.Open) != 1 || len(state.MayApprove) != 1 {
		return toolCall{}, false
	}
	gate := state.Open[0]
	if m, ok := s.cardShown(k, r); ok && slices.Contains(m.Codes, gate.Code) {
		return toolCall{}, false // it was put away just now
	}
	arguments := cardArguments{Timeout: 240_000, Questions: []cardAsks{{
		ID: cardQuestion, Header: "Approval " + gate.Code, Question: cutText(gate.Prompt, 480), AllowOther: true,
		Options: []cardOption{
			{cardLater, "Nothing is done; it stays open and the chat goes on"},
			{cardApprove, "Do exactly what is shown, once"},
			{cardReject, "Do not do it"},
		},
	}}}
	return toolCall{
		ID: s.signer.Card(chat.Marker{SessionID: state.SessionID, Codes: []string{gate.Code}}, k.who.Subject()), Type: "function",
		Function: toolFunction{Name: cardTool, Arguments: string(encode(arguments))},
	}, true
}

// cardShown is the card of ours that the last message is the answer of.
func (s *chatRoutes) cardShown(k *call, r chatRequest) (chat.Marker, bool) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role != "tool" {
		return chat.Marker{}, false
	}
	return s.signer.ReadCard(last.ToolCallID, k.who.Subject())
}

// cardTurn reads the answer of a card. A choice decides. Words of one's own are
// what they would be in the chat. All else asks only where the chat stands.
func (s *chatRoutes) cardTurn(k *call, r chatRequest, t conversation.Input) conversation.Input {
	t.Command = &chat.Command{Verb: chat.Status}
	m, ok := s.cardShown(k, r)
	if !ok {
		return t
	}
	t.Thread.SessionID = m.SessionID
	last := r.Messages[len(r.Messages)-1]
	label, words := cardAnswer(string(last.Content))
	t.Key, t.Placed = messageKey(k.gin.Request.Header, r.texts("user"), last.ToolCallID, label+words)
	switch {
	case label == cardApprove:
		t.Command = &chat.Command{Verb: chat.Approve, Codes: m.Codes[:1]}
	case label == cardReject:
		t.Command = &chat.Command{Verb: chat.Reject, Codes: m.Codes[:1]}
	case words != "":
		t.Command = nil
		t.Message, t.Quoted = chat.Unwrap(words)
	}
	return t
}

// cardAnswer reads what was chosen on a card, or what was written on it.
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
