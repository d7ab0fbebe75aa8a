package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
)

// wholeSentence is the minimum number of words for detecting the language: "ok" and "AAPL" occur in
// all languages.
const wholeSentence = 4

// language returns the language to answer in: the one that the sender has set, else that of the
// last complete sentence in the session.
func (c *Conversation) language(ctx context.Context, in Input) string {
	if in.Language != "" {
		return in.Language
	}
	if found := languageOf(in.Message); found != "" || in.here() == "" {
		return found
	}
	turns, err := c.turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: in.here()})
	if err != nil {
		return "" // English
	}
	for _, t := range slices.Backward(turns) {
		if found := languageOf(t.Message); found != "" {
			return found
		}
	}
	return ""
}

func languageOf(message string) string {
	if len(strings.Fields(message)) < wholeSentence {
		return ""
	}
	return local.LanguageOf(message)
}
