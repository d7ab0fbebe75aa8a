package sqlstore

import (
	"context"
	"encoding/hex"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

var _ audit.Proofs = (*AuditStore)(nil)

// AuditStore stores the seals and the audit log, which detect writes to the database by anyone
// else.
type AuditStore struct{ *core }

// selectChains takes one index step per chain.
const selectChains = `
WITH RECURSIVE chain (id) AS (
  SELECT * FROM (SELECT run_id FROM ledger WHERE run_id > $1 ORDER BY run_id LIMIT 1) first
  UNION ALL
  SELECT (SELECT run_id FROM ledger WHERE run_id > chain.id ORDER BY run_id LIMIT 1) FROM chain WHERE chain.id IS NOT NULL)
SELECT id FROM chain WHERE id IS NOT NULL LIMIT 0 + $2`

// Chains returns up to limit chain ids after an id.
func (s *AuditStore) Chains(ctx context.Context, after string, limit int) ([]string, error) {
	return readAll(ctx, s.core, "list ledgers", stored.Text, selectChains, after, limit)
}

// CheckRows compares the rows with their seals and contents with their hashes. It reads
// everything in one snapshot of the database and needs little memory.
func (s *AuditStore) CheckRows(ctx context.Context, found func(scope, message string)) (int, error) {
	seals, err := s.db.CheckRows(ctx, found)
	return seals, s.db.Fault("compare rows with their seals", err)
}

// selectUnlogged selects changed seals with the last entries of their chains, in one snapshot.
const selectUnlogged = `
SELECT s.scope, s.version, s.sum, coalesce((SELECT l.body FROM ledger l WHERE l.run_id = substr(s.scope, 5) ORDER BY l.seq DESC LIMIT 1), '')
FROM seal s WHERE s.version <> s.logged ORDER BY s.scope LIMIT 0 + $1`

// Unlogged returns leaves for up to limit scopes whose current seals are not in the log.
func (s *AuditStore) Unlogged(ctx context.Context, limit int) ([]audit.Leaf, error) {
	return readAll(ctx, s.core, "read what is to be logged", func(row stored.Row) (audit.Leaf, error) {
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

// SealVersion returns the version of the seal of a scope, 0 if there is none.
func (s *AuditStore) SealVersion(ctx context.Context, scope string) (int64, error) {
	return readRow(ctx, s.core, "read a seal", nil, stored.Number, `SELECT version FROM seal WHERE scope = $1`, scope)
}

var logTables = struct{ leaves, hashes, logged Table }{
	leaves: Table{Name: "log_leaf", Columns: columns(ints("place"), texts("scope", "body"))},
	hashes: Table{Name: "log_hash", Columns: columns(ints("place"), []Column{{"hash", Bytes}})},
	logged: Table{Name: "seal", Key: 1, Columns: columns(texts("scope"), ints("logged"))},
}

const (
	logSize = `SELECT coalesce((SELECT max(size) FROM log_root), 0), coalesce((SELECT max(place) + 1 FROM log_hash), 0)`

	// holdLogged locks the seals in scope order.
	holdLogged = `{pg:SELECT count(*) FROM (SELECT 1 FROM seal WHERE scope = ANY($1) ORDER BY scope FOR UPDATE) s}`
)

// Grow appends leaves, the hashes that they add and the new root. It returns an error of code
// conflict if the log does not have size leaves. It commits.
func (s *AuditStore) Grow(ctx context.Context, size int64, leaves []audit.Leaf, hashes [][]byte, root audit.Root) error {
	bodies, err := stored.EncodeAll(leaves)
	if err != nil {
		return err
	}
	return s.transact(ctx, "append to the log", func(ctx context.Context, x Tx) error {
		if err := x.Lock(ctx, LockLog); err != nil {
			return err
		}
		var last, place int64
		if err := x.Query(ctx, func(row stored.Row) error { return row.Scan(&last, &place) }, logSize); err != nil {
			return err
		}
		if last != size {
			return contracts.Errorf(contracts.CodeConflict, "the log has %d leaves by now, not %d", last, size)
		}
		added, logged, tree := Rows{Table: &logTables.leaves}, Rows{Table: &logTables.logged}, Rows{Table: &logTables.hashes}
		for i, leaf := range leaves {
			added.add(size+int64(i), leaf.Scope, bodies[i])
			logged.add(leaf.Scope, leaf.Version)
		}
		for i, hash := range hashes {
			tree.add(place+int64(i), hash)
		}
		return x.Send(ctx, []Statement{
			{Text: holdLogged, Args: []any{column(leaves, func(l audit.Leaf) string { return l.Scope })}},
			{Text: `DELETE FROM log_root`},
			{Text: `INSERT INTO log_root (size, body) VALUES ($1, $2)`, Args: []any{root.Size, root.Note}},
		}, added, logged, tree)
	})
}

// LastRoot returns the current root of the log, or a zero root if there is none.
func (s *AuditStore) LastRoot(ctx context.Context) (audit.Root, error) {
	return readRow(ctx, s.core, "read the root of the log", nil, func(row stored.Row) (audit.Root, error) {
		var root audit.Root
		err := row.Scan(&root.Size, &root.Note)
		return root, err
	}, `SELECT size, body FROM log_root ORDER BY size DESC LIMIT 1`)
}

func scanLeaf(row stored.Row) (audit.Leaf, error) {
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

// Leaves returns the leaves with indexes in [from, from+limit), in order. Missing leaves are
// skipped.
func (s *AuditStore) Leaves(ctx context.Context, from int64, limit int) ([]audit.Leaf, error) {
	return readAll(ctx, s.core, "read the log", scanLeaf,
		`SELECT scope, body FROM log_leaf WHERE place >= $1 AND place < $2 ORDER BY place`, from, from+int64(limit))
}

// Hashes returns up to limit hashes of the tree from an index on, in storage order.
func (s *AuditStore) Hashes(ctx context.Context, from int64, limit int) ([][]byte, error) {
	return readAll(ctx, s.core, "read the hashes of the log", bytes,
		`SELECT hash FROM log_hash WHERE place >= $1 AND place < $2 ORDER BY place`, from, from+int64(limit))
}

// HashesAt returns single hashes of the tree, or an error of code conflict if one is missing.
func (s *AuditStore) HashesAt(ctx context.Context, places []int64) ([][]byte, error) {
	type placed struct {
		place int64
		hash  []byte
	}
	found, err := readAll(ctx, s.core, "read hashes of the log", func(row stored.Row) (p placed, err error) {
		err = row.Scan(&p.place, &p.hash)
		return p, err
	}, `SELECT place, hash FROM log_hash WHERE place {any $1}`, places)
	at := map[int64][]byte{}
	for _, p := range found {
		at[p.place] = p.hash
	}
	hashes := column(places, func(place int64) []byte { return at[place] })
	for _, place := range places {
		if err == nil && at[place] == nil {
			err = contracts.Errorf(contracts.CodeConflict, "the hash at %d of the log is missing", place)
		}
	}
	return hashes, err
}

// LeafOf returns the first leaf that covers an entry, and its index.
func (s *AuditStore) LeafOf(ctx context.Context, chain string, seq int64) (audit.Leaf, int64, error) {
	var place int64
	absent := contracts.Errorf(contracts.CodeNotFound, "no root covers entry %d of %s yet; one is signed every minute", seq, chain)
	leaf, err := readRow(ctx, s.core, "find a leaf of the log", absent, func(row stored.Row) (audit.Leaf, error) {
		var body string
		if err := row.Scan(&place, &body); err != nil {
			return audit.Leaf{}, err
		}
		return stored.Decode[audit.Leaf](body)
	}, selectLeafOf, "run:"+chain, seq)
	return leaf, place, err
}

const selectLeafOf = `
SELECT place, body FROM log_leaf WHERE scope = $1 AND coalesce({pg:(body::json ->> 'seq')::bigint}{lite:json_extract(body, '$.seq')}, 0) >= $2 ORDER BY place LIMIT 1`
