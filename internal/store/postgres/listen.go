package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

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

// Listen calls heard for each change that another process commits, until ctx
// ends; see notify.Post.
func (s *Store) Listen(ctx context.Context, heard func(Change)) {
	s.post.Listen(ctx, s.pool.Config().ConnConfig, heard)
}
