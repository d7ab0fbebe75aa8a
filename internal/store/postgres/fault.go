package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/manifold-run/manifold/contracts"
)

// sqlState returns the SQLSTATE of a server error, or "" for other errors.
func sqlState(err error) string {
	if fault, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fault.Code
	}
	return ""
}

// passing reports whether the error is a serialization failure or a deadlock, after which a retry
// may succeed.
func passing(err error) bool {
	state := sqlState(err)
	return state == "40001" || state == "40P01"
}

// reached reports whether the server answered. In this case the transaction was rejected and
// nothing was stored.
func reached(err error) bool {
	if _, ok := errors.AsType[*contracts.Error](err); ok {
		return true
	}
	state := sqlState(err)
	return state != "" && !strings.HasPrefix(state, "57P") && !strings.HasPrefix(state, "08") || errors.Is(err, pgx.ErrNoRows)
}

// translate returns err with a code of contracts. Errors that have one are returned unchanged.
// Errors that do not come from the server become unavailable.
func translate(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*contracts.Error](err); ok {
		return err
	}
	state := sqlState(err)
	class := state
	if len(class) > 2 {
		class = class[:2]
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return contracts.Errorf(contracts.CodeNotFound, "%s: there is no such row", doing)
	case state == "":
		return translateOther(doing, err)
	case class == "23":
		return contracts.Errorf(contracts.CodeConflict, "%s: there is such a row already: %w", doing, err)
	case state == "22021", state == "22P05":
		return contracts.Errorf(contracts.CodeInvalid, "%s: a text holds what no text may hold, such as a zero byte: %w", doing, err)
	case class == "54":
		return contracts.Errorf(contracts.CodeTooLarge, "%s: too much for one row: %w", doing, err)
	case class == "08", class == "25", class == "40", class == "53", class == "55", class == "57", class == "58":
		return contracts.Errorf(contracts.CodeUnavailable, "%s: the database cannot be used now: %w", doing, err)
	default:
		return contracts.Errorf(contracts.CodeInternal, "%s: %w", doing, err)
	}
}

// translateOther translates errors that do not come from the server.
func translateOther(doing string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return contracts.Errorf(contracts.CodeUnavailable, "%s: %w", doing, err)
	case strings.Contains(err.Error(), "unable to encode"):
		return contracts.Errorf(contracts.CodeInternal, "%s: %w", doing, err)
	default:
		return contracts.Errorf(contracts.CodeUnavailable, "%s: the database cannot be reached: %w", doing, err)
	}
}
