package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

var (
	_ access.KeyStore = (*AdminStore)(nil)
	_ registry.Store  = (*AdminStore)(nil)
)

const selectKey = `SELECT hash, revoked_at, body FROM api_key `

const insertKey = `
INSERT INTO api_key (id, hash, created_at, revoked_at, body)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS TEXT) WHERE `

// insertKey adds a key if a condition holds. It returns an error of code conflict if no row was
// inserted.
func (s *AdminStore) insertKey(ctx context.Context, key access.Key, where string) error {
	body, err := stored.Encode(key)
	if err != nil {
		return err
	}
	var revoked int64
	if key.RevokedAt != nil {
		revoked = stored.Nanos(*key.RevokedAt)
	}
	return s.transact(ctx, "insert key "+key.ID, func(ctx context.Context, x Tx) error {
		if err := x.Lock(ctx, LockKeys); err != nil {
			return err
		}
		n, err := x.Exec(ctx, insertKey+where+` ON CONFLICT DO NOTHING`, key.ID, key.Hash, stored.Nanos(key.CreatedAt), revoked, body)
		if err == nil && n == 0 {
			return contracts.Errorf(contracts.CodeConflict, "there is a key %q already", key.ID)
		}
		return err
	})
}

// InsertKey adds a key, or returns an error of code conflict if its id exists. It commits.
func (s *AdminStore) InsertKey(ctx context.Context, key access.Key) error {
	return s.insertKey(ctx, key, `true`)
}

// InsertFirstKey adds a key only if there is none, and reports whether it did. Concurrent callers
// are serialized. It commits.
func (s *AdminStore) InsertFirstKey(ctx context.Context, key access.Key) (inserted bool, err error) {
	err = s.insertKey(ctx, key, `NOT EXISTS (SELECT 1 FROM api_key)`)
	if contracts.CodeOf(err) == contracts.CodeConflict {
		return false, nil
	}
	return err == nil, err
}

// Key returns one key, or an error of code not_found.
func (s *AdminStore) Key(ctx context.Context, id string) (access.Key, error) {
	return readRow(ctx, s.core, "read key "+id, missing("key", id), stored.ScanKey, selectKey+`WHERE id = $1`, id)
}

// Keys lists keys, oldest first.
func (s *AdminStore) Keys(ctx context.Context, p contracts.Page) (contracts.List[access.Key], error) {
	var q stored.Query
	if err := q.Beyond(p.Cursor, `created_at, id`, `>`); err != nil {
		return contracts.List[access.Key]{}, err
	}
	text, args := q.Text(selectKey, `ORDER BY created_at, id`, p.Limit)
	keys, err := readAll(ctx, s.core, "list keys", stored.ScanKey, text, args...)
	return contracts.Cut(keys, p.Limit, func(k access.Key) string { return stored.Mark(k.CreatedAt, k.ID) }), err
}

// RevokeKey revokes a key. The time of the first revocation is kept. It commits.
func (s *AdminStore) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return s.transact(ctx, "revoke key "+id, func(ctx context.Context, x Tx) error {
		n, err := x.Exec(ctx, `UPDATE api_key SET revoked_at = CASE revoked_at WHEN 0 THEN $2 ELSE revoked_at END WHERE id = $1`, id, stored.Nanos(at))
		if err == nil && n == 0 {
			return missing("key", id)
		}
		return err
	})
}

const selectDomain = `
SELECT name, managed_by, registration, active_digest, active_etag, pending_digest, pending_etag, revision, created_at, updated_at
FROM domain `

// Domains returns all rows, sorted by name.
func (s *AdminStore) Domains(ctx context.Context) ([]registry.DomainRow, error) {
	return readAll(ctx, s.core, "list domains", stored.ScanDomain, selectDomain+`ORDER BY name`)
}

// Domain returns one row, or an error of code not_found.
func (s *AdminStore) Domain(ctx context.Context, name string) (registry.DomainRow, error) {
	return readRow(ctx, s.core, "read domain "+name, missing("domain", name), stored.ScanDomain, selectDomain+`WHERE name = $1`, name)
}

const (
	insertDomain = `
INSERT INTO domain (name, managed_by, registration, active_digest, active_etag, pending_digest, pending_etag, revision, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT DO NOTHING`
	updateDomain = `
UPDATE domain SET managed_by = $2, registration = $3, active_digest = $4, active_etag = $5, pending_digest = $6, pending_etag = $7,
  revision = $8, created_at = $9, updated_at = $10
WHERE name = $1 AND revision = $8 - 1`

	deleteManifests = `
DELETE FROM manifest WHERE digest NOT IN (SELECT active_digest FROM domain UNION SELECT pending_digest FROM domain)`
)

// SaveDomain inserts a row of revision 0, or replaces the row with this revision, and stores the
// manifests that it refers to. It returns the new revision, or an error of code conflict if the
// row has changed. It commits.
func (s *AdminStore) SaveDomain(ctx context.Context, row registry.DomainRow, bodies ...registry.ManifestBody) (int64, error) {
	statement := insertDomain
	if row.Revision != 0 {
		statement = updateDomain
	}
	err := s.transact(ctx, "save domain "+row.Name, func(ctx context.Context, x Tx) error {
		if err := x.Lock(ctx, LockDomains); err != nil {
			return err
		}
		n, err := x.Exec(ctx, statement, row.Name, string(row.ManagedBy), string(row.Registration), row.ActiveDigest, row.ActiveETag,
			row.PendingDigest, row.PendingETag, row.Revision+1, stored.Nanos(row.CreatedAt), stored.Nanos(row.UpdatedAt))
		if err != nil {
			return err
		}
		if n == 0 {
			return domainChanged(row.Name)
		}
		for _, b := range bodies {
			if _, err := x.Exec(ctx, `INSERT INTO manifest (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING`, b.Digest, stored.BytesOf(b.Body)); err != nil {
				return err
			}
		}
		return dropManifests(ctx, x)
	})
	if err != nil {
		return 0, err
	}
	return row.Revision + 1, nil
}

// DeleteDomain removes a row, or returns an error of code conflict if its revision differs. It
// commits.
func (s *AdminStore) DeleteDomain(ctx context.Context, name string, revision int64) error {
	return s.transact(ctx, "delete domain "+name, func(ctx context.Context, x Tx) error {
		if err := x.Lock(ctx, LockDomains); err != nil {
			return err
		}
		is, err := queryRow(ctx, x, missing("domain", name), stored.Number, `SELECT revision FROM domain WHERE name = $1`, name)
		if err != nil {
			return err
		}
		if is != revision {
			return domainChanged(name)
		}
		if _, err := x.Exec(ctx, `DELETE FROM domain WHERE name = $1`, name); err != nil {
			return err
		}
		return dropManifests(ctx, x)
	})
}

// Manifest returns the body of a manifest by its digest.
func (s *AdminStore) Manifest(ctx context.Context, digest string) ([]byte, error) {
	return readRow(ctx, s.core, "read manifest "+digest, contracts.Errorf(contracts.CodeNotFound, "there is no manifest %s", digest),
		bytes, `SELECT body FROM manifest WHERE digest = $1`, digest)
}

// dropManifests deletes unreferenced manifests and notifies other processes that domains have
// changed.
func dropManifests(ctx context.Context, x Tx) error {
	if _, err := x.Exec(ctx, deleteManifests); err != nil {
		return err
	}
	return x.Notify(ctx, Change{Domains: true})
}

func domainChanged(name string) error {
	return contracts.Errorf(contracts.CodeConflict, "domain %q was changed by someone else; read it again", name)
}
