package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/manifold-run/manifold/contracts"
)

// Outside stores roots where nobody who can write to the database can change them.
type Outside interface {
	Publish(ctx context.Context, root Root) error
	// Last returns the newest root that it can read back; the zero Root if there is none.
	Last(ctx context.Context) (Root, error)
}

// PublisherConfig configures a Publisher. Signers and Known are required.
type PublisherConfig struct {
	// Every is the interval between roots, if anything has changed [1 min].
	Every time.Duration
	// Signers sign the roots, the newest key first. Known are the trusted keys, including replaced
	// ones.
	Signers []note.Signer
	Known   note.Verifiers
	// Outside receives the roots; Start compares the log with them.
	Outside []Outside
	// Restored allows the start although the log is older than the outside copy. The copy then
	// continues with the restored log.
	Restored bool
	Now      func() time.Time
	Logger   *slog.Logger
}

// Publisher periodically signs a root over all chains and seals, between Start and Stop, in its own
// goroutine. Only one replica runs it.
type Publisher struct {
	cfg PublisherConfig
	log Log

	stop context.CancelFunc
	done chan struct{}

	mu sync.Mutex // guards the fields below, and one publication at a time
	// newest is the largest head that this process has seen, whatever the database returns later.
	newest Head
}

// NewPublisher returns the publisher of a log.
func NewPublisher(cfg PublisherConfig, log Log) (*Publisher, error) {
	if log == nil || len(cfg.Signers) == 0 || cfg.Known == nil {
		return nil, errors.New("audit: a publisher needs a log, a signer and the known keys")
	}
	cfg.Every = cmp.Or(cfg.Every, time.Minute)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Publisher{cfg: cfg, log: log}, nil
}

// Start compares the log with the outside copies, publishes once, and then publishes periodically.
// It returns conflict if the log does not extend a copy, unless cfg.Restored is set.
func (p *Publisher) Start(ctx context.Context) error {
	if p.stop != nil {
		return nil
	}
	if err := p.Compare(ctx); err != nil {
		return err
	}
	if err := p.Publish(ctx); err != nil {
		return err
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx)) // outlives the context of this call
	p.stop, p.done = stop, make(chan struct{})
	go p.loop(work)
	return nil
}

// Compare compares the log with the outside copies. It returns conflict if the log does not extend
// a copy, unless cfg.Restored is set.
func (p *Publisher) Compare(ctx context.Context) error {
	for _, o := range p.cfg.Outside {
		switch err := p.compare(ctx, o); {
		case err == nil:
		case p.cfg.Restored && contracts.CodeOf(err) == contracts.CodeConflict:
			p.cfg.Logger.WarnContext(ctx, "the log is not the one whose roots were published; it goes on as it is", slog.Any("error", err))
		default:
			return err
		}
	}
	return nil
}

// Stop stops the loop and publishes once more. That may take half of the time left in ctx; what
// remains is published after the next start.
func (p *Publisher) Stop(ctx context.Context) error {
	if p.stop == nil {
		return nil
	}
	p.stop()
	select {
	case <-p.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if until, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(until)/2)
		defer cancel()
	}
	err := p.Publish(ctx)
	if ctx.Err() == nil {
		return err
	}
	p.cfg.Logger.WarnContext(ctx, "not all that has changed is in the log yet; the next server goes on with it", slog.Any("error", err))
	return nil
}

func (p *Publisher) loop(ctx context.Context) {
	defer close(p.done)
	tick := time.NewTicker(p.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := p.Publish(ctx); err != nil && ctx.Err() == nil {
				p.cfg.Logger.ErrorContext(ctx, "no root was published; the next time has it", slog.Any("error", err))
			}
		}
	}
}

// growBy is the maximum number of leaves appended at once.
const growBy = 1000

// lastWord is the timeout for sending a root outside.
const lastWord = 10 * time.Second

// grownMeanwhile is how often Publish retries after a conflict: a commit that was interrupted when
// the loop stopped may still have succeeded.
const grownMeanwhile = 2

// Publish appends the changed scopes to the log and sends the new root outside. If nothing has
// changed, it does nothing.
func (p *Publisher) Publish(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var newest Root
	var failed error
	for more, conflicts := true, 0; more; {
		root, n, err := p.grow(ctx)
		if root.Size > 0 {
			newest = root
		}
		if contracts.CodeOf(err) == contracts.CodeConflict {
			conflicts++
		}
		failed, more = err, err == nil && n >= growBy || contracts.CodeOf(err) == contracts.CodeConflict && conflicts <= grownMeanwhile
	}
	if newest.Size == 0 {
		return failed
	}
	// What was added to the log is sent outside even if ctx has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	errs := []error{failed}
	for _, o := range p.cfg.Outside {
		errs = append(errs, o.Publish(ctx, newest))
	}
	return errors.Join(errs...)
}

