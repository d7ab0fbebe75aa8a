package proof

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
)

// freezeSeals blocks the COMMIT of every sealing transaction until this one has ended. Only one
// server at a time passes it.
const freezeSeals = `LOCK TABLE seal, seal_key IN EXCLUSIVE MODE`

const readKeyID = `SELECT coalesce((SELECT id FROM seal_key), '')`

// Keys are the keys that seal rows.
type Keys struct {
	// Known are the keys, the current one first. Without a key nothing is sealed.
	Known [][]byte
	// Again reads the keys again if another server has sealed with an unknown key. If it is nil,
	// the keys do not change.
	Again func() ([][]byte, error)
}

// keys returns the key that the database was sealed with, which another server may change at any
// time. It is safe for concurrent use.
type keys struct {
	again func() ([][]byte, error)

	mu    sync.Mutex // guards known
	known map[string][]byte
}

func newKeys(k Keys) *keys {
	all := &keys{again: k.Again, known: map[string][]byte{}}
	all.add(k.Known)
	return all
}

func (k *keys) add(all [][]byte) {
	for _, key := range all {
		if s := seal.New(key); s != nil {
			k.known[s.KeyID()] = key
		}
	}
}

// named returns a key by its id, or an error of code unavailable.
func (k *keys) named(id string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[id] == nil && k.again != nil {
		if all, err := k.again(); err == nil { // otherwise the key stays unknown, which is reported below
			k.add(all)
		}
	}
	if key := k.known[id]; key != nil {
		return key, nil
	}
	return nil, contracts.Errorf(contracts.CodeUnavailable,
		"the database is sealed with the key %s by now: give this server the present audit keys too (--audit-keys), it reads them by itself", id)
}

// Open installs the triggers and makes sure that all rows are sealed with the first key. An
// unsealed database is sealed as it is; if it was in use, begun is called first. A database
// sealed with an older key is verified first. Without a key nothing is sealed, and opening a
// sealed database fails. The caller commits.
func Open(ctx context.Context, tx pgx.Tx, k Keys, begun func(context.Context, pgx.Tx) error) (*Seals, error) {
	if _, err := tx.Exec(ctx, freezeSeals); err != nil {
		return nil, err
	}
	var have string
	var watched int
	if err := tx.QueryRow(ctx, `SELECT id, watched FROM seal_key`).Scan(&have, &watched); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	if len(k.Known) == 0 {
		if have != "" {
			return nil, contracts.Errorf(contracts.CodeConflict, "the database is sealed with the key %s, and no key is given", have)
		}
		return nil, nil //nolint:nilnil // no key, no seals
	}
	s := seal.New(k.Known[0])
	if s == nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "the key of the seals is empty")
	}
	w, err := newWatcher(ctx, tx)
	if err != nil {
		return nil, err
	}
	now, err := w.watch(ctx, tx, watched)
	if err != nil {
		return nil, err
	}
	if have != s.KeyID() {
		if err := adopt(ctx, stands{tx, w}, s, have, k.Known[1:], begun); err != nil {
			return nil, err
		}
	}
	if have != s.KeyID() || now != watched {
		_, err = tx.Exec(ctx, noteKey, s.KeyID(), now)
	}
	return &Seals{newKeys(k)}, err
}

const noteKey = `
INSERT INTO seal_key (one, id, watched) VALUES (1, $1, $2) ON CONFLICT (one) DO UPDATE SET id = excluded.id, watched = excluded.watched`

// watch creates the triggers, unless a server that knows at least as many columns has done so,
// and returns the number of watched columns. An older server thus keeps the triggers of a newer
// one.
func (w watcher) watch(ctx context.Context, tx pgx.Tx, watched int) (int, error) {
	known := 0
	for _, t := range w.tables {
		known += len(t.Columns)
	}
	if known <= watched {
		return watched, nil
	}
	for _, t := range w.tables {
		if _, err := tx.Exec(ctx, w.trigger(&t)); err != nil {
			return 0, err
		}
	}
	return known, nil
}

// adopt seals all rows with the key of s.
func adopt(ctx context.Context, from stands, s *seal.Sealer, have string, older [][]byte, begun func(context.Context, pgx.Tx) error) (err error) {
	if have == "" {
		err = beginSealing(ctx, from.Tx, begun)
	} else {
		err = follows(ctx, from, s, have, older)
	}
	if err != nil {
		return err
	}
	// The rows written here are sealed with all others below, not a second time.
	if _, err := from.Exec(ctx, `SELECT set_config('manifold.changed', '', true)`); err != nil {
		return err
	}
	var b pgx.Batch
	flush := func() error {
		if b.Len() == 0 {
			return nil
		}
		full := b
		b = pgx.Batch{}
		return from.SendBatch(ctx, &full).Close()
	}
	err = s.SealAll(ctx, from, func(seal seal.Sealed) error {
		b.Queue(`
INSERT INTO seal (scope, version, sum) VALUES ($1, $2, $3) ON CONFLICT (scope) DO UPDATE SET version = excluded.version, sum = excluded.sum`,
			seal.Scope, seal.Version, seal.Sum)
		if b.Len() < sealsAtOnce {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// sealsAtOnce is the maximum number of seals written in one round trip.
const sealsAtOnce = 1000

// beginSealing fails if there are seals already, as on SQLite: removing the key id must not lead
// to new seals over changed rows.
func beginSealing(ctx context.Context, tx pgx.Tx, begun func(context.Context, pgx.Tx) error) error {
	var sealed, used bool
	if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM seal), EXISTS (SELECT 1 FROM api_key)`).Scan(&sealed, &used); err != nil {
		return err
	}
	if sealed {
		return contracts.Errorf(contracts.CodeConflict, "the database has seals, and the name of their key is gone: it was changed, or cut off; restore it")
	}
	if !used {
		return nil
	}
	return begun(ctx, tx)
}

// follows verifies the rows with the older key that sealed them.
func follows(ctx context.Context, from stands, s *seal.Sealer, have string, older [][]byte) error {
	for _, key := range older {
		old := seal.New(key)
		if old == nil || old.KeyID() != have {
			continue
		}
		var differ []string
		_, err := old.Compare(ctx, from, func(scope string) { differ = append(differ, scope) })
		if err == nil && len(differ) > 0 {
			err = contracts.Errorf(contracts.CodeConflict,
				"the rows of %s are not those that were sealed; the key is not changed over them (of %d scopes)", differ[0], len(differ))
		}
		return err
	}
	return unfitting(have, s.KeyID())
}

// unfitting returns the error for seals made with another key.
func unfitting(have, want string) error {
	return contracts.Errorf(contracts.CodeConflict,
		"the database was sealed with the key %s, and the key %s is given: give all servers the audit keys of the first one (--audit-keys), or both keys to change it", have, want)
}
