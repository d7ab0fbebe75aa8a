package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io/fs"

	lite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/manifold-run/manifold/contracts"
)

// The result codes that are handled specially.
const (
	codeBusy       = sqlite3.SQLITE_BUSY
	codeConstraint = sqlite3.SQLITE_CONSTRAINT
)

// primaryCode returns the primary result code of a driver error, or 0 for other errors.
func primaryCode(err error) int {
	if fault, ok := errors.AsType[*lite.Error](err); ok {
		return fault.Code() & 0xff
	}
	return 0
}

// translate returns err with a code of contracts. Errors that have one are returned unchanged.
func translate(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*contracts.Error](err); ok {
		return err
	}
	switch primaryCode(err) {
	case codeConstraint:
		return contracts.Errorf(contracts.CodeConflict, "%s: there is such a row already: %w", doing, err)
	case sqlite3.SQLITE_FULL:
		return contracts.Errorf(contracts.CodeUnavailable, "%s: the disk is full: %w", doing, err)
	case sqlite3.SQLITE_TOOBIG:
		return contracts.Errorf(contracts.CodeTooLarge, "%s: too much for one row: %w", doing, err)
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_INTERNAL, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE,
		sqlite3.SQLITE_RANGE, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return contracts.Errorf(contracts.CodeInternal, "%s: %w", doing, err)
	case 0:
		return translateOther(doing, err)
	default:
		return contracts.Errorf(contracts.CodeUnavailable, "%s: the database cannot be used now: %w", doing, err)
	}
}

// translateOther translates errors that do not come from SQLite itself.
func translateOther(doing string, err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return contracts.Errorf(contracts.CodeNotFound, "%s: there is no such row", doing)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return contracts.Errorf(contracts.CodeUnavailable, "%s: %w", doing, err)
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone):
		return contracts.Errorf(contracts.CodeUnavailable, "%s: the connection is gone: %w", doing, err)
	case errors.As(err, new(*fs.PathError)):
		return contracts.Errorf(contracts.CodeUnavailable, "%s: %w", doing, err)
	default:
		return err
	}
}
