package access

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// Doing has the first write that is made with the context recorded as an act of
// the caller: what, on what, and in which detail.
func (p Principal) Doing(ctx context.Context, kind contracts.LedgerKind, subject string, detail any) context.Context {
	return execution.WithAct(ctx, execution.Act{
		Kind: kind, Actor: p.Subject(), KeyID: p.KeyID, From: p.From, Subject: subject, Detail: detail,
	})
}
