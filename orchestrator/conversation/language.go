package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
)

// wholeSentence is how many words a message has that tells the language of who
// says it: "ok" and "AAPL" are said in all.
const wholeSentence = 4

// language is the one to answer an input in: the one that its sender has set,
// else that of the last whole sentence here.
func (c *Conversation) language(ctx context.Context, in Input) string {
	if in.Language != "" {
		return in.Language
	}
	if found := languageOf(in.Message); found != "" || in.here() == "" {
		return found
	}
	turns, err := c.turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: in.here()})
	if err != nil {
		return "" // it is answered in English
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