// grow appends at most growBy leaves, and returns how many.
func (p *Publisher) grow(ctx context.Context) (Root, int, error) {
	leaves, err := p.log.Unlogged(ctx, growBy)
	if err != nil || len(leaves) == 0 {
		return Root{}, 0, err
	}
	last, err := p.log.LastRoot(ctx)
	if err != nil {
		return Root{}, 0, err
	}
	reader := hashReader(ctx, p.log)
	fresh := map[int64]tlog.Hash{}
	both := tlog.HashReaderFunc(func(places []int64) ([]tlog.Hash, error) { return readBoth(places, fresh, reader) })
	var hashes [][]byte
	first := tlog.StoredHashCount(last.Size)
	for i, l := range leaves {
		record, err := contracts.Canonical(l)
		if err != nil {
			return Root{}, 0, err
		}
		added, err := tlog.StoredHashes(last.Size+int64(i), record, both)
		if err != nil {
			return Root{}, 0, fmt.Errorf("append to the log: %w", err)
		}
		for _, h := range added {
			fresh[first+int64(len(hashes))] = h
			hashes = append(hashes, h[:])
		}
	}
	head := Head{Size: last.Size + int64(len(leaves)), At: p.cfg.Now()}
	if head.Hash, err = tlog.TreeHash(head.Size, both); err != nil {
		return Root{}, 0, fmt.Errorf("hash the log: %w", err)
	}
	root, err := head.sign(p.cfg.Signers)
	if err != nil {
		return Root{}, 0, err
	}
	if err := p.log.Grow(ctx, last.Size, leaves, hashes, root); err != nil {
		return Root{}, 0, err
	}
	p.newest = head
	return root, len(leaves), nil
}

// readBoth reads hashes from those not stored yet, and else from the store.
func readBoth(places []int64, fresh map[int64]tlog.Hash, stored tlog.HashReader) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(places))
	var missing []int64
	for i, place := range places {
		h, known := fresh[place]
		if !known {
			missing = append(missing, place)
		}
		out[i] = h
	}
	if len(missing) == 0 {
		return out, nil
	}
	found, err := stored.ReadHashes(missing)
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		if _, known := fresh[place]; !known {
			out[i], found = found[0], found[1:]
		}
	}
	return out, nil
}

// hashReader reads the stored hashes of the tree.
func hashReader(ctx context.Context, log Log) tlog.HashReader {
	return tlog.HashReaderFunc(func(places []int64) ([]tlog.Hash, error) {
		bodies, err := log.HashesAt(ctx, places)
		if err != nil {
			return nil, err
		}
		if len(bodies) != len(places) {
			return nil, contracts.Errorf(contracts.CodeConflict, "hashes of the log are missing")
		}
		hashes := make([]tlog.Hash, len(bodies))
		for i, b := range bodies {
			if copy(hashes[i][:], b) != tlog.HashSize {
				return nil, contracts.Errorf(contracts.CodeConflict, "a hash of the log is cut off")
			}
		}
		return hashes, nil
	})
}

// compare checks that the log extends the root that was published.
func (p *Publisher) compare(ctx context.Context, o Outside) error {
	root, err := o.Last(ctx)
	if err != nil || root.Note == "" {
		return err
	}
	head, err := OpenRoot(root.Note, p.cfg.Known)
	if err != nil {
		return fmt.Errorf("compare the log with its copy outside: %w", err)
	}
	if head.Size > p.newest.Size {
		p.newest = head
	}
	return p.contains(ctx, head)
}

// contains checks that the log extends a head.
func (p *Publisher) contains(ctx context.Context, head Head) error {
	last, err := p.log.LastRoot(ctx)
	if err != nil {
		return err
	}
	if last.Size < head.Size {
		return contracts.Errorf(contracts.CodeConflict,
			"the log has %d leaves, and a root of %d was published at %s: this database is older than that, or was shortened; if it was restored from a backup, start once with --quarantine", last.Size, head.Size, head.At.Format(time.RFC3339))
	}
	hash, err := tlog.TreeHash(head.Size, hashReader(ctx, p.log))
	if err != nil {
		return contracts.Errorf(contracts.CodeConflict, "the log of %d leaves cannot be hashed: %w", head.Size, err)
	}
	if hash != head.Hash {
		return contracts.Errorf(contracts.CodeConflict, "the first %d leaves of the log are not those whose root was published at %s", head.Size, head.At.Format(time.RFC3339))
	}
	return nil
}

// heads returns the heads that the log must extend: the newest of this process, and the outside
// copies.
func (p *Publisher) heads(ctx context.Context) ([]Head, error) {
	p.mu.Lock()
	heads := []Head{p.newest}
	p.mu.Unlock()
	for _, o := range p.cfg.Outside {
		root, err := o.Last(ctx)
		if err != nil {
			return nil, err
		}
		if root.Note == "" {
			continue
		}
		head, err := OpenRoot(root.Note, p.cfg.Known)
		if err != nil {
			return nil, err
		}
		heads = append(heads, head)
	}
	return heads, nil
}
