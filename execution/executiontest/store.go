package executiontest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

var _ execution.Store = (*Store)(nil)

// Store is an execution.Store in memory. Values are copied through JSON on input and output, as in
// a store on disk, so that callers cannot share them.
type Store struct {
	// opened is called with each new interrupt inside the transaction.
	opened func(contracts.Interrupt)

	mu   sync.Mutex // guards the fields below
	runs map[string]*runRow
	// gates has all interrupts in the order of creation.
	gates []*contracts.Interrupt
	gate  map[string]*contracts.Interrupt
	// versions counts the changes of each interrupt.
	versions map[string]int64
	intent   map[string]*intentRow // by nonce
	keys     map[string]bool       // the idempotency keys in use
	events   map[string][]contracts.Event
	seqs     map[string]int64 // the last event of each session, never deleted
	ledger   map[string][]contracts.LedgerEntry
	locks    map[string]*lockRow
	blobs    map[string]execution.Blob
	// payloads are those of ledger entries, by chain and number.
	payloads map[string]map[int64][]byte
}

// runRow is a run with its rows.
type runRow struct {
	run     execution.Run
	nodes   []execution.NodeRecord
	at      map[string]int // node id → index in nodes
	intents []*intentRow
	data    map[string]execution.NodeData
	// names are the blobs that the run's rows refer to.
	names map[string]bool
}

type intentRow struct {
	execution.Intent
	run *runRow
}

// Option configures a new Store.
type Option func(*Store)

// WithOpened sets a function that is called with each new interrupt, inside the transaction that
// opens it. It must not call the store.
func WithOpened(opened func(contracts.Interrupt)) Option {
	return func(s *Store) { s.opened = opened }
}

// NewStore returns an empty store.
func NewStore(options ...Option) *Store {
	s := &Store{
		opened: func(contracts.Interrupt) {},
		runs:   map[string]*runRow{}, gate: map[string]*contracts.Interrupt{}, versions: map[string]int64{},
		intent: map[string]*intentRow{}, keys: map[string]bool{},
		events: map[string][]contracts.Event{}, seqs: map[string]int64{},
		ledger: map[string][]contracts.LedgerEntry{}, locks: map[string]*lockRow{},
		blobs: map[string]execution.Blob{}, payloads: map[string]map[int64][]byte{},
	}
	for _, o := range options {
		o(s)
	}
	return s
}

// existing returns the row of a run. The caller holds mu.
func (s *Store) existing(runID string) (*runRow, error) {
	row, ok := s.runs[runID]
	if !ok {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no run %q", runID)
	}
	return row, nil
}

// held returns the row of a run if the lease still holds it. The caller holds mu.
func (s *Store) held(l execution.Lease) (*runRow, error) {
	row, err := s.existing(l.RunID)
	if err != nil {
		return nil, err
	}
	if l.Owner == "" || row.run.Owner != l.Owner || row.run.Epoch != l.Epoch || row.finished() {
		return nil, contracts.Errorf(contracts.CodeLeaseLost, "run %s is not held by %s in epoch %d any more", l.RunID, l.Owner, l.Epoch)
	}
	return row, nil
}

// wake increments the wake_seq of a run. It reports whether the run exists and is open. The caller
// holds mu.
func (s *Store) wake(runID string) bool {
	row, ok := s.runs[runID]
	if !ok || row.finished() {
		return false
	}
	row.run.WakeSeq++
	return true
}

func (r *runRow) finished() bool { return r.run.FinishedAt != nil }

// clone copies a value through JSON.
func clone[T any](v T) (T, error) {
	var out T
	raw, err := json.Marshal(v)
	if err != nil {
		return out, fmt.Errorf("copy a %T: %w", v, err)
	}
	if err := contracts.Decode(raw, &out); err != nil {
		return out, fmt.Errorf("copy a %T: %w", v, err)
	}
	return out, nil
}

// artifactNames matches references to artifacts.
var artifactNames = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// name records the artifacts that a value refers to, so that they are kept as long as the run.
func (r *runRow) name(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("find the artifacts of run %s: %w", r.run.ID, err)
	}
	for _, found := range artifactNames.FindAllString(string(raw), -1) {
		r.names[bareHash(found)] = true
	}
	return nil
}

// bareHash returns a hash without the prefix of references.
func bareHash(sha256 string) string { return strings.TrimPrefix(sha256, "sha256:") }
