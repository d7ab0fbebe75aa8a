package proof

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/seal"
)

// freezeSeals keeps every transaction that seals from its COMMIT, until this one
// has ended; one server at a time gets beyond it.
const freezeSeals = `LOCK TABLE seal, seal_key IN EXCLUSIVE MODE`

const readKeyID = `SELECT coalesce((SELECT id FROM seal_key), '')`

// Keys are those that rows are sealed with.
type Keys struct {
	// Known has the present one first. Without any nothing is sealed.
	Known [][]byte
	// Again reads them again where another server has sealed with one that is not
	// among them; nil where they stay what they were.
	Again func() ([][]byte, error)
}

// keys finds the key that the database was sealed with: another server may change
// it while this one works. It is safe for concurrent use.
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

// named gives a key by its id.
func (k *keys) named(id string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known[id] == nil && k.again != nil {
		if all, err := k.again(); err == nil { // else it is not known, which is said
			k.add(all)
		}
	}
	if key := k.known[id]; key != nil {
		return key, nil
	}
	return nil, contracts.Errorf(contracts.CodeUnavailable,
		"the database is sealed with the key %s by now: give this server the present audit keys too (--audit-keys), it reads them by itself", id)
}

// Open makes sure that rows are watched and sealed with the first of the keys. A
// database that nothing has sealed yet is sealed as it stands, after begun was
// called if it was in use; one that was sealed with an older one of the keys is
// compared first. Without a key nothing is sealed, and a sealed database is not
// opened. The caller commits.
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

// watch makes the triggers, unless a server that knows as many columns has made
// them, and tells how many are watched: an older server leaves a newer one's.
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

// adopt seals all rows with a key.
func adopt(ctx context.Context, from stands, s *seal.Sealer, have string, older [][]byte, begun func(context.Context, pgx.Tx) error) (err error) {
	if have == "" {
		err = beginSealing(ctx, from.Tx, begun)
	} else {
		err = follows(ctx, from, s, have, older)
	}
	if err != nil {
		return err
	}
	// What that has written is sealed with the rest, and not once more.
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

// sealsAtOnce bounds the seals of one round trip.
const sealsAtOnce = 1000

// beginSealing makes sure that nothing was sealed before, as on SQLite: who takes
// the name of the key away gets no new seals over what they changed.
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

// follows makes sure that the rows are those that an older key has sealed.
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

// unfitting says that the seals were made with a key that is not the present one.
func unfitting(have, want string) error {
	return contracts.Errorf(contracts.CodeConflict,
		"the database was sealed with the key %s, and the key %s is given: give all servers the audit keys of the first one (--audit-keys), or both keys to change it", have, want)
}
