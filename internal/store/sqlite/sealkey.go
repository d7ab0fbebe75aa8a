package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
)

// openSeals makes the sealer of an open database and lets it watch the
// connection that writes. A database that nothing has sealed yet is sealed as
// it stands; one that was sealed with an older one of the keys is compared first
// and then sealed with the first.
func openSeals(ctx context.Context, h *handle, keys [][]byte) (*sealer, error) {
	var have string
	err := h.row(ctx, `SELECT id FROM seal_key`).Scan(&have)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
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

// adopt seals all rows with this key, in one transaction.
func (s *sealer) adopt(ctx context.Context, h *handle, have string, older [][]byte) (err error) {
	if _, err := h.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, rollback := h.exec(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rollback)
		}
	}()
	if have != "" {
		if err := s.follows(ctx, h, have, older); err != nil {
			return err
		}
	}
	sums, err := s.sums(ctx, h)
	if err != nil {
		return err
	}
	// The versions go on: the log has leaves of them.
	emptied, err := collect(ctx, h, text, `UPDATE seal SET sum = x'' RETURNING scope`)
	if err != nil {
		return err
	}
	for _, scope := range emptied {
		sums[scope] = sums[scope].Plus(seal.Sum{})
	}
	if err := s.store(ctx, h, sums); err != nil {
		return err
	}
	if _, err := h.exec(ctx, `INSERT INTO seal_key (one, id) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET id = excluded.id`, s.KeyID()); err != nil {
		return err
	}
	_, err = h.exec(ctx, "COMMIT")
	return err
}

// follows makes sure that the rows are those that an older key has sealed.
func (s *sealer) follows(ctx context.Context, h *handle, have string, older [][]byte) error {
	for _, key := range older {
		old := newSealer(key)
		if old == nil || old.KeyID() != have {
			continue
		}
		differ, err := old.differing(ctx, h)
		if err == nil && len(differ) > 0 {
			err = contracts.Errorf(contracts.CodeConflict,
				"the rows of %s are not those that were sealed; the key is not changed over them (of %d scopes)", differ[0], len(differ))
		}
		return err
	}
	return unfitting(have, s.KeyID())
}
