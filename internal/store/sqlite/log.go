package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

var _ audit.Proofs = (*Proofs)(nil)

// Unlogged gives the scopes that the log has no leaf of as they are.
func (s *Proofs) Unlogged(ctx context.Context, limit int) ([]audit.Leaf, error) {
	var leaves []audit.Leaf
	err := s.snapshot(ctx, "read what is to be logged", func(ctx context.Context, h *handle) error {
		changed, err := collect(ctx, h, scanSealed, `SELECT scope, version, sum FROM seal WHERE version <> logged ORDER BY scope LIMIT +?`, limit)
		if err != nil {
			return err
		}
		for _, seal := range changed {
			leaf := audit.Leaf{Scope: seal.Scope, Version: seal.Version, Sum: hex.EncodeToString(seal.Sum)}
			if run, isRun := strings.CutPrefix(seal.Scope, "run:"); isRun {
				last, err := lastOf(ctx, h, run)
				if err != nil {
					return err
				}
				if last.Seq > 0 {
					leaf.Chain, leaf.Seq, leaf.Head = run, last.Seq, last.Hash
				}
			}
			leaves = append(leaves, leaf)
		}
		return nil
	})
	return leaves, err
}

// SealVersion is that of the seal of a scope, 0 for none.
func (s *Proofs) SealVersion(ctx context.Context, scope string) (int64, error) {
	var version int64
	err := s.view(ctx, "read a seal", func(ctx context.Context, h *handle) error {
		err := h.row(ctx, `SELECT version FROM seal WHERE scope = ?`, scope).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return version, err
}

// Grow appends leaves, the hashes that they add and their root.
func (s *Proofs) Grow(ctx context.Context, size int64, leaves []audit.Leaf, hashes [][]byte, root audit.Root) error {
	bodies, err := stored.EncodeAll(leaves)
	if err != nil {
		return err
	}
	return s.write(ctx, "append to the log", func(ctx context.Context, x *tx) error {
		var last, stored int64
		if err := x.row(ctx, `SELECT coalesce(max(size), 0) FROM log_root`).Scan(&last); err != nil {
			return err
		}
		if last != size {
			return contracts.Errorf(contracts.CodeConflict, "the log has %d leaves by now, not %d", last, size)
		}
		if err := x.row(ctx, `SELECT coalesce(max(place) + 1, 0) FROM log_hash`).Scan(&stored); err != nil {
			return err
		}
		for i, leaf := range leaves {
			if _, err := x.exec(ctx, `INSERT INTO log_leaf (place, scope, body) VALUES (?, ?, ?)`, size+int64(i), leaf.Scope, bodies[i]); err != nil {
				return err
			}
			if _, err := x.exec(ctx, `UPDATE seal SET logged = ? WHERE scope = ?`, leaf.Version, leaf.Scope); err != nil {
				return err
			}
		}
		for i, hash := range hashes {
			if _, err := x.exec(ctx, `INSERT INTO log_hash (place, hash) VALUES (?, ?)`, stored+int64(i), hash); err != nil {
				return err
			}
		}
		if _, err := x.exec(ctx, `DELETE FROM log_root`); err != nil {
			return err
		}
		_, err := x.exec(ctx, `INSERT INTO log_root (size, body) VALUES (?, ?)`, root.Size, root.Note)
		return err
	})
}

// LastRoot is the root of the log as it is.
func (s *Proofs) LastRoot(ctx context.Context) (audit.Root, error) {
	var root audit.Root
	err := s.view(ctx, "read the root of the log", func(ctx context.Context, h *handle) error {
		err := h.row(ctx, `SELECT size, body FROM log_root ORDER BY size DESC LIMIT 1`).Scan(&root.Size, &root.Note)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return root, err
}

func scanLeaf(row scanner) (audit.Leaf, error) {
	var scope, body string
	if err := row.Scan(&scope, &body); err != nil {
		return audit.Leaf{}, err
	}
	leaf, err := stored.Decode[audit.Leaf](body)
	if again, encoding := stored.Encode(leaf); err != nil || encoding != nil || again != body || leaf.Scope != scope {
		return audit.Leaf{}, nil //nolint:nilerr // it was changed, and fits no root
	}
	return leaf, nil
}

// Leaves gives leaves from a place on; one that is missing ends them.
func (s *Proofs) Leaves(ctx context.Context, from int64, limit int) ([]audit.Leaf, error) {
	var leaves []audit.Leaf
	err := s.view(ctx, "read the log", func(ctx context.Context, h *handle) error {
		var err error
		leaves, err = collect(ctx, h, scanLeaf, `SELECT scope, body FROM log_leaf WHERE place >= ? AND place < ? ORDER BY place`, from, from+int64(limit))
		return err
	})
	return leaves, err
}

func scanHash(row scanner) ([]byte, error) {
	var hash []byte
	err := row.Scan(&hash)
	return hash, err
}

// Hashes gives hashes of the tree from a place on, in storage order.
func (s *Proofs) Hashes(ctx context.Context, from int64, limit int) ([][]byte, error) {
	var hashes [][]byte
	err := s.view(ctx, "read the hashes of the log", func(ctx context.Context, h *handle) error {
		var err error
		hashes, err = collect(ctx, h, scanHash, `SELECT hash FROM log_hash WHERE place >= ? AND place < ? ORDER BY place`, from, from+int64(limit))
		return err
	})
	return hashes, err
}

// HashesAt gives single hashes of the tree.
func (s *Proofs) HashesAt(ctx context.Context, places []int64) ([][]byte, error) {
	hashes := make([][]byte, len(places))
	err := s.snapshot(ctx, "read hashes of the log", func(ctx context.Context, h *handle) error {
		for i, place := range places {
			err := h.row(ctx, `SELECT hash FROM log_hash WHERE place = ?`, place).Scan(&hashes[i])
			if err != nil {
				return missing(err, contracts.Errorf(contracts.CodeConflict, "the hash at %d of the log is missing", place))
			}
		}
		return nil
	})
	return hashes, err
}

// LeafOf is the first leaf that covers an entry.
func (s *Proofs) LeafOf(ctx context.Context, chain string, seq int64) (audit.Leaf, int64, error) {
	var leaf audit.Leaf
	var place int64
	err := s.view(ctx, "find a leaf of the log", func(ctx context.Context, h *handle) error {
		var body string
		err := h.row(ctx, `SELECT place, body FROM log_leaf WHERE scope = ? AND json_extract(body, '$.seq') >= ? ORDER BY place LIMIT 1`, "run:"+chain, seq).Scan(&place, &body)
		if err != nil {
			return missing(err, contracts.Errorf(contracts.CodeNotFound, "no root covers entry %d of %s yet; one is signed every minute", seq, chain))
		}
		leaf, err = stored.Decode[audit.Leaf](body)
		return err
	})
	return leaf, place, err
}
