package access

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// WithAuditRecord attaches an audit record by p to ctx. The store inserts it in the
// transaction of the first write made with ctx.
func (p Principal) WithAuditRecord(ctx context.Context, kind contracts.LedgerKind, subject string, detail any) context.Context {
	return execution.WithAdminAction(ctx, execution.AdminAction{
		Kind: kind, Actor: p.Subject(), KeyID: p.KeyID, From: p.From, Subject: subject, Detail: detail,
	})
}
