package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/sqlite"
)

// bundle is a store whose writer can be blocked, so that writes in between are gathered in one
// batch.
type bundle struct {
	*store

	path  string
	lease execution.Lease
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{path: filepath.Join(t.TempDir(), "manifold.db")}
	s, err := openAll(t.Context(), sqlite.Config{Path: b.path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	b.store = s
	b.lease = create(t, s, "r1", execution.Transition{Gates: []contracts.Interrupt{{InterruptID: "g1", Code: "AAA"}}})
	return b
}

// holdUp blocks the writer until release is called.
func (b *bundle) holdUp(t *testing.T) (release func()) {
	t.Helper()
	busy, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		var once sync.Once // a batch may be repeated
		done <- b.During(ctx, func() {
			once.Do(func() {
				close(busy)
				<-free
			})
		})
	}()
	<-busy
	return func() {
		close(free)
		if err := <-done; err != nil {
			t.Errorf("the write that held up the others: %v", err)
		}
	}
}

// later starts a commit and returns its result by a channel.
func (b *bundle) later(ctx context.Context, tr execution.Transition) <-chan error {
	answer := make(chan error, 1)
	if tr.Lease.RunID == "" {
		tr.Lease = b.lease
	}
	go func() {
		_, err := b.Commit(ctx, tr)
		answer <- err
	}()
	return answer
}

// nodes returns the ids of the stored nodes.
func nodes(t *testing.T, s *store) string {
	t.Helper()
	got, err := s.LoadRun(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, n := range got.Nodes {
		ids = append(ids, n.NodeID)
	}
	return strings.Join(ids, " ")
}

// queued waits until n writes are queued.
func (b *bundle) queued(t *testing.T, n int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for b.Queued() < n {
		if now := <-tick.C; now.After(deadline) {
			t.Fatalf("%d writes are queued, want %d", b.Queued(), n)
		}
	}
}

func TestGroupCommit(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, b *bundle){
		"writes that gather meanwhile are all answered":                        gathered,
		"a refused write harms only itself":                                    refusedAlone,
		"a write whose context ended before it began is not done":              endedBefore,
		"a write that began is answered by what became of it":                  endedAfter,
		"reads go on while a write is under way":                               readsGoOn,
		"Close commits what was accepted, and what comes later is refused":     closeFlushes,
		"a full disk is unavailable, and harms only the write that is too big": fullDisk,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t))
		})
	}
}

func gathered(t *testing.T, b *bundle) {
	t.Helper()
	release := b.holdUp(t)
	var answers []<-chan error
	for i := range 20 {
		answers = append(answers, b.later(t.Context(), execution.Transition{Nodes: node(fmt.Sprintf("n%d", i))}))
	}
	b.queued(t, 20)
	if got := nodes(t, b.store); got != "" {
		t.Errorf("uncommitted writes are seen: %s", got)
	}
	release()
	for _, answer := range answers {
		if err := <-answer; err != nil {
			t.Error(err)
		}
	}
	if got := strings.Fields(nodes(t, b.store)); len(got) != 20 {
		t.Errorf("%d nodes are stored", len(got))
	}
}

func refusedAlone(t *testing.T, b *bundle) {
	t.Helper()
	release := b.holdUp(t)
	good := b.later(t.Context(), execution.Transition{Nodes: node("n1")})
	b.queued(t, 1)
	stranger := b.later(t.Context(), execution.Transition{Lease: execution.Lease{RunID: "r1", Owner: "one", Epoch: 7}, Nodes: node("n2")})
	b.queued(t, 2)
	halfDone := b.later(t.Context(), execution.Transition{Nodes: node("n3"), Consume: []string{"no such nonce"}})
	b.queued(t, 3)
	last := b.later(t.Context(), execution.Transition{Nodes: node("n4")})
	b.queued(t, 4)
	release()
	wantCode(t, <-good, "")
	wantCode(t, <-stranger, contracts.CodeLeaseLost)
	wantCode(t, <-halfDone, contracts.CodeConflict)
	wantCode(t, <-last, "")
	if got := nodes(t, b.store); got != "n1 n4" {
		t.Errorf("stored: %s; want n1 and n4", got)
	}
}

