package sqlite

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/store/stored"
	"github.com/manifold-run/manifold/orchestrator/access"
)

var _ access.SignInStore = (*Directory)(nil)

// InsertSignIn keeps a token, and forgets those that are over.
func (s *Directory) InsertSignIn(ctx context.Context, hash string, at, until time.Time) error {
	return s.write(ctx, "keep a sign-in", func(ctx context.Context, x *tx) error {
		if _, err := x.exec(ctx, `DELETE FROM sign_in WHERE until <= ?`, stored.Nanos(at)); err != nil {
			return err
		}
		_, err := x.exec(ctx, `INSERT INTO sign_in (hash, seen_at, until) VALUES (?, ?, ?)`, hash, stored.Nanos(at), stored.Nanos(until))
		return err
	})
}

// SignInSeen tells when somebody was last seen with a token.
func (s *Directory) SignInSeen(ctx context.Context, hash string) (time.Time, error) {
	var seen int64
	err := s.view(ctx, "read a sign-in", func(ctx context.Context, h *handle) error {
		return missing(h.row(ctx, `SELECT seen_at FROM sign_in WHERE hash = ?`, hash).Scan(&seen), contracts.Errorf(contracts.CodeNotFound, "there is no such sign-in"))
	})
	return time.Unix(0, seen).UTC(), err
}

// SeeSignIn notes that somebody was.
func (s *Directory) SeeSignIn(ctx context.Context, hash string, at time.Time) error {
	return s.write(ctx, "note a sign-in", func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `UPDATE sign_in SET seen_at = ? WHERE hash = ?`, stored.Nanos(at), hash)
		return err
	})
}

// RemoveSignIn forgets a token.
func (s *Directory) RemoveSignIn(ctx context.Context, hash string) (was bool, err error) {
	err = s.write(ctx, "end a sign-in", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `DELETE FROM sign_in WHERE hash = ?`, hash)
		was = n > 0
		return err
	})
	return was && err == nil, err
}
