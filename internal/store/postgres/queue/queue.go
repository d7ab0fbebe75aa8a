// Package queue is the job queue of several servers, by River, which no other package
// imports. A job is a wake-up and nothing more. What is to be done stands in rows of the
// store, and so does whether it was done: a job that comes twice, late or never
// harms nothing, because whoever works on one asks the rows, and sweeps find what
// jobs have missed.
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

// Kind is what a job asks for.
type Kind string

// The kinds of jobs that transactions add: a run may go on, a delivery is due.
const (
	Run      Kind = "run"
	Delivery Kind = "delivery"
)

// upkeep is the kind of jobs that come by themselves periodically.
const upkeep Kind = "upkeep"

// Job is a wake-up for what ID names, at a time; zero means at once.
type Job struct {
	Kind Kind
	ID   string
	At   time.Time
}

// Queue inserts jobs and works on none. It is safe for concurrent use.
type Queue struct{ client *river.Client[pgx.Tx] }

// New makes the queue whose tables stand in the schema of the pool.
func New(pool *pgxpool.Pool) (*Queue, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger: quiet(nil), SkipUnknownJobCheck: true,
		// A client tells of jobs at most once in this time; what is added in between
		// waits for a poll.
		FetchCooldown: time.Millisecond,
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue: %w", err)
	}
	return &Queue{client}, nil
}

// Add adds jobs in a transaction: they are there when it commits.
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

// args are those of the kind of a job; River tells kinds by their types.
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

// Kind is the name of the job in its row.
func (runArgs) Kind() string { return string(Run) }

// Kind is the name of the job in its row.
func (deliveryArgs) Kind() string { return string(Delivery) }

// Kind is the name of the job in its row.
func (upkeepArgs) Kind() string { return string(upkeep) }

func (a runArgs) id() string      { return a.ID }
func (a deliveryArgs) id() string { return a.ID }
func (a upkeepArgs) id() string   { return a.ID }

// InTransaction is a pgx.Tx for a connection on which a transaction was begun
// by hand. Whoever began it ends it.
func InTransaction(conn *pgx.Conn) pgx.Tx { return begun{conn: conn} }
