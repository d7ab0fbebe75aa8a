package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	"github.com/manifold-run/manifold/contracts"
)

// fileLock prevents other processes from opening a database. It is an exclusive transaction on a
// file beside it that is never written. SQLite takes the lock in a portable way, and the
// operating system releases it when the process ends for any reason. (The database itself cannot
// be locked like this, because the connections of this process would block each other.)
type fileLock struct {
	db *sql.DB
	tx *sql.Tx
}

func lockFile(ctx context.Context, path string) (*fileLock, error) {
	side := path + "-lock"
	if err := makeFile(side); err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "lock the database %s: %w", path, err)
	}
	db, err := sql.Open(driverName, fileURL(side, url.Values{"_pragma": {"busy_timeout(0)"}, "_txlock": {"exclusive"}}))
	if err != nil {
		return nil, translate("lock the database "+path, err)
	}
	// The transaction must outlive the call that opens the store.
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err == nil {
		return &fileLock{db: db, tx: tx}, nil
	}
	if closing := db.Close(); closing != nil {
		err = errors.Join(err, closing)
	}
	if primaryCode(err) == codeBusy {
		return nil, contracts.Errorf(contracts.CodeConflict, "the database %s is in use by another process; stop that one or choose another file: %w", path, err)
	}
	return nil, translate("lock the database "+path, err)
}

func (l *fileLock) release() error {
	return errors.Join(l.tx.Rollback(), l.db.Close())
}
