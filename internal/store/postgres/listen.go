package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/manifold-run/manifold/internal/store/postgres/notify"
)

// Change is what another process has committed.
type Change = notify.Change

// queueNotices tells what the group has changed.
func (g *group) queueNotices(b *pgx.Batch, d *db) {
	all := map[string]bool{}
	for _, r := range g.runs {
		if r.changed {
			all[d.post.Payload(Change{SessionID: r.session, RunID: r.id})] = true
		}
	}
	for _, gate := range g.rows.gates {
		if gate.runID == "" {
			all[d.post.Payload(Change{SessionID: gate.session})] = true
		}
	}
	for _, c := range g.told {
		all[d.post.Payload(c)] = true
	}
	if len(all) > 0 {
		b.Queue(notify.TellAll, d.post.Channel, slices.Sorted(maps.Keys(all)))
	}
}

// execTold does one statement, and tells other processes of the change, in one
// transaction. It commits, and tells how many rows it changed.
func (d *db) execTold(ctx context.Context, doing string, c Change, statement string, args ...any) (int64, error) {
	var changed int64
	err := d.begin(ctx, func(tx pgx.Tx) error {
		var b pgx.Batch
		b.Queue(statement, args...).Exec(func(done pgconn.CommandTag) error {
			changed = done.RowsAffected()
			return nil
		})
		b.Queue(notify.Tell, d.post.Channel, d.post.Payload(c))
		return tx.SendBatch(ctx, &b).Close()
	})
	return changed, translate(doing, err)
}

// Listen calls heard for each change that another process commits, until ctx
// ends; see notify.Post.
func (s *Store) Listen(ctx context.Context, heard func(Change)) {
	s.post.Listen(ctx, s.pool.Config().ConnConfig, heard)
}
