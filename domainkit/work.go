package domainkit

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// work is one execution. It outlives the request that started it.
type work struct {
	operation  string
	capability *served
	cancel     context.CancelFunc
	// answer is set before done is closed.
	answer answer
	done   chan struct{}
	// late is closed if the handler has not returned by its timeout plus linger.
	late chan struct{}
	// news holds a value if there is progress that no caller has seen.
	news chan struct{}

	// The fields below are guarded by operations.mu.
	accepted bool // a caller was given the operation id
	ended    time.Time
	progress *contracts.Progress
}

// linger is how long a handler whose context has ended may take to return a result of its own.
const linger = 250 * time.Millisecond

// newToken returns an unguessable id.
func newToken() string { return rand.Text() }

// operations holds the running executions, and for OperationTTL the ended ones that a caller may
// poll.
type operations struct {
	mu     sync.Mutex // guards the fields below
	byID   map[string]*work
	closed bool
	// active counts running executions. It must not be incremented once closed is set.
	active sync.WaitGroup
}

func newOperations() *operations { return &operations{byID: map[string]*work{}} }

func (o *operations) begin(w *work) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.byID[w.operation] = w
	o.active.Add(1)
	return true
}

// maxKept bounds the ended executions that are kept.
const maxKept = 256

// end marks work as ended and removes it unless its result can be polled.
func (o *operations) end(w *work, now time.Time, ttl time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.ended = now
	close(w.done)
	if !w.accepted {
		delete(o.byID, w.operation)
	}
	o.collect(now, ttl)
	o.active.Done()
}

// collect removes ended work that has expired, and the oldest beyond maxKept. The caller holds mu.
func (o *operations) collect(now time.Time, ttl time.Duration) {
	var kept []*work
	for id, w := range o.byID {
		switch {
		case w.ended.IsZero():
		case now.Sub(w.ended) > ttl:
			delete(o.byID, id)
		default:
			kept = append(kept, w)
		}
	}
	slices.SortFunc(kept, func(a, b *work) int { return a.ended.Compare(b.ended) })
	for _, w := range kept[:max(0, len(kept)-maxKept)] {
		delete(o.byID, w.operation)
	}
}

// find returns the work of an operation unless it has expired.
func (o *operations) find(operation string, c *served, now time.Time, ttl time.Duration) (*work, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w, ok := o.byID[operation]
	if !ok || w.capability != c || !w.ended.IsZero() && now.Sub(w.ended) > ttl {
		return nil, false
	}
	return w, true
}

// underWay returns work that has not ended.
func (o *operations) underWay(operation string) (*work, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w, ok := o.byID[operation]
	return w, ok && w.ended.IsZero()
}

// accept marks work whose operation id is returned to a caller, and returns its progress. It also
// keeps work that has just ended.
func (o *operations) accept(w *work) *contracts.Progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.accepted = true
	o.byID[w.operation] = w
	return w.progress
}

// abandon cancels work that nobody waits for and nobody can poll.
func (o *operations) abandon(w *work) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !w.accepted {
		w.cancel()
	}
}

// close refuses new work from now on.
func (o *operations) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// cancelAll cancels the contexts of all executions.
func (o *operations) cancelAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.byID {
		w.cancel()
	}
}

// launch starts an execution whose slots are acquired, and releases them when it ends. It returns
// false if the service is stopping. The work keeps the values of ctx but not its cancellation: a
// disconnecting caller must not interrupt a write, and a 202 continues after its request.
func (x *executor) launch(ctx context.Context, j *job, operation string, do func(context.Context) answer) (*work, bool) {
	limit := j.capability.timeoutFor(j.call)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	w := &work{
		operation: operation, capability: j.capability, cancel: cancel,
		done: make(chan struct{}), late: make(chan struct{}), news: make(chan struct{}, 1),
	}
	ctx = context.WithValue(ctx, reportKey{}, func(p contracts.Progress) { x.running.report(w, p) })
	if !x.running.begin(w) {
		cancel()
		x.leave(j.capability)
		return nil, false
	}
	alarm := time.AfterFunc(limit+linger, func() { close(w.late) })
	go func() {
		w.answer = do(ctx)
		alarm.Stop()
		cancel()
		x.leave(j.capability)
		x.running.end(w, x.config.Now(), x.config.OperationTTL)
	}()
	return w, true
}

