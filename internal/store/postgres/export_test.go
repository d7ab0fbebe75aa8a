package postgres

import "context"

// Queued is how many writes wait for the writer.
func (s *Store) Queued() int { return s.writer.Len() }

// FallSilent holds the row of a run in a transaction that says nothing more,
// until the server has ended it, and then tries to go on.
func (s *Store) FallSilent(ctx context.Context, runID string, entered chan<- struct{}) error {
	return s.write(ctx, "fall silent", change{runs: []string{runID}, apply: func(ctx context.Context, g *group) error {
		close(entered)
		_, err := g.conn.Conn().WaitForNotification(ctx)
		return err
	}})
}
