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

// Triggers note every row of a sealed table that a transaction changes, as a
// digest, in a setting that ends with the transaction. Before its COMMIT the
// server reads the notes, hashes them with the key, which the database never
// sees, and writes the seals. A statement that the server did not send finds the
// same triggers and no key.
const (
	// noted is the setting: a line of JSON for each row.
	noted = `coalesce(current_setting('manifold.changed', true), '')`

	// openSeals makes sure that the seals of the changed scopes are there, so that
	// two transactions that are the first of a scope wait for each other.
	openSeals = `
INSERT INTO seal (scope, version, sum)
SELECT DISTINCT (line::json ->> 'scope') COLLATE "C", 0, ''::bytea FROM string_to_table(` + noted + `, E'\n') line WHERE line <> ''
ORDER BY 1 ON CONFLICT DO NOTHING`

	lockSeals = `
SELECT scope, version, sum FROM seal
WHERE scope IN (SELECT line::json ->> 'scope' FROM string_to_table(` + noted + `, E'\n') line WHERE line <> '') ORDER BY scope FOR UPDATE`

	readNoted = `SELECT ` + noted + `, coalesce((SELECT id FROM seal_key), '')`

	storeSeals = `
UPDATE seal SET version = u.version, sum = u.sum FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS u (scope, version, sum)
WHERE seal.scope = u.scope`

	// dropUnsealed removes what openSeals made for rows that did not change.
	dropUnsealed = `DELETE FROM seal WHERE scope = ANY($1) AND version = 0`
)

// Seals seals what transactions change, with a key. It is safe for concurrent
// use; nil seals nothing.
type Seals struct{ key []byte }

// Changes is what a transaction has changed, as the triggers noted it.
type Changes struct {
	key          []byte
	notes, keyID string
	seals        []seal.Sealed
}

// Read reads at the end of a batch what the transaction has changed, and takes
// its seals.
func (s *Seals) Read(b *pgx.Batch) *Changes {
	c := &Changes{key: s.key}
	b.Queue(openSeals)
	b.Queue(lockSeals).Query(func(rows pgx.Rows) (err error) {
		c.seals, err = pgx.CollectRows(rows, scanSealed)
		return err
	})
	b.Queue(readNoted).QueryRow(func(row pgx.Row) error { return row.Scan(&c.notes, &c.keyID) })
	return c
}

func scanSealed(row pgx.CollectableRow) (seal.Sealed, error) {
	var s seal.Sealed
	err := row.Scan(&s.Scope, &s.Version, &s.Sum)
	return s, err
}

// Queue hashes what was changed, once the batch that read it has ended, and adds
// the seals that follow to the one with the COMMIT.
func (c *Changes) Queue(b *pgx.Batch) error {
	s := seal.New(c.key)
	if c.keyID != s.KeyID() {
		return contracts.Errorf(contracts.CodeUnavailable, "the database is sealed with another key by now: start this server again with the present audit keys")
	}
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
	var scopes, same []string
	var versions []int64
	var sums [][]byte
	for _, old := range c.seals {
		by := s.Done()[old.Scope]
		if by == (seal.Sum{}) {
			same = append(same, old.Scope)
			continue
		}
		next := s.Seal(old.Scope, old.Version+1, s.Rows(old).Plus(by))
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

// Write writes the seals of what a transaction has changed, as its last act.
func (s *Seals) Write(ctx context.Context, tx pgx.Tx) error {
	if s == nil {
		return nil
	}
	var b pgx.Batch
	changes := s.Read(&b)
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	b = pgx.Batch{}
	if err := changes.Queue(&b); err != nil || b.Len() == 0 {
		return err
	}
	return tx.SendBatch(ctx, &b).Close()
}

// compare tells of the scopes whose rows are not those that were sealed.
func (s *Seals) compare(ctx context.Context, tx pgx.Tx, differs func(scope string)) (int, error) {
	if s == nil {
		return 0, nil
	}
	w, err := newWatcher(ctx, tx)
	if err != nil {
		return 0, err
	}
	return seal.New(s.key).Compare(ctx, stands{tx, w}, differs)
}