// timeoutFor returns the shorter of the caller's and the declared timeout.
func (c *served) timeoutFor(call Call) time.Duration {
	asked := time.Duration(call.TimeoutMS) * time.Millisecond
	return min(cmp.Or(asked, c.timeout), c.timeout)
}

// newsAfter is how long a request is held before progress ends it with a 202.
const newsAfter = 2 * time.Second

// await waits for work. It answers 202 after patience, or earlier if there is progress after
// newsAfter.
func (x *executor) await(ctx context.Context, w *work, patience time.Duration) reply {
	timer, early := time.NewTimer(patience), time.NewTimer(min(patience, newsAfter))
	defer timer.Stop()
	defer early.Stop()
	var news chan struct{}
	for {
		select {
		case <-w.done:
			return reply{status: w.answer.status, body: w.answer.result, retryAfter: w.answer.retryAfter}
		case <-w.late:
			return timedOut(w.capability)
		case <-early.C:
			news = w.news
		case <-news:
			return x.accepted(w.operation, x.running.accept(w))
		case <-timer.C:
			return x.accepted(w.operation, x.running.accept(w))
		case <-ctx.Done():
			if !w.capability.writes {
				x.running.abandon(w)
			}
			return refused(http.StatusServiceUnavailable, contracts.ErrTimeout, "the caller has gone")
		}
	}
}

type reportKey struct{}

// Report publishes the progress of the execution whose handler got ctx. Callers that poll see the
// latest report. The message is shortened to a summary. Outside of an execution it does nothing.
func Report(ctx context.Context, p contracts.Progress) {
	if report, ok := ctx.Value(reportKey{}).(func(contracts.Progress)); ok {
		p.Message = contracts.CleanSummary(p.Message)
		report(p)
	}
}

func (o *operations) report(w *work, p contracts.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.progress = &p
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (x *executor) accepted(operation string, progress *contracts.Progress) reply {
	return reply{
		status: http.StatusAccepted, retryAfter: x.config.RetryAfter,
		body: contracts.Accepted{Operation: operation, Progress: progress},
	}
}

// timedOut is the answer if a handler is still running after its context has ended.
func timedOut(c *served) reply {
	failure := Failf(contracts.ErrTimeout, contracts.EffectUnknown, "%s was not done in time", c.name)
	if !c.writes {
		failure.Effect, failure.Retryable = contracts.EffectNone, true
	}
	return reply{status: http.StatusOK, body: contracts.ToolResult{
		Summary: contracts.CleanSummary(failure.Message), Error: failure,
	}}
}

// pollPatience bounds how long a poll request is held open.
const pollPatience = 5 * time.Second

// poll answers for work that was accepted before. It never starts an execution.
func (x *executor) poll(ctx context.Context, c *served, call Call) reply {
	if w, ok := x.running.find(call.Operation, c, x.config.Now(), x.config.OperationTTL); ok {
		return x.await(ctx, w, min(pollPatience, x.config.AcceptAfter))
	}
	if c.keyed && call.IdempotencyKey != "" {
		return x.pollKey(ctx, c, call)
	}
	return noOperation(call.Operation)
}

func noOperation(operation string) reply {
	return refused(http.StatusGone, contracts.ErrNotFound, "there is no operation %q", operation)
}

// cancelGrace is how long cancelled work may take to record its end.
const cancelGrace = 2 * time.Second

// stop refuses new work and waits for running work. When ctx ends it cancels the work.
func (o *operations) stop(ctx context.Context) error {
	o.close()
	idle := make(chan struct{})
	go func() {
		o.active.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	o.cancelAll()
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case <-idle:
		return fmt.Errorf("stop: running work was cancelled: %w", ctx.Err())
	case <-timer.C:
		return fmt.Errorf("stop: running work did not end when cancelled: %w", ctx.Err())
	}
}
