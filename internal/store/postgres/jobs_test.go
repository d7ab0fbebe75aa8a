package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/orchestrator"
)

// jobs returns the jobs in insertion order, as "kind id", with " later" for those that are not
// due yet.
func jobs(t *testing.T, url string) []string {
	t.Helper()
	rows, err := connect(t, url).Query(t.Context(),
		`SELECT kind || ' ' || (args->>'id') || CASE WHEN scheduled_at > now() THEN ' later' ELSE '' END FROM river_job ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var job string
		if err := rows.Scan(&job); err != nil {
			t.Fatal(err)
		}
		all = append(all, job)
	}
	return all
}

func park(t *testing.T, s *store, lease execution.Lease, wakeAt time.Time, gates ...contracts.Interrupt) {
	t.Helper()
	done, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Park: true, WakeAt: wakeAt, Gates: gates})
	if err != nil || !done.Parked {
		t.Fatalf("park run %s: %+v %v", lease.RunID, done, err)
	}
}

func decide(t *testing.T, s *store, gate string) {
	t.Helper()
	if _, err := execution.UpdateInterrupt(t.Context(), s, gate, func(i *contracts.Interrupt, _ time.Time) error {
		i.Status = contracts.InterruptApproved
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A transaction adds a job for a run without an owner that becomes due. It adds none for what the
// owner itself will notice.
func TestWhatIsDueIsAJob(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	gate := contracts.Interrupt{InterruptID: "g1", Code: "AAA"}
	for name, tt := range map[string]struct {
		do   func(t *testing.T, s *store)
		want []string
	}{
		"a run that its creator begins": {func(t *testing.T, s *store) { create(t, s, "r1") }, nil},
		"a run that its creator has no room for": {func(t *testing.T, s *store) {
			run := execution.Run{ID: "r1", SessionID: "s", Format: execution.Format, State: contracts.RunRunning, Plan: contracts.Plan{RunID: "r1"}}
			if err := s.CreateRun(t.Context(), run, time.Hour, execution.Transition{}); err != nil {
				t.Fatal(err)
			}
		}, []string{"run r1"}},
		"a run that waits for people": {func(t *testing.T, s *store) { park(t, s, create(t, s, "r1"), time.Time{}, gate) }, nil},
		"its decision": {func(t *testing.T, s *store) {
			park(t, s, create(t, s, "r1"), time.Time{}, gate)
			decide(t, s, "g1")
		}, []string{"run r1"}},
		"a decision while somebody holds the run": {func(t *testing.T, s *store) {
			if _, err := s.Commit(t.Context(), execution.Transition{Lease: create(t, s, "r1"), Gates: []contracts.Interrupt{gate}}); err != nil {
				t.Fatal(err)
			}
			decide(t, s, "g1")
		}, nil},
		"a timer": {func(t *testing.T, s *store) { park(t, s, create(t, s, "r1"), time.Now().Add(time.Hour)) }, []string{"run r1 later"}},
		"a run that is given back": {func(t *testing.T, s *store) {
			if err := s.ReleaseRun(t.Context(), create(t, s, "r1")); err != nil {
				t.Fatal(err)
			}
		}, []string{"run r1"}},
		"the wish to cancel what waits": {func(t *testing.T, s *store) {
			park(t, s, create(t, s, "r1"), time.Time{}, gate)
			if err := s.RequestCancel(t.Context(), "r1", "ana"); err != nil {
				t.Fatal(err)
			}
		}, []string{"run r1"}},
		"a transition that is refused": {func(t *testing.T, s *store) {
			lease := create(t, s, "r1")
			lease.Epoch = 9
			_, err := s.Commit(t.Context(), execution.Transition{Lease: lease, Park: true, WakeAt: time.Now()})
			wantCode(t, err, contracts.CodeLeaseLost)
		}, nil},
		"a notice, and its second try": {func(t *testing.T, s *store) {
			if err := s.CreateSession(t.Context(), orchestrator.Session{ID: "session of r1", WebhookURL: "https://hooks.example"}); err != nil {
				t.Fatal(err)
			}
			park(t, s, create(t, s, "r1"), time.Time{}, gate)
			if err := s.Retry(t.Context(), "interrupt-g1", time.Now().Add(time.Hour), 1); err != nil {
				t.Fatal(err)
			}
			if err := s.Retry(t.Context(), "interrupt-nobody", time.Now(), 1); err != nil {
				t.Fatal(err)
			}
		}, []string{"delivery interrupt-g1", "delivery interrupt-g1 later"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.URL(t)
			tt.do(t, open(t, url))
			if diff := cmp.Diff(tt.want, jobs(t, url)); diff != "" {
				t.Errorf("the jobs differ (-want +got):\n%s", diff)
			}
		})
	}
}

// working lets a store process jobs until the end of the test.
func working(t *testing.T, s *store, h postgres.Handlers) {
	t.Helper()
	none := func(context.Context, string) (time.Duration, error) { return 0, nil }
	if h.Run == nil {
		h.Run = none
	}
	if h.Delivery == nil {
		h.Delivery = none
	}
	w, err := s.Work(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(detached(t)); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

// A server without capacity leaves a job to another one, and a timer arrives as a job when it is
// due.
func TestJobsComeToWhoeverHasRoom(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	full, other := open(t, url), open(t, url)
	took := make(chan string, 10)
	working(t, full, postgres.Handlers{Run: func(context.Context, string) (time.Duration, error) { return time.Millisecond, nil }})
	working(t, other, postgres.Handlers{Run: func(_ context.Context, id string) (time.Duration, error) {
		took <- id
		return 0, nil
	}})
	due := time.Now().Add(time.Second)
	park(t, full, create(t, full, "timed"), due)
	park(t, full, create(t, full, "asked"), time.Time{}, contracts.Interrupt{InterruptID: "g1", Code: "AAA"})
	decide(t, full, "g1")
	came := map[string]bool{} // the order is undefined, because the duration of parking is unknown
	for len(came) < 2 {
		select {
		case id := <-took:
			came[id] = true
			if early := time.Until(due); id == "timed" && early > 0 {
				t.Errorf("the timer came %v early", early)
			}
		case <-time.After(time.Minute):
			t.Fatalf("only %v were woken", came)
		}
	}
}

// A periodic task is executed by only one of all servers.
func TestUpkeepIsDoneOnceForAll(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	done := make(chan string, 10)
	for _, who := range []string{"one", "two", "three"} {
		working(t, open(t, url), postgres.Handlers{Upkeep: []postgres.Upkeep{
			{Name: "sweep", First: time.Millisecond, Every: time.Hour, Do: func(context.Context) error {
				done <- who
				return nil
			}},
		}})
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("nobody did it")
	}
	if diff := cmp.Diff([]string{"upkeep sweep"}, jobs(t, url)); diff != "" {
		t.Errorf("the jobs differ (-want +got):\n%s", diff)
	}
}

func TestAQueueOfANewerReleaseIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).URL(t)
	open(t, url)
	if _, err := connect(t, url).Exec(t.Context(), `INSERT INTO river_migration (line, version) VALUES ('main', 999)`); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Open(t.Context(), postgres.Config{URL: url, SealKeys: [][]byte{[]byte("the key of these tests")}})
	wantCode(t, err, contracts.CodeUnsupported)
}
