package execution

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// ActChain is the chain of acts of administration: who changed what decides
// over others, with which key, from where. Its one appender is the transaction
// that does the act. No run has this id.
const ActChain = "acts"

// Act is an act of administration.
type Act struct {
	Kind contracts.LedgerKind
	// Actor is a subject, KeyID the key that it used, From the address that it
	// came from; the server's own programs have neither.
	Actor, KeyID, From string
	// Subject is what was acted on: a key, a domain, a session.
	Subject string
	// Detail is what was set, in a form that JSON can tell; no secrets.
	Detail any
}

type actOf struct{}

// pendingAct is an act that is recorded once.
type pendingAct struct {
	Act

	recorded atomic.Bool
}

// WithAct sets the act of a context. An act travels in the context, so that no port needs
// a parameter for it: a store asks ActOf for each write, and MarkRecorded ends it.
//
// It has the first write that succeeds with the context recorded as an act,
// in its transaction: neither is there without the other.
func WithAct(ctx context.Context, a Act) context.Context {
	return context.WithValue(ctx, actOf{}, &pendingAct{Act: a})
}

// ActOf is what a store asks each write for; MarkRecorded is what it calls once the
// write is committed.
func ActOf(ctx context.Context) (Act, bool) {
	a, ok := ctx.Value(actOf{}).(*pendingAct)
	if !ok || a.recorded.Load() {
		return Act{}, false
	}
	return a.Act, true
}

// MarkRecorded ends the act of a context.
func MarkRecorded(ctx context.Context) {
	if a, ok := ctx.Value(actOf{}).(*pendingAct); ok {
		a.recorded.Store(true)
	}
}

// Entry is the entry that follows last in ActChain, with its payload. The salt
// before the payload stays with it.
func (a Act) Entry(last contracts.LedgerEntry, at time.Time) (contracts.LedgerEntry, []byte, error) {
	e := contracts.LedgerEntry{
		Seq: last.Seq + 1, At: at.UTC().Truncate(time.Millisecond), RunID: ActChain, Kind: a.Kind,
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
func Tombstone(chain string, last contracts.LedgerEntry, by Act, why string, at time.Time) (contracts.LedgerEntry, error) {
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
