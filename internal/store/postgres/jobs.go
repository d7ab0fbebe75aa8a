package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// jobs wake somebody for what the group makes due: runs that can go on and that
// nobody holds, now or at the time of their timer, and deliveries.
func (g *group) jobs() []queue.Job {
	var jobs []queue.Job
	now := stored.Nanos(g.now)
	for _, r := range g.runs {
		free := r.finishedAt == 0 && (r.owner == "" || r.leaseUntil <= now)
		switch {
		case !free:
		case r.woken || r.born != nil && !r.parked:
			jobs = append(jobs, queue.Job{Kind: queue.Run, ID: r.id})
		case r.parks && r.wakeAt > 0:
			jobs = append(jobs, queue.Job{Kind: queue.Run, ID: r.id, At: stored.Stamp(r.wakeAt)})
		}
	}
	for _, m := range g.rows.mail {
		jobs = append(jobs, queue.Job{Kind: queue.Delivery, ID: m.id})
	}
	return jobs
}

// selectFree gives those runs of some that nobody holds.
const selectFree = `SELECT id FROM run WHERE id = ANY($1) AND finished_at = 0 AND (owner = '' OR lease_until <= ` + now + `)`

// wakeJobs adds jobs for those of the runs that nobody holds.
func wakeJobs(ctx context.Context, d *db, tx pgx.Tx, runs ...string) error {
	free, err := collect(ctx, tx, stored.Text, selectFree, runs)
	if err != nil {
		return err
	}
	return d.jobs.Add(ctx, tx, column(free, func(id string) queue.Job { return queue.Job{Kind: queue.Run, ID: id} })...)
}
