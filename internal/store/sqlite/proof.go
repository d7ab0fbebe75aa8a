package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/manifold-run/manifold/internal/store/stored"
)

// Chains lists the ledgers, one step in their index for each.
func (s *Proofs) Chains(ctx context.Context, after string, limit int) ([]string, error) {
	var chains []string
	err := s.view(ctx, "list ledgers", func(ctx context.Context, h *handle) error {
		for len(chains) < limit {
			next, err := collect(ctx, h, stored.Text, `SELECT run_id FROM ledger WHERE run_id > ? ORDER BY run_id LIMIT 1`, after)
			if err != nil || len(next) == 0 {
				return err
			}
			after = next[0]
			chains = append(chains, after)
		}
		return nil
	})
	return chains, err
}

// CheckRows compares what is stored with the seals, and contents with their
// hashes. It reads everything, in one state of the database, and keeps little of
// it in memory.
func (s *Proofs) CheckRows(ctx context.Context, found func(scope, message string)) (int, error) {
	var seals int
	err := s.snapshot(ctx, "compare rows with their seals", func(ctx context.Context, h *handle) error {
		if err := checkContents(ctx, h, found); err != nil {
			return err
		}
		reader := newSealer(s.sealKey)
		if reader == nil {
			return nil
		}
		var err error
		seals, err = reader.Compare(ctx, stands{h}, func(scope string) {
			found(scope, "its rows are not those that were written: one was changed, taken away or added")
		})
		return err
	})
	return seals, err
}

func checkContents(ctx context.Context, h *handle, found func(scope, message string)) error {
	rows, err := h.conn.QueryContext(ctx, `SELECT sha256, body FROM blob`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var body []byte
		if err := rows.Scan(&name, &body); err != nil {
			return err
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != name {
			found("content:"+name, fmt.Sprintf("the content %s was changed after it was written", name))
		}
	}
	return rows.Err()
}
