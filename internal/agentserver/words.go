package agentserver

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// decides reports whether a message would decide an approval in a session. The API attributes the
// message to the owner of the key, who may be allowed to decide; an agent is not.
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
	// Any text may answer a plan approval, such as the number of an option.
	return slices.ContainsFunc(now.Interrupts, func(i contracts.Interrupt) bool { return i.Type == contracts.InterruptPlanApproval }), nil
}
