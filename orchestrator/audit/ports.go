package audit

import (
	"context"
)

// Proofs is the data that a store keeps so that tampering is detected.
type Proofs interface {
	// Chains lists the ids of all ledgers, including those of deleted runs.
	Chains(ctx context.Context, after string, limit int) ([]string, error)
	// CheckRows compares all rows with their seals, and all blobs with their hashes. It calls found
	// for each difference and returns the number of seals, 0 if the store has none.
	CheckRows(ctx context.Context, found func(scope, message string)) (int, error)
	// SealVersion returns the number of changes of a scope, 0 for an unknown one.
	SealVersion(ctx context.Context, scope string) (int64, error)
	Log
}

// Log is a transparency log: an append-only list of leaves, and the hashes of the Merkle tree over
// them.
type Log interface {
	// Unlogged returns the current state of the scopes that have changed since their last leaf, in
	// one snapshot of the store.
	Unlogged(ctx context.Context, limit int) ([]Leaf, error)
	// Grow appends leaves with the hashes that they add, in storage order, and the root of the
	// resulting tree. It returns conflict if the log no longer has this size. Scopes that have not
	// changed since are then logged.
	Grow(ctx context.Context, size int64, leaves []Leaf, hashes [][]byte, root Root) error
	// LastRoot returns the root of the last Grow, the zero Root before the first.
	LastRoot(ctx context.Context) (Root, error)
	// Leaves returns leaves from a position on, in order. Hashes returns the hashes of the tree
	// from a position in storage order on, HashesAt single ones.
	Leaves(ctx context.Context, from int64, limit int) ([]Leaf, error)
	Hashes(ctx context.Context, from int64, limit int) ([][]byte, error)
	HashesAt(ctx context.Context, places []int64) ([][]byte, error)
	// LeafOf returns the first leaf that covers an entry of a chain, and its position.
	LeafOf(ctx context.Context, chain string, seq int64) (Leaf, int64, error)
}

// Leaf is the state of a scope that the log records.
type Leaf struct {
	Scope string `json:"scope"`
	// Version counts the changes of the scope, and Sum is the seal of its rows at that version.
	Version int64  `json:"version"`
	Sum     string `json:"sum,omitempty"`
	// Chain is the ledger of the scope; Seq and Head are its last entry.
	Chain string `json:"chain,omitempty"`
	Seq   int64  `json:"seq,omitempty"`
	Head  string `json:"head,omitempty"`
}

// Root is a signed root: a note that others can verify on their own.
type Root struct {
	Size int64
	Note string
}
