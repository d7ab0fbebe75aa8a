package postgres

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

var _ audit.Proofs = (*Proofs)(nil)

// Proofs lists ledgers and checks contents. Rows are not sealed here, and
// nothing is logged: a reader of audits is told that none was.
type Proofs struct{ *db }

// Chains lists the ledgers.
func (s *Proofs) Chains(ctx context.Context, after string, limit int) ([]string, error) {
	return list(ctx, s.db, "list ledgers", text, `SELECT DISTINCT run_id FROM ledger WHERE run_id > $1 ORDER BY run_id LIMIT $2`, after, limit)
}

// CheckRows compares contents with their hashes.
func (s *Proofs) CheckRows(ctx context.Context, found func(scope, message string)) (int, error) {
	changed, err := list(ctx, s.db, "check contents", text, `SELECT sha256 FROM blob WHERE encode(sha256(body), 'hex') <> sha256`)
	for _, hash := range changed {
		found("content:"+hash, "the content "+hash+" was changed after it was written")
	}
	return 0, err
}

// SealVersion is 0: nothing is sealed.
func (*Proofs) SealVersion(context.Context, string) (int64, error) { return 0, nil }

// Unlogged is nothing.
func (*Proofs) Unlogged(context.Context, int) ([]audit.Leaf, error) { return nil, nil }

// Grow is refused: there is no log.
func (*Proofs) Grow(context.Context, int64, []audit.Leaf, [][]byte, audit.Root) error {
	return errNoLog()
}

// LastRoot is none.
func (*Proofs) LastRoot(context.Context) (audit.Root, error) { return audit.Root{}, nil }

// Leaves are none.
func (*Proofs) Leaves(context.Context, int64, int) ([]audit.Leaf, error) { return nil, nil }

// Hashes are none.
func (*Proofs) Hashes(context.Context, int64, int) ([][]byte, error) { return nil, nil }

// HashesAt is refused: there is no log.
func (*Proofs) HashesAt(context.Context, []int64) ([][]byte, error) { return nil, errNoLog() }

// LeafOf is refused: there is no log.
func (*Proofs) LeafOf(context.Context, string, int64) (audit.Leaf, int64, error) {
	return audit.Leaf{}, 0, errNoLog()
}

func errNoLog() error {
	return contracts.Errorf(contracts.CodeUnsupported, "on PostgreSQL no log of the ledgers is kept yet")
}

// Probe writes one row, and fails when nothing can be written.
func (s *Runs) Probe(ctx context.Context) error {
	_, err := s.exec(ctx, "write to the database", `INSERT INTO probe (one, at) VALUES (1, `+now+`) ON CONFLICT (one) DO UPDATE SET at = excluded.at`)
	return err
}
