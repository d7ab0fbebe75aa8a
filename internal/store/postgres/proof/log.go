package proof

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// selectUnlogged gives the seals that have changed, with the last entries of their
// chains, in one state.
const selectUnlogged = `
SELECT s.scope, s.version, s.sum, coalesce((SELECT l.body FROM ledger l WHERE l.run_id = substr(s.scope, 5) ORDER BY l.seq DESC LIMIT 1), '')
FROM seal s WHERE s.version <> s.logged ORDER BY s.scope LIMIT $1`

// Unlogged gives the scopes that the log has no leaf of as they are.
func (s *Proofs) Unlogged(ctx context.Context, limit int) ([]audit.Leaf, error) {
	return list(ctx, s, "read what is to be logged", func(row pgx.CollectableRow) (audit.Leaf, error) {
		var leaf audit.Leaf
		var sum []byte
		var last string
		if err := row.Scan(&leaf.Scope, &leaf.Version, &sum, &last); err != nil {
			return leaf, err
		}
		leaf.Sum = hex.EncodeToString(sum)
		run, isRun := strings.CutPrefix(leaf.Scope, "run:")
		if !isRun || last == "" {
			return leaf, nil
		}
		entry, err := stored.Decode[contracts.LedgerEntry](last)
		leaf.Chain, leaf.Seq, leaf.Head = run, entry.Seq, entry.Hash
		return leaf, err
	}, selectUnlogged, limit)
}

// SealVersion is that of the seal of a scope, 0 for none.
func (s *Proofs) SealVersion(ctx context.Context, scope string) (int64, error) {
	var version int64
	err := s.pool.QueryRow(ctx, `SELECT coalesce((SELECT version FROM seal WHERE scope = $1), 0)`, scope).Scan(&version)
	return version, s.fault("read a seal", err)
}

const (
	// lockLog is held by whoever appends to the log.
	lockLog = `LOCK TABLE log_root IN EXCLUSIVE MODE`

	logSize = `SELECT coalesce((SELECT max(size) FROM log_root), 0), coalesce((SELECT max(place) + 1 FROM log_hash), 0)`

	insertLeaves = `
INSERT INTO log_leaf (place, scope, body) SELECT $1 + n - 1, scope, body FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u (scope, body, n)`

	// lockLogged takes the seals in the order in which everybody takes them.
	lockLogged = `SELECT count(*) FROM (SELECT 1 FROM seal WHERE scope = ANY($1) ORDER BY scope FOR UPDATE) s`

	noteLogged = `
UPDATE seal SET logged = u.version FROM unnest($1::text[], $2::bigint[]) AS u (scope, version) WHERE seal.scope = u.scope`

	insertHashes = `INSERT INTO log_hash (place, hash) SELECT $1 + n - 1, hash FROM unnest($2::bytea[]) WITH ORDINALITY AS u (hash, n)`
)

// Grow appends leaves, the hashes that they add and their root. It commits.
func (s *Proofs) Grow(ctx context.Context, size int64, leaves []audit.Leaf, hashes [][]byte, root audit.Root) error {
	bodies, err := stored.EncodeAll(leaves)
	if err != nil {
		return err
	}
	scopes, versions := make([]string, len(leaves)), make([]int64, len(leaves))
	for i, leaf := range leaves {
		scopes[i], versions[i] = leaf.Scope, leaf.Version
	}
	return s.fault("append to the log", pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockLog); err != nil {
			return err
		}
		var last, place int64
		if err := tx.QueryRow(ctx, logSize).Scan(&last, &place); err != nil {
			return err
		}
		if last != size {
			return contracts.Errorf(contracts.CodeConflict, "the log has %d leaves by now, not %d", last, size)
		}
		var b pgx.Batch
		b.Queue(insertLeaves, size, scopes, bodies)
		b.Queue(lockLogged, scopes)
		b.Queue(noteLogged, scopes, versions)
		b.Queue(insertHashes, place, hashes)
		b.Queue(`DELETE FROM log_root`)
		b.Queue(`INSERT INTO log_root (size, body) VALUES ($1, $2)`, root.Size, root.Note)
		return tx.SendBatch(ctx, &b).Close()
	}))
}

// LastRoot is the root of the log as it is.
func (s *Proofs) LastRoot(ctx context.Context) (audit.Root, error) {
	roots, err := list(ctx, s, "read the root of the log", func(row pgx.CollectableRow) (audit.Root, error) {
		var root audit.Root
		err := row.Scan(&root.Size, &root.Note)
		return root, err
	}, `SELECT size, body FROM log_root ORDER BY size DESC LIMIT 1`)
	if err != nil || len(roots) == 0 {
		return audit.Root{}, err
	}
	return roots[0], nil
}

func scanLeaf(row pgx.CollectableRow) (audit.Leaf, error) {
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
	return list(ctx, s, "read the log", scanLeaf,
		`SELECT scope, body FROM log_leaf WHERE place >= $1 AND place < $2 ORDER BY place`, from, from+int64(limit))
}

// Hashes gives hashes of the tree from a place on, in storage order.
func (s *Proofs) Hashes(ctx context.Context, from int64, limit int) ([][]byte, error) {
	return list(ctx, s, "read the hashes of the log", pgx.RowTo[[]byte],
		`SELECT hash FROM log_hash WHERE place >= $1 AND place < $2 ORDER BY place`, from, from+int64(limit))
}

// HashesAt gives single hashes of the tree.
func (s *Proofs) HashesAt(ctx context.Context, places []int64) ([][]byte, error) {
	hashes, err := list(ctx, s, "read hashes of the log", pgx.RowTo[[]byte],
		`SELECT hash FROM unnest($1::bigint[]) WITH ORDINALITY AS u (place, n) JOIN log_hash USING (place) ORDER BY n`, places)
	if err == nil && len(hashes) != len(places) {
		err = contracts.Errorf(contracts.CodeConflict, "a hash of the log is missing, one of %v", places)
	}
	return hashes, err
}

// LeafOf is the first leaf that covers an entry.
func (s *Proofs) LeafOf(ctx context.Context, chain string, seq int64) (audit.Leaf, int64, error) {
	var place int64
	var body string
	err := s.pool.QueryRow(ctx, selectLeafOf, "run:"+chain, seq).Scan(&place, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		err = contracts.Errorf(contracts.CodeNotFound, "no root covers entry %d of %s yet; one is signed every minute", seq, chain)
	}
	if err != nil {
		return audit.Leaf{}, 0, s.fault("find a leaf of the log", err)
	}
	leaf, err := stored.Decode[audit.Leaf](body)
	return leaf, place, err
}

const selectLeafOf = `
SELECT place, body FROM log_leaf WHERE scope = $1 AND coalesce((body::json ->> 'seq')::bigint, 0) >= $2 ORDER BY place LIMIT 1`
