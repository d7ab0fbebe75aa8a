package agentserver

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// decides reports whether words would decide something in a session if a person said them.
// The API takes them for the word of whom the key belongs to, who may be allowed to; an
// agent's word is not theirs.
func decides(ctx context.Context, api *client.Client, session, words string) (bool, error) {
	kept, _ := chat.WithoutSecrets(words)
	for _, text := range []string{words, kept} {
		if c, ok := chat.Parse(text); ok && (c.Verb == chat.Approve || c.Verb == chat.Reject) {
			return true, nil
		}
	}
	now, err := api.Session(ctx, session, client.Opt{})
	if err != nil {
		return false, err
	}
	// Any words may answer whether a plan is approved, such as the number of an option.
	return slices.ContainsFunc(now.Interrupts, func(i contracts.Interrupt) bool { return i.Type == contracts.InterruptPlanApproval }), nil
}
