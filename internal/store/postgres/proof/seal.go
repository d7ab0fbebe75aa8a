package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
)

// Triggers record a digest of every row of a sealed table that a transaction changes, in a
// setting that ends with the transaction. Before its COMMIT the server reads the digests, hashes
// them with the key, which the database never sees, and writes the seals. A statement from any
// other client fires the same triggers but cannot write the seals.
const (
	// noted is the setting. It contains one line of JSON per row.
	noted = `coalesce(current_setting('manifold.changed', true), '')`

	// openSeals inserts missing seals of scopes, so that two transactions that are the first for
	// a scope wait for each other.
	openSeals = `
INSERT INTO seal (scope, version, sum) SELECT DISTINCT scope COLLATE "C", 0, ''::bytea FROM unnest($1::text[]) scope ORDER BY 1 ON CONFLICT DO NOTHING`

	lockSeals = `SELECT scope, version, sum FROM seal WHERE scope = ANY($1) ORDER BY scope FOR UPDATE`

	readNoted = `SELECT ` + noted + `, coalesce((SELECT id FROM seal_key), '')`

	storeSeals = `
UPDATE seal SET version = u.version, sum = u.sum FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS u (scope, version, sum)
WHERE seal.scope = u.scope`

	// dropUnsealed removes the seals that openSeals inserted for unchanged scopes.
	dropUnsealed = `DELETE FROM seal WHERE scope = ANY($1) AND version = 0`
)

// Seals seals the changes of transactions with a key. It is safe for concurrent use. A nil Seals
// seals nothing.
type Seals struct{ keys *keys }

// changes holds the changes of one transaction, as recorded by the triggers, and the seals that
// it has locked.
type changes struct {
	keys         *keys
	notes, keyID string
	seals        map[string]seal.Sealed
}

// read adds to a batch the statements that lock the seals of the expected scopes and read the
// recorded changes.
func (s *Seals) read(b *pgx.Batch, expected []string) *changes {
	c := &changes{keys: s.keys, seals: map[string]seal.Sealed{}}
	c.take(b, expected)
	b.Queue(readNoted).QueryRow(func(row pgx.Row) error { return row.Scan(&c.notes, &c.keyID) })
	return c
}

// take locks the seals of scopes until the transaction ends.
func (c *changes) take(b *pgx.Batch, scopes []string) {
	if len(scopes) == 0 {
		return
	}
	b.Queue(openSeals, scopes)
	b.Queue(lockSeals, scopes).Query(func(rows pgx.Rows) error {
		held, err := pgx.CollectRows(rows, scanSealed)
		for _, s := range held {
			c.seals[s.Scope] = s
		}
		return err
	})
}

func scanSealed(row pgx.CollectableRow) (seal.Sealed, error) {
	var s seal.Sealed
	err := row.Scan(&s.Scope, &s.Version, &s.Sum)
	return s, err
}

// queue hashes the changes after the batch that read them has ended, and adds the new seals to
// the batch with the COMMIT.
func (c *changes) queue(ctx context.Context, tx sender, b *pgx.Batch) error {
	key, err := c.keys.named(c.keyID)
	if err != nil {
		return err
	}
	s := seal.New(key)
	if err := c.sum(s); err != nil {
		return err
	}
	if err := c.takeUnexpected(ctx, tx, s.Done()); err != nil {
		return err
	}
	var scopes, same []string
	var versions []int64
	var sums [][]byte
	for scope, old := range c.seals {
		by := s.Done()[scope]
		if by == (seal.Sum{}) {
			if old.Version == 0 {
				same = append(same, scope)
			}
			continue
		}
		next := s.Seal(scope, old.Version+1, s.Rows(old).Plus(by))
		scopes, versions, sums = append(scopes, next.Scope), append(versions, next.Version), append(sums, next.Sum)
	}
	if len(scopes) > 0 {
		b.Queue(storeSeals, scopes, versions, sums)
	}
	if len(same) > 0 {
		b.Queue(dropUnsealed, same)
	}
	return nil
}

// sum adds the recorded digests to s.
func (c *changes) sum(s *seal.Sealer) error {
	for line := range strings.Lines(c.notes) {
		var n struct {
			Table, Scope, Digest string
			Removed              bool
		}
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			return fmt.Errorf("read what was changed: %w", err)
		}
		if n.Removed {
			s.Removed(n.Table, n.Scope, []any{n.Digest})
		} else {
			s.Added(n.Table, n.Scope, []any{n.Digest})
		}
	}
	s.Settle(true)
	return nil
}

// takeUnexpected locks the seals of changed scopes that were not expected.
func (c *changes) takeUnexpected(ctx context.Context, tx sender, changed map[string]seal.Sum) error {
	var more []string
	for scope, by := range changed {
		if _, held := c.seals[scope]; !held && by != (seal.Sum{}) {
			more = append(more, scope)
		}
	}
	if len(more) == 0 {
		return nil
	}
	var b pgx.Batch
	c.take(&b, more)
	var id string
	b.Queue(readKeyID).QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	if id != c.keyID { // between the read and the lock
		return contracts.Errorf(contracts.CodeUnavailable, "the key of the seals was changed meanwhile")
	}
	for _, scope := range more {
		if _, held := c.seals[scope]; !held {
			return contracts.Errorf(contracts.CodeUnavailable, "the seal of %s is gone", scope)
		}
	}
	return nil
}

// compare calls differs for each scope whose rows do not match its seal, and returns the number
// of seals.
func (s *Seals) compare(ctx context.Context, tx pgx.Tx, differs func(scope string)) (int, error) {
	if s == nil {
		return 0, nil
	}
	w, err := newWatcher(ctx, tx)
	if err != nil {
		return 0, err
	}
	var id string
	if err := tx.QueryRow(ctx, readKeyID).Scan(&id); err != nil {
		return 0, err
	}
	key, err := s.keys.named(id)
	if err != nil {
		return 0, err
	}
	return seal.New(key).Compare(ctx, stands{tx, w}, differs)
}
