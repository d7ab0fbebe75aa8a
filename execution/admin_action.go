package execution

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// AdminChain is the ledger chain of administrative changes: who changed what, with which
// key and from where. Only the transaction that makes the change appends to it. No run has
// this id.
const AdminChain = "acts"

// AdminAction is a change made by an administrator, for the audit record.
type AdminAction struct {
	Kind contracts.LedgerKind
	// Actor is a subject, KeyID the key that it used, From the address that it
	// came from; the server's own programs have neither.
	Actor, KeyID, From string
	// Subject is what was acted on: a key, a domain, a session.
	Subject string
	// Detail is what was set, in a form that JSON can tell; no secrets.
	Detail any
}

type adminActionKey struct{}

// pendingAdminAction is an action that is recorded once.
type pendingAdminAction struct {
	AdminAction

	recorded atomic.Bool
}

// WithAdminAction attaches an action of an administrator to ctx. The first successful write
// with ctx inserts its record in the same transaction: both commit or neither does. The
// action travels in the context so that no port needs a parameter for it; a store calls
// AdminActionOf for each write and MarkRecorded after the commit.
func WithAdminAction(ctx context.Context, a AdminAction) context.Context {
	return context.WithValue(ctx, adminActionKey{}, &pendingAdminAction{AdminAction: a})
}

// AdminActionOf returns the action attached to ctx, and false if there is none or it has been
// recorded. A store calls it for each write, and MarkRecorded after the commit.
func AdminActionOf(ctx context.Context) (AdminAction, bool) {
	a, ok := ctx.Value(adminActionKey{}).(*pendingAdminAction)
	if !ok || a.recorded.Load() {
		return AdminAction{}, false
	}
	return a.AdminAction, true
}

// MarkRecorded ends the act of a context.
func MarkRecorded(ctx context.Context) {
	if a, ok := ctx.Value(adminActionKey{}).(*pendingAdminAction); ok {
		a.recorded.Store(true)
	}
}

// Entry is the entry that follows last in AdminChain, with its payload. The salt
// before the payload stays with it.
func (a AdminAction) Entry(last contracts.LedgerEntry, at time.Time) (contracts.LedgerEntry, []byte, error) {
	e := contracts.LedgerEntry{
		Seq: last.Seq + 1, At: at.UTC().Truncate(time.Millisecond), RunID: AdminChain, Kind: a.Kind,
		NodeID: a.Subject, Actor: a.Actor, KeyID: a.KeyID, From: a.From,
	}
	var payload []byte
	if a.Detail != nil {
		detail, err := contracts.Canonical(a.Detail)
		if err != nil {
			return e, nil, err
		}
		payload = slices.Concat(newSalt(), detail)
		e.PayloadSHA256 = contracts.HashBytes(payload)
	}
	return e, payload, e.Seal(last.Hash)
}

// Why rows are gone.
const (
	GoneByRetention = "retention"
	GoneByRequest   = "request"
	// GoneBefore is for what was deleted before deletions were recorded.
	GoneBefore = "before"
)

// Tombstone is the last entry of a chain: its rows were deleted, by whom and
// why. Whoever deletes them appends it in the same transaction.
func Tombstone(chain string, last contracts.LedgerEntry, by AdminAction, why string, at time.Time) (contracts.LedgerEntry, error) {
	if by.Actor == "" {
		by.Actor = "system"
	}
	e := contracts.LedgerEntry{
		Seq: last.Seq + 1, At: at.UTC().Truncate(time.Millisecond), RunID: chain, Kind: contracts.LedgerDeleted,
		Key: why, Actor: by.Actor, KeyID: by.KeyID, From: by.From,
	}
	return e, e.Seal(last.Hash)
}

// SessionChain is the chain of a session: it has only its tombstone.
func SessionChain(sessionID string) string { return "session:" + sessionID }
