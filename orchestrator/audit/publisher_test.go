package audit_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// backlog is a log with more leaves than there is time for: after the first growth it blocks until
// its context ends.
type backlog struct {
	audit.Log

	root   audit.Root
	hashes [][]byte
	leaves int // those added since the start
}

func (b *backlog) LastRoot(context.Context) (audit.Root, error) { return b.root, nil }

func (b *backlog) Unlogged(_ context.Context, limit int) ([]audit.Leaf, error) {
	leaves := make([]audit.Leaf, min(limit, b.leaves))
	for i := range leaves {
		leaves[i] = audit.Leaf{Scope: fmt.Sprint("run:r", i), Version: b.root.Size + 1}
	}
	return leaves, nil
}

func (b *backlog) Grow(ctx context.Context, _ int64, _ []audit.Leaf, hashes [][]byte, root audit.Root) error {
	if b.root.Size > 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	b.root, b.hashes = root, hashes
	return nil
}

func (b *backlog) HashesAt(_ context.Context, places []int64) ([][]byte, error) {
	all := make([][]byte, len(places))
	for i, place := range places {
		all[i] = b.hashes[place]
	}
	return all, nil
}

// board is an outside copy of the roots.
type board struct{ last audit.Root }

func (b *board) Publish(ctx context.Context, root audit.Root) error {
	b.last = root
	return ctx.Err()
}

func (b *board) Last(context.Context) (audit.Root, error) { return b.last, nil }

// TestStopDoesNotWaitForAll: the first growth is published, and the rest is left to the next start;
// neither is an error.
func TestStopDoesNotWaitForAll(t *testing.T) {
	t.Parallel()
	log, outside := &backlog{}, &board{}
	p := publisher(t, log, outside)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.leaves = 5000
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
	if outside.last.Size == 0 || outside.last != log.root {
		t.Errorf("outside is %+v, in the log %+v", outside.last, log.root)
	}
}

// publisher returns a publisher with its own key that publishes only when Publish is called.
func publisher(t *testing.T, log audit.Log, outside audit.Outside) *audit.Publisher {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "example.com/roots")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	p, err := audit.NewPublisher(audit.PublisherConfig{
		Every: time.Hour, Signers: []note.Signer{signer}, Known: note.VerifierList(verifier), Outside: []audit.Outside{outside},
	}, log)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// late is a log whose first growth becomes visible only at the second read, like an interrupted
// commit that succeeds after all.
type late struct {
	backlog

	looks int
}

func (l *late) LastRoot(context.Context) (audit.Root, error) {
	l.looks++
	if l.looks == 1 {
		return audit.Root{}, nil
	}
	return l.root, nil
}

func (l *late) Grow(_ context.Context, size int64, leaves []audit.Leaf, hashes [][]byte, root audit.Root) error {
	if size != l.root.Size {
		return contracts.Errorf(contracts.CodeConflict, "the log has %d leaves by now, not %d", l.root.Size, size)
	}
	l.root, l.hashes, l.leaves = root, append(l.hashes, hashes...), l.leaves-len(leaves)
	return nil
}

// TestALogThatHasGrownMeanwhileIsLookedAtAgain: a commit that was in progress when the server was
// stopped is no error.
func TestALogThatHasGrownMeanwhileIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	log, outside := &late{backlog: backlog{leaves: 3}, looks: 1}, &board{}
	p := publisher(t, log, outside)
	if err := p.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.leaves, log.looks = 2, 0
	if err := p.Publish(t.Context()); err != nil || outside.last.Size != 5 || outside.last != log.root {
		t.Errorf("outside is %+v, in the log %+v: %v", outside.last, log.root, err)
	}
}
