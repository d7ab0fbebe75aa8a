// Package queue is the job queue shared by several servers, built on River. No other package
// imports River. A job is only a wake-up: the work and its completion are stored in rows of the
// store. Duplicate, late and lost jobs are therefore harmless, because handlers check the rows,
// and periodic sweeps find the work that jobs missed.
package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// Kind is the kind of a job.
type Kind string

// The kinds of jobs that transactions add. Run advances a run, Delivery sends a delivery.
const (
	Run      Kind = "run"
	Delivery Kind = "delivery"
)

// upkeep is the kind of periodic jobs.
const upkeep Kind = "upkeep"

// Job is a wake-up for the run or delivery ID at a time. A zero time means at once.
type Job struct {
	Kind Kind
	ID   string
	At   time.Time
}

// Queue inserts jobs. It does not process them. It is safe for concurrent use.
type Queue struct{ client *river.Client[pgx.Tx] }

// New returns the queue whose tables are in the schema of the pool.
func New(pool *pgxpool.Pool) (*Queue, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger: quiet(nil), SkipUnknownJobCheck: true,
		// A client sends notifications for new jobs at most once in this interval. Jobs added in
		// between wait for a poll.
		FetchCooldown: time.Millisecond,
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue: %w", err)
	}
	return &Queue{client}, nil
}

// Add inserts jobs in a transaction. They become visible when it commits.
func (q *Queue) Add(ctx context.Context, tx pgx.Tx, jobs ...Job) error {
	if len(jobs) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i] = river.InsertManyParams{Args: j.args(), InsertOpts: &river.InsertOpts{Queue: string(j.Kind), ScheduledAt: j.At}}
	}
	_, err := q.client.InsertManyFastTx(ctx, tx, params)
	return err
}

// args returns the River arguments of a job. River distinguishes kinds by type.
func (j Job) args() river.JobArgs {
	switch j.Kind {
	case Delivery:
		return deliveryArgs{j.ID}
	case upkeep:
		return upkeepArgs{j.ID}
	default:
		return runArgs{j.ID}
	}
}

type (
	runArgs struct {
		ID string `json:"id"`
	}
	deliveryArgs struct {
		ID string `json:"id"`
	}
	upkeepArgs struct {
		ID string `json:"id"`
	}
)

// Kind returns the name of the kind in the job's row.
func (runArgs) Kind() string { return string(Run) }

// Kind returns the name of the kind in the job's row.
func (deliveryArgs) Kind() string { return string(Delivery) }

// Kind returns the name of the kind in the job's row.
func (upkeepArgs) Kind() string { return string(upkeep) }

func (a runArgs) id() string      { return a.ID }
func (a deliveryArgs) id() string { return a.ID }
func (a upkeepArgs) id() string   { return a.ID }

// InTransaction returns a pgx.Tx for a connection on which the caller began a transaction by a
// statement. The caller must end it.
func InTransaction(conn *pgx.Conn) pgx.Tx { return begun{conn: conn} }
