package sqlite

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

var _ registry.Store = (*Directory)(nil)

const selectDomain = `
SELECT name, managed_by, registration, active_digest, active_etag, pending_digest, pending_etag, revision, created_at, updated_at
FROM domain `

// Domains gives all rows by name.
func (s *Directory) Domains(ctx context.Context) ([]registry.DomainRow, error) {
	var rows []registry.DomainRow
	err := s.view(ctx, "list domains", func(ctx context.Context, h *handle) error {
		var err error
		rows, err = collect(ctx, h, stored.ScanDomain, selectDomain+`ORDER BY name`)
		return err
	})
	return rows, err
}

// Domain gives one row.
func (s *Directory) Domain(ctx context.Context, name string) (registry.DomainRow, error) {
	var d registry.DomainRow
	err := s.view(ctx, "read domain "+name, func(ctx context.Context, h *handle) error {
		var err error
		d, err = stored.ScanDomain(h.row(ctx, selectDomain+`WHERE name = ?`, name))
		return missing(err, noDomain(name))
	})
	return d, err
}

const (
	insertDomain = `
INSERT INTO domain (managed_by, registration, active_digest, active_etag, pending_digest, pending_etag, revision, created_at, updated_at, name)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`
	updateDomain = `
UPDATE domain SET managed_by = ?, registration = ?, active_digest = ?, active_etag = ?, pending_digest = ?, pending_etag = ?,
  revision = ?, created_at = ?, updated_at = ?
WHERE name = ? AND revision = ?`
)

// SaveDomain writes one row with the manifests that it newly names.
func (s *Directory) SaveDomain(ctx context.Context, row registry.DomainRow, bodies ...registry.ManifestBody) (int64, error) {
	statement, args := insertDomain, []any{
		string(row.ManagedBy), string(row.Registration), row.ActiveDigest, row.ActiveETag, row.PendingDigest, row.PendingETag,
		row.Revision + 1, stored.Nanos(row.CreatedAt), stored.Nanos(row.UpdatedAt), row.Name,
	}
	if row.Revision != 0 {
		statement, args = updateDomain, append(args, row.Revision)
	}
	err := s.write(ctx, "save domain "+row.Name, func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, statement, args...)
		if err != nil {
			return err
		}
		if n == 0 {
			return domainChanged(row.Name)
		}
		for _, b := range bodies {
			if _, err := x.exec(ctx, `INSERT INTO manifest (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING`, b.Digest, stored.BytesOf(b.Body)); err != nil {
				return err
			}
		}
		return x.dropManifests(ctx)
	})
	if err != nil {
		return 0, err
	}
	return row.Revision + 1, nil
}

// DeleteDomain removes one row.
func (s *Directory) DeleteDomain(ctx context.Context, name string, revision int64) error {
	return s.write(ctx, "delete domain "+name, func(ctx context.Context, x *tx) error {
		row, err := stored.ScanDomain(x.row(ctx, selectDomain+`WHERE name = ?`, name))
		if err != nil {
			return missing(err, noDomain(name))
		}
		if row.Revision != revision {
			return domainChanged(name)
		}
		if _, err := x.exec(ctx, `DELETE FROM domain WHERE name = ?`, name); err != nil {
			return err
		}
		return x.dropManifests(ctx)
	})
}

const deleteManifests = `
DELETE FROM manifest WHERE digest NOT IN (SELECT active_digest FROM domain UNION SELECT pending_digest FROM domain)`

// dropManifests deletes the manifests that no domain names any more.
func (x *tx) dropManifests(ctx context.Context) error {
	_, err := x.exec(ctx, deleteManifests)
	return err
}

// Manifest gives a body by its digest.
func (s *Directory) Manifest(ctx context.Context, digest string) ([]byte, error) {
	var body []byte
	err := s.view(ctx, "read manifest "+digest, func(ctx context.Context, h *handle) error {
		err := h.row(ctx, `SELECT body FROM manifest WHERE digest = ?`, digest).Scan(&body)
		return missing(err, contracts.Errorf(contracts.CodeNotFound, "there is no manifest %s", digest))
	})
	return body, err
}

func noDomain(name string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no domain %q", name)
}

func domainChanged(name string) error {
	return contracts.Errorf(contracts.CodeConflict, "domain %q was changed by someone else; read it again", name)
}
