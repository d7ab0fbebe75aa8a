package sqlite

import (
	"context"
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// openSeals returns the sealer of an open database, registered on the writing connection. An
// unsealed database is sealed as it is. A database sealed with an older key is verified first and
// then sealed with the first key.
func openSeals(ctx context.Context, h *handle, keys [][]byte) (*sealer, error) {
	var have string
	if err := h.value(ctx, &have, `SELECT id FROM seal_key`); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		if have != "" {
			return nil, contracts.Errorf(contracts.CodeConflict, "the database is sealed with the key %s, and no key is given", have)
		}
		return nil, nil //nolint:nilnil // no key, no seals
	}
	s := newSealer(keys[0])
	if s == nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the key of the seals is empty")
	}
	if have != s.KeyID() {
		if err := s.adopt(ctx, h, have, keys[1:]); err != nil {
			return nil, err
		}
	}
	return s, s.watch(ctx, h)
}

// adopt seals all rows with the key of s, in one transaction.
func (s *sealer) adopt(ctx context.Context, h *handle, have string, older [][]byte) (err error) {
	if _, err := h.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rollback := h.Exec(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rollback)
		}
	}()
	if have == "" {
		if err := begin(ctx, h); err != nil {
			return err
		}
	} else {
		if err := s.follows(ctx, h, have, older); err != nil {
			return err
		}
	}
	if err := s.SealAll(ctx, stands{h}, func(seal seal.Sealed) error { return storeSeal(ctx, h, seal) }); err != nil {
		return err
	}
	if _, err := h.Exec(ctx, `INSERT INTO seal_key (one, id) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET id = excluded.id`, s.KeyID()); err != nil {
		return err
	}
	_, err = h.Exec(ctx, "COMMIT")
	return err
}

// begin fails if there are seals already: removing the key id must not lead to new seals over
// changed rows. If the database was in use, the chain of administrative actions records that it
// is sealed from now on, and chains that were deleted before deletions were recorded get their
// last entry.
func begin(ctx context.Context, h *handle) error {
	var sealed, used bool
	err := h.Query(ctx, func(row stored.Row) error { return row.Scan(&sealed, &used) }, `SELECT EXISTS (SELECT 1 FROM seal), EXISTS (SELECT 1 FROM api_key)`)
	if err != nil {
		return err
	}
	if sealed {
		return contracts.Errorf(contracts.CodeConflict, "the database has seals, and the name of their key is gone: it was changed, or cut off; restore it")
	}
	if !used {
		return nil
	}
	return sqlstore.NoteSealed(ctx, h)
}

// follows verifies the rows with the older key that sealed them.
func (s *sealer) follows(ctx context.Context, h *handle, have string, older [][]byte) error {
	for _, key := range older {
		old := newSealer(key)
		if old == nil || old.KeyID() != have {
			continue
		}
		var differ []string
		_, err := old.Compare(ctx, stands{h}, func(scope string) { differ = append(differ, scope) })
		if err == nil && len(differ) > 0 {
			err = contracts.Errorf(contracts.CodeConflict,
				"the rows of %s are not those that were sealed; the key is not changed over them (of %d scopes)", differ[0], len(differ))
		}
		return err
	}
	return unfitting(have, s.KeyID())
}
