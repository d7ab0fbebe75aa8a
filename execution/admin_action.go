package execution

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// AdminChain is the ledger chain of administrative changes: who changed what, with which key and
// from where. Only the transaction that makes the change appends to it. No run has this id.
const AdminChain = "acts"

// AdminAction is a change made by an administrator, for the audit record.
type AdminAction struct {
	Kind contracts.LedgerKind
	// Actor is a subject, KeyID the key that it used, and From its address. For actions of the
	// server itself KeyID and From are empty.
	Actor, KeyID, From string
	// Subject is the object of the action: a key, a domain, a session.
	Subject string
	// Detail is what was set, as a value that JSON can encode, without secrets.
	Detail any
}

type adminActionKey struct{}

// pendingAdminAction is an action that is recorded only once.
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

// MarkRecorded marks the action of ctx as recorded.
func MarkRecorded(ctx context.Context) {
	if a, ok := ctx.Value(adminActionKey{}).(*pendingAdminAction); ok {
		a.recorded.Store(true)
	}
}

// Entry returns the entry that follows last in AdminChain, and its payload. The payload begins with
// a salt that is stored with it.
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

// Reasons for a deletion.
const (
	GoneByRetention = "retention"
	GoneByRequest   = "request"
	// GoneBefore is for rows that were deleted before deletions were recorded.
	GoneBefore = "before"
)

// Tombstone returns the last entry of a chain: who deleted its rows, and why. The transaction that
// deletes them appends it.
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

// SessionChain returns the chain of a session. It has only a tombstone.
func SessionChain(sessionID string) string { return "session:" + sessionID }
