package sqlstore

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/access"
)

var _ access.SignInStore = (*AdminStore)(nil)

// InsertSignIn stores the hash of a token and deletes expired ones. It commits.
func (s *AdminStore) InsertSignIn(ctx context.Context, hash string, at, until time.Time) error {
	return s.transact(ctx, "keep a sign-in", func(ctx context.Context, x Tx) error {
		if _, err := x.Exec(ctx, `DELETE FROM sign_in WHERE until <= $1`, stored.Nanos(at)); err != nil {
			return err
		}
		_, err := x.Exec(ctx, `INSERT INTO sign_in (hash, seen_at, until) VALUES ($1, $2, $3)`, hash, stored.Nanos(at), stored.Nanos(until))
		return err
	})
}

// SignInSeen returns when a token was last used, or an error of code not_found.
func (s *AdminStore) SignInSeen(ctx context.Context, hash string) (time.Time, error) {
	seen, err := readRow(ctx, s.core, "read a sign-in", missing("sign-in", "of this token"), stored.Number, `SELECT seen_at FROM sign_in WHERE hash = $1`, hash)
	return time.Unix(0, seen).UTC(), err
}

// SeeSignIn stores the time when a token was used. It commits.
func (s *AdminStore) SeeSignIn(ctx context.Context, hash string, at time.Time) error {
	return s.transact(ctx, "note a sign-in", func(ctx context.Context, x Tx) error {
		_, err := x.Exec(ctx, `UPDATE sign_in SET seen_at = $2 WHERE hash = $1`, hash, stored.Nanos(at))
		return err
	})
}

// RemoveSignIn deletes a token and reports whether it existed. It commits.
func (s *AdminStore) RemoveSignIn(ctx context.Context, hash string) (was bool, err error) {
	err = s.transact(ctx, "end a sign-in", func(ctx context.Context, x Tx) error {
		n, err := x.Exec(ctx, `DELETE FROM sign_in WHERE hash = $1`, hash)
		was = n > 0
		return err
	})
	return was && err == nil, err
}
