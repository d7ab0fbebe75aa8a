package runstate

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Run is the row of a run.
type Run struct {
	ID        string
	SessionID string
	Format    int
	Plan      contracts.Plan
	State     contracts.RunState

	// Owner, Epoch and LeaseUntil specify who may commit transitions. LeaseUntil is on the store's
	// clock; zero means that the run has no owner.
	Owner      string
	Epoch      int64
	LeaseUntil time.Time

	// WakeSeq counts wake-ups; HandledSeq is the last one that an owner processed before it parked
	// the run. WakeAt is the next timer, zero for none.
	WakeSeq    int64
	HandledSeq int64
	WakeAt     time.Time
	Parked     bool

	// HeldSince is when the run was put into quarantine after a restore, nil if it was not.
	HeldSince *time.Time

	CancelRequestedAt *time.Time
	CancelledBy       string

	// LedgerSeq and LedgerHead identify the last entry of the run's hash chain.
	LedgerSeq  int64
	LedgerHead string

	Verdict    *contracts.Verdict
	CreatedAt  time.Time
	UpdatedAt  time.Time
	FinishedAt *time.Time
}

// Snapshot is the stored state of a run, with everything that is needed to resume it.
type Snapshot struct {
	Run     Run
	Nodes   []Row
	Gates   []contracts.Interrupt
	Intents []Intent
}
