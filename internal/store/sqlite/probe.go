package sqlite

import "context"

// Probe writes one row, and fails when nothing can be written.
func (s *Runs) Probe(ctx context.Context) error {
	return s.write(ctx, "write to the database", func(ctx context.Context, x *tx) error {
		_, err := x.exec(ctx, `INSERT INTO probe (one, at) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET at = excluded.at`, x.now.UnixNano())
		return err
	})
}
