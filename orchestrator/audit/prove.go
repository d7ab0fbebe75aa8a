package audit

import (
	"context"
	"encoding/base64"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Root returns the last signed root.
func (a *Audit) Root(ctx context.Context, who access.Principal) (contracts.AuditRoot, error) {
	if err := who.May(access.ActionAudit); err != nil {
		return contracts.AuditRoot{}, err
	}
	root, err := a.proofs.LastRoot(ctx)
	if err == nil && root.Size == 0 {
		err = contracts.Errorf(contracts.CodeNotFound, "no root was signed yet")
	}
	return contracts.AuditRoot{Size: root.Size, Note: root.Note}, err
}

// Prove returns a proof that a ledger entry is covered by the last signed root: the entries from it
// to the one in a leaf of the log, and the path from the leaf to the root.
func (a *Audit) Prove(ctx context.Context, who access.Principal, chain string, seq int64) (contracts.AuditProof, error) {
	var p contracts.AuditProof
	if err := who.May(access.ActionAudit); err != nil {
		return p, err
	}
	if err := a.mayReadChain(ctx, who, chain); err != nil {
		return p, err
	}
	leaf, place, err := a.proofs.LeafOf(ctx, chain, seq)
	if err != nil {
		return p, err
	}
	if p.Entries, err = a.store.Ledger(ctx, chain, seq-1, int(leaf.Seq-seq)+1); err != nil {
		return p, err
	}
	root, err := a.proofs.LastRoot(ctx)
	if err != nil {
		return p, err
	}
	record, err := contracts.Canonical(leaf)
	if err != nil {
		return p, err
	}
	path, err := tlog.ProveRecord(root.Size, place, hashReader(ctx, a.proofs))
	if err != nil {
		return p, fmt.Errorf("prove entry %d of %s: %w", seq, chain, err)
	}
	p.Leaf, p.Place, p.Path, p.Root = string(record), place, encoded(path), contracts.AuditRoot{Size: root.Size, Note: root.Note}
	return p, nil
}

// Consistency returns a proof that the log under the last root extends the log with from leaves.
func (a *Audit) Consistency(ctx context.Context, who access.Principal, from int64) (contracts.AuditConsistency, error) {
	var c contracts.AuditConsistency
	root, err := a.Root(ctx, who)
	if err != nil {
		return c, err
	}
	if from < 1 {
		return c, contracts.Errorf(contracts.CodeInvalid, "from must be at least 1")
	}
	if from > root.Size {
		return c, contracts.Errorf(contracts.CodeNotFound, "the log has %d leaves, and had never %d", root.Size, from)
	}
	path, err := tlog.ProveTree(root.Size, from, hashReader(ctx, a.proofs))
	return contracts.AuditConsistency{From: from, Path: encoded(path), Root: root}, err
}

func encoded[T ~[]tlog.Hash](path T) []string {
	out := make([]string, len(path))
	for i, h := range path {
		out[i] = base64.StdEncoding.EncodeToString(h[:])
	}
	return out
}

func decoded(path []string) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(path))
	for i, text := range path {
		var err error
		if out[i], err = tlog.ParseHash(text); err != nil {
			return nil, contracts.Errorf(contracts.CodeInvalid, "hash %d of the proof cannot be read: %w", i, err)
		}
	}
	return out, nil
}

// CheckProof verifies a proof with only the public keys: that the first entry is linked by the
// later ones to a leaf in the log with the signed root. It returns the head of that root.
func CheckProof(p contracts.AuditProof, known note.Verifiers) (Head, error) {
	head, err := OpenRoot(p.Root.Note, known)
	if err != nil {
		return head, err
	}
	var leaf Leaf
	if err := contracts.Decode([]byte(p.Leaf), &leaf); err != nil {
		return head, contracts.Errorf(contracts.CodeInvalid, "the leaf cannot be read: %w", err)
	}
	if err := linked(p.Entries, leaf); err != nil {
		return head, err
	}
	path, err := decoded(p.Path)
	if err != nil {
		return head, err
	}
	if err := tlog.CheckRecord(path, head.Size, head.Hash, p.Place, tlog.RecordHash([]byte(p.Leaf))); err != nil {
		return head, contracts.Errorf(contracts.CodeConflict, "the leaf is not in the log that the root signs: %w", err)
	}
	return head, nil
}

// linked checks that the entries form one chain up to the entry in the leaf.
func linked(entries []contracts.LedgerEntry, leaf Leaf) error {
	if len(entries) == 0 {
		return contracts.Errorf(contracts.CodeInvalid, "the proof has no entry")
	}
	prev := entries[0].PrevHash
	for _, e := range entries {
		stated := e.Hash
		if e.PrevHash != prev || e.RunID != leaf.Chain {
			return contracts.Errorf(contracts.CodeConflict, "entry %d does not follow the one before it", e.Seq)
		}
		if err := e.Seal(prev); err != nil || e.Hash != stated {
			return contracts.Errorf(contracts.CodeConflict, "entry %d is not the one that its hash names", e.Seq)
		}
		prev = stated
	}
	if last := entries[len(entries)-1]; last.Seq != leaf.Seq || last.Hash != leaf.Head {
		return contracts.Errorf(contracts.CodeConflict, "the entries do not end at the one of the leaf")
	}
	return nil
}

// CheckConsistency verifies that the log under a root extends the log under an older root.
func CheckConsistency(c contracts.AuditConsistency, older string, known note.Verifiers) (Head, error) {
	before, err := OpenRoot(older, known)
	if err != nil {
		return before, err
	}
	head, err := OpenRoot(c.Root.Note, known)
	if err != nil {
		return head, err
	}
	path, err := decoded(c.Path)
	if err != nil {
		return head, err
	}
	if before.Size != c.From || tlog.CheckTree(path, head.Size, head.Hash, before.Size, before.Hash) != nil {
		return head, contracts.Errorf(contracts.CodeConflict, "the log of %d leaves has not grown from the one of %d whose root you have", head.Size, before.Size)
	}
	return head, nil
}
