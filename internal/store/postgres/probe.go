package postgres

import "context"

// Probe writes one row, and fails when nothing can be written. It commits.
func (s *Runs) Probe(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `INSERT INTO probe (one, at) VALUES (1, `+now+`) ON CONFLICT (one) DO UPDATE SET at = excluded.at`)
	return translate("write to the database", err)
}