func endedBefore(t *testing.T, b *bundle) {
	t.Helper()
	release := b.holdUp(t)
	ctx, cancel := context.WithCancel(t.Context())
	queued := b.later(ctx, execution.Transition{Nodes: node("n1")})
	b.queued(t, 1)
	cancel()
	err := <-queued // at once, although the writer is busy
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wantCode(t, err, contracts.CodeUnavailable)
	late := b.later(ctx, execution.Transition{Nodes: node("n2")})
	wantCode(t, <-late, contracts.CodeUnavailable)
	release()
	if err := <-b.later(t.Context(), execution.Transition{Nodes: node("n3")}); err != nil {
		t.Fatal(err)
	}
	if got := nodes(t, b.store); got != "n3" {
		t.Errorf("stored: %s; want n3 only", got)
	}
}

func endedAfter(t *testing.T, b *bundle) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if err := b.During(ctx, cancel); err != nil {
		t.Errorf("got %v; the write was done and must be told", err)
	}
}

func readsGoOn(t *testing.T, b *bundle) {
	t.Helper()
	release := b.holdUp(t)
	defer release()
	if _, err := b.ReadSignals(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // an aborted read leaves its connection usable
		if _, err := b.LoadRun(ctx, "r1"); err == nil {
			t.Error("a read without a living context succeeded")
		}
	}
	if _, err := b.LoadRun(t.Context(), "r1"); err != nil {
		t.Error(err)
	}
}

func closeFlushes(t *testing.T, b *bundle) {
	t.Helper()
	release := b.holdUp(t)
	var answers []<-chan error
	for i := range 10 {
		answers = append(answers, b.later(t.Context(), execution.Transition{Nodes: node(fmt.Sprintf("n%d", i))}))
	}
	b.queued(t, 10)
	closed := make(chan error)
	go func() { closed <- b.Close() }()
	release()
	for _, answer := range answers {
		if err := <-answer; err != nil {
			t.Errorf("a write that was accepted before Close: %v", err)
		}
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	_, err := b.Commit(t.Context(), execution.Transition{Lease: b.lease})
	wantCode(t, err, contracts.CodeUnavailable)
	_, err = b.LoadRun(t.Context(), "r1")
	wantCode(t, err, contracts.CodeUnavailable)
	if got := strings.Fields(nodes(t, open(t, b.path))); len(got) != 10 {
		t.Errorf("%d nodes are stored after reopening, want 10", len(got))
	}
}

func fullDisk(t *testing.T, b *bundle) {
	t.Helper()
	if err := b.LimitPages(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	release := b.holdUp(t)
	small := b.later(t.Context(), execution.Transition{Nodes: node("n1")})
	b.queued(t, 1)
	big := b.later(t.Context(), execution.Transition{Nodes: node("n2"), Blobs: []execution.Blob{{SHA256: "big", Body: make([]byte, 1<<20)}}})
	b.queued(t, 2)
	last := b.later(t.Context(), execution.Transition{Nodes: node("n3")})
	b.queued(t, 3)
	release()
	wantCode(t, <-small, "")
	wantCode(t, <-big, contracts.CodeUnavailable)
	wantCode(t, <-last, "")
	if got := nodes(t, b.store); got != "n1 n3" {
		t.Errorf("stored: %s; want n1 and n3", got)
	}
	if err := b.LimitPages(t.Context(), 10000); err != nil {
		t.Fatal(err)
	}
	if err := <-b.later(t.Context(), execution.Transition{Nodes: node("n4"), Blobs: []execution.Blob{{SHA256: "big", Body: make([]byte, 1<<20)}}}); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
}
