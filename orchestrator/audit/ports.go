package audit

import (
	"context"
)

// Proofs is what a store keeps so that a change that it did not make is found.
type Proofs interface {
	// Chains lists the ledgers that there are, those of deleted runs too, by id.
	Chains(ctx context.Context, after string, limit int) ([]string, error)
	// CheckRows compares all rows with their seals, and all contents with their
	// hashes. It tells found what differs and gives the number of seals, 0 if the
	// store keeps none.
	CheckRows(ctx context.Context, found func(scope, message string)) (int, error)
	// SealVersion counts the changes of a scope, 0 for one that never was.
	SealVersion(ctx context.Context, scope string) (int64, error)
	Log
}

// Log is a transparency log: leaves that are only appended, and the hashes of
// the tree over them.
type Log interface {
	// Unlogged returns the scopes that have changed since their last leaf, as they
	// stand now, in one state of the store.
	Unlogged(ctx context.Context, limit int) ([]Leaf, error)
	// Grow appends leaves with the hashes that they add, in storage order, and the
	// root of the tree that they make; conflict if the log has not this size any
	// more. Scopes that have not changed since are logged then.
	Grow(ctx context.Context, size int64, leaves []Leaf, hashes [][]byte, root Root) error
	// LastRoot is that of the last Grow, the zero Root before the first.
	LastRoot(ctx context.Context) (Root, error)
	// Leaves gives leaves from a place on, in order, Hashes those of the tree from
	// a place in storage order on, HashesAt single ones.
	Leaves(ctx context.Context, from int64, limit int) ([]Leaf, error)
	Hashes(ctx context.Context, from int64, limit int) ([][]byte, error)
	HashesAt(ctx context.Context, places []int64) ([][]byte, error)
	// LeafOf is the first leaf that covers an entry of a chain, and its place.
	LeafOf(ctx context.Context, chain string, seq int64) (Leaf, int64, error)
}

// Leaf is what the log says of a scope at one time.
type Leaf struct {
	Scope string `json:"scope"`
	// Version counts the changes of the scope, and Sum is the seal of its rows then.
	Version int64  `json:"version"`
	Sum     string `json:"sum,omitempty"`
	// Chain is the ledger of the scope, Seq and Head its last entry.
	Chain string `json:"chain,omitempty"`
	Seq   int64  `json:"seq,omitempty"`
	Head  string `json:"head,omitempty"`
}

// Root is a signed root: a note that others can check without us.
type Root struct {
	Size int64
	Note string
}
