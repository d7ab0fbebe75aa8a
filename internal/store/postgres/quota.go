package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/execution/admission"
)

var _ admission.SlotStore = (*quota)(nil)

// quota is the slot store of one process. It is safe for concurrent use.
type quota struct {
	pool *pgxpool.Pool
	// origin identifies the process. translate maps errors of the database to codes of contracts.
	origin    string
	translate func(doing string, err error) error
}

// newQuota returns the quota of a process. The tables must exist.
func newQuota(pool *pgxpool.Pool, origin string, translate func(doing string, err error) error) *quota {
	return &quota{pool, origin, translate}
}

// quotaNow is the clock of the database in nanoseconds since 1970.
const quotaNow = `(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint`

const (
	tellPresent = `
INSERT INTO server (origin, alive_until) VALUES ($1, ` + quotaNow + ` + $2)
ON CONFLICT (origin) DO UPDATE SET alive_until = excluded.alive_until`

	// countPresent counts the servers before this one and all servers, ordered by name, so that
	// all servers see the same order.
	countPresent = `SELECT count(*) FILTER (WHERE origin < $1), count(*) FROM server WHERE alive_until > ` + quotaNow

	// forgetAbsent removes the rows of servers that ended without Absent.
	forgetAbsent = `
WITH leases AS (DELETE FROM leader WHERE lease_until < ` + quotaNow + ` - $1)
DELETE FROM server WHERE alive_until < ` + quotaNow + ` - $1`
)

// Present marks this process as alive for ttl and returns its index among the live servers, from
// 0, and their number. It commits.
func (q *quota) Present(ctx context.Context, ttl time.Duration) (place, servers int, err error) {
	var b pgx.Batch
	b.Queue(tellPresent, q.origin, ttl.Nanoseconds())
	b.Queue(countPresent, q.origin).QueryRow(func(row pgx.Row) error { return row.Scan(&place, &servers) })
	b.Queue(forgetAbsent, time.Hour.Nanoseconds())
	return place, servers, q.translate("tell that this server lives", q.pool.SendBatch(ctx, &b).Close())
}

// Absent removes this process and returns its places. It commits.
func (q *quota) Absent(ctx context.Context) error {
	var b pgx.Batch
	b.Queue(`DELETE FROM server WHERE origin = $1`, q.origin)
	b.Queue(`DELETE FROM place WHERE owner = $1`, q.origin)
	return q.translate("tell that this server goes", q.pool.SendBatch(ctx, &b).Close())
}

// claimPlace takes the place that this process has, or a free one. If two processes take the same
// place at once, the second gets none.
const claimPlace = `
INSERT INTO place (key, number, owner, claimed_until)
SELECT $1, n, $2, ` + quotaNow + ` + $4 FROM generate_series(1, $3::int) n LEFT JOIN place p ON p.key = $1 AND p.number = n
WHERE p.key IS NULL OR p.owner = $2 OR p.claimed_until <= ` + quotaNow + `
ORDER BY p.owner IS NOT DISTINCT FROM $2 DESC, n LIMIT 1
ON CONFLICT (key, number) DO UPDATE SET owner = excluded.owner, claimed_until = excluded.claimed_until
WHERE place.owner = excluded.owner OR place.claimed_until <= ` + quotaNow

// ClaimPlace takes or keeps one of the places of a key for ttl. It returns false if other
// processes hold all of them. It commits.
func (q *quota) ClaimPlace(ctx context.Context, key string, places int, ttl time.Duration) (bool, error) {
	done, err := q.pool.Exec(ctx, claimPlace, key, q.origin, places, ttl.Nanoseconds())
	return done.RowsAffected() > 0, q.translate("claim a place of "+key, err)
}

// ReturnPlace returns the place of a key that this process holds. It commits.
func (q *quota) ReturnPlace(ctx context.Context, key string) error {
	_, err := q.pool.Exec(ctx, `DELETE FROM place WHERE key = $1 AND owner = $2`, key, q.origin)
	return q.translate("give a place of "+key+" back", err)
}
