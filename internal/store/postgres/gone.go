package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A server holds an advisory lock on its listening connection, so that the database detects the
// end of its process. A frozen server keeps the lock, and its runs until their leases end.

// serverPrefix is the prefix of the names of servers that hold this lock.
const serverPrefix = "server-"

// Name returns the owner name under which this server holds runs.
func (s *Store) Name() string { return s.db.post.name() }

func (p notifyChannel) name() string { return serverPrefix + strings.ToLower(p.Origin) }

const (
	lockOf = `hashtextextended('manifold ' || `

	// showAlive takes the lock again if this connection already has it.
	showAlive = `SELECT pg_try_advisory_lock(` + lockOf + `$1::text, 0))`

	freeRunsOfGone = `
WITH silent AS MATERIALIZED (
  SELECT DISTINCT owner FROM run WHERE finished_at = 0 AND NOT parked
    AND starts_with(owner, '` + serverPrefix + `') AND lease_until > ` + now + ` AND lease_until <= ` + now + ` + $1),
gone AS MATERIALIZED (SELECT owner FROM silent WHERE pg_try_advisory_xact_lock(` + lockOf + `owner, 0)))
UPDATE run SET lease_until = 0 FROM gone WHERE run.owner = gone.owner AND run.finished_at = 0 AND NOT run.parked AND run.lease_until <= ` + now + ` + $1`
)

// showAlive reports whether the connection now holds the lock. A broken connection of this server
// may hold it for a while, and a server that looks for ended ones for a moment.
func (p notifyChannel) showAlive(ctx context.Context, conn *pgx.Conn) (shown bool, err error) {
	err = conn.QueryRow(ctx, showAlive, p.name()).Scan(&shown)
	return shown, err
}

// FreeRuns ends the leases of servers that have ended: leases that last at most left and whose
// owner's lock is free. Recently renewed leases last longer and are kept, because a server that
// only lost its connection still renews them. It commits.
func (s *Store) FreeRuns(ctx context.Context, left time.Duration) error {
	_, err := s.db.pool.Exec(ctx, freeRunsOfGone, left.Nanoseconds())
	return translate("free the runs of servers that are gone", err)
}
