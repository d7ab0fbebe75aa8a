package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/pgtest"
)

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

// create inserts a run of a session with the same name, leased for an hour.
func create(t *testing.T, s *store, id string) execution.Lease {
	t.Helper()
	run := execution.Run{
		ID: id, SessionID: "session of " + id, Owner: "one", Format: execution.Format, State: contracts.RunRunning,
		Plan: contracts.Plan{RunID: id, Owner: contracts.Principal{ID: "ana"}}, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	if err := s.CreateRun(t.Context(), run, time.Hour, execution.Transition{}); err != nil {
		t.Fatalf("create run %s: %v", id, err)
	}
	return execution.Lease{RunID: id, Owner: "one", Epoch: 1}
}

func node(id string) []execution.NodeRecord {
	return []execution.NodeRecord{{NodeID: id, State: contracts.NodeCompleted}}
}

// nodes returns the ids of a run's nodes.
func nodes(t *testing.T, s *store, runID string) string {
	t.Helper()
	got, err := s.LoadRun(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, n := range got.Nodes {
		ids = append(ids, n.NodeID)
	}
	return strings.Join(ids, " ")
}

// connect returns a connection that is independent of the stores.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(detached(t)) }) // the test may have closed it
	return conn
}

// holdUp blocks the writer of a store by locking the row of a run, until release is called.
// Writes in between are gathered in one batch.
func holdUp(t *testing.T, s *store, url string) (release func()) {
	t.Helper()
	lease := create(t, s, "held")
	holder := connect(t, url)
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT 1 FROM run WHERE id = 'held' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	answer := later(t, s, execution.Transition{Lease: lease, Nodes: node("n1")})
	watch := connect(t, url)
	until(t, "the writer waits", func() bool {
		var waits bool
		err := watch.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid)))`, holder.PgConn().PID()).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		return waits
	})
	return func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantCode(t, <-answer, "")
	}
}

// later starts a commit and returns its result by a channel.
func later(t *testing.T, s *store, tr execution.Transition) <-chan error {
	t.Helper()
	answer := make(chan error, 1)
	ctx := detached(t)
	go func() {
		_, err := s.Commit(ctx, tr)
		answer <- err
	}()
	return answer
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for !so() {
		if now := <-tick.C; now.After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	tests := map[string]func(t *testing.T, s *store, url string){
		"many runs go in one transaction":                               gathered,
		"a row that the server refuses harms only its own run":          refusedByServer,
		"a change that does not follow from what is stored goes alone":  refusedByGuard,
		"transactions of two processes that meet do not end each other": meeting,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.URL(t)
			test(t, open(t, url), url)
		})
	}
}

func gathered(t *testing.T, s *store, url string) {
	var leases []execution.Lease
	for i := range 20 {
		leases = append(leases, create(t, s, fmt.Sprintf("r%02d", i)))
	}
	release := holdUp(t, s, url)
	var answers []<-chan error
	for _, lease := range leases {
		answers = append(answers, later(t, s, execution.Transition{Lease: lease, Nodes: node("n1"), Events: []contracts.Event{{Type: contracts.EventNodeEnd}}}))
	}
	until(t, "all are queued", func() bool { return s.Queued() == len(leases) })
	release()
	for _, answer := range answers {
		wantCode(t, <-answer, "")
	}
	var transactions int
	err := connect(t, url).QueryRow(t.Context(), `SELECT count(DISTINCT xmin::text) FROM node WHERE run_id LIKE 'r%'`).Scan(&transactions)
	if err != nil || transactions != 1 {
		t.Errorf("%d transactions, %v; want one", transactions, err)
	}
}

func refusedByServer(t *testing.T, s *store, url string) {
	good, bad, taken, last := create(t, s, "r1"), create(t, s, "r2"),
		create(t, s, "r3"), create(t, s, "r4")
	intent := []execution.Intent{{NodeID: "n1", N: 1, Key: "k", Nonce: "n"}}
	if _, err := s.Commit(t.Context(), execution.Transition{Lease: good, Intents: intent}); err != nil {
		t.Fatal(err)
	}
	release := holdUp(t, s, url)
	answers := map[string]<-chan error{}
	for i, c := range []struct {
		lease execution.Lease
		what  execution.Transition
	}{
		{good, execution.Transition{Nodes: node("n1")}},
		{bad, execution.Transition{Nodes: node("zero\x00byte")}},
		{taken, execution.Transition{Nodes: node("n1"), Intents: intent}},
		{last, execution.Transition{Nodes: node("n1")}},
	} {
		c.what.Lease = c.lease
		answers[c.lease.RunID] = later(t, s, c.what)
		until(t, "it is queued", func() bool { return s.Queued() == i+1 })
	}
	release()
	for run, code := range map[string]contracts.Code{"r1": "", "r2": contracts.CodeInvalid, "r3": contracts.CodeConflict, "r4": ""} {
		wantCode(t, <-answers[run], code)
		want := map[bool]string{true: "n1"}[code == ""]
		if got := nodes(t, s, run); got != want {
			t.Errorf("run %s has nodes %q, want %q", run, got, want)
		}
	}
}

func refusedByGuard(t *testing.T, s *store, url string) {
	lease := create(t, s, "r1")
	release := holdUp(t, s, url)
	stranger := lease
	stranger.Epoch = 7
	var answers []<-chan error
	for i, tr := range []execution.Transition{
		{Lease: lease, Nodes: node("n1")},
		{Lease: stranger, Nodes: node("n2")},
		{Lease: lease, Nodes: node("n3"), Consume: []string{"no such nonce"}},
		{Lease: lease, Nodes: node("n4"), Finished: true},
		{Lease: lease, Nodes: node("n5")}, // it has ended in this very batch
	} {
		answers = append(answers, later(t, s, tr))
		until(t, "it is queued", func() bool { return s.Queued() == i+1 })
	}
	release()
	for i, code := range []contracts.Code{"", contracts.CodeLeaseLost, contracts.CodeConflict, "", contracts.CodeLeaseLost} {
		wantCode(t, <-answers[i], code)
	}
	if got := nodes(t, s, "r1"); got != "n1 n4" {
		t.Errorf("stored: %s; want n1 and n4", got)
	}
}

// meeting lets two processes lock the same runs in opposite orders, while each wakes runs of the
// other.
func meeting(t *testing.T, s *store, url string) {
	other := open(t, url)
	const runs, rounds = 8, 15
	done := make(chan error, 2*runs)
	for i := range runs {
		for which, owner := range []*store{s, other} {
			lease := create(t, owner, fmt.Sprintf("r%d-%d", i, which))
			ctx := detached(t)
			go func() {
				for round := range rounds {
					key := fmt.Sprintf("key %d", (i+round)%2)
					_, got, err := owner.AcquireLocks(ctx, lease, "n1", []string{key, "other " + key})
					if err == nil && got {
						_, err = owner.Commit(ctx, execution.Transition{Lease: lease, Release: []string{"n1"}})
					} else if err == nil {
						_, err = owner.Commit(ctx, execution.Transition{Lease: lease, Nodes: node("n1")})
					}
					if err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
	}
	for range 2 * runs {
		wantCode(t, <-done, "")
	}
}
