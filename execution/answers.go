package execution

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// caller is implemented by the handlers of nodes that call a capability.
type caller interface {
	// broken handles a reply that leaves the outcome unknown.
	broken(t *activation, r Reply)
}

// beginAttempt counts an attempt. Polling accepted work is not an attempt.
func beginAttempt(t *activation) {
	if t.row.Operation == "" || t.row.AttemptAt.IsZero() {
		t.row.AttemptAt = t.now()
		t.row.Attempts++
	}
}

func newCall(t *activation, entry *contracts.CapabilityEntry, params map[string]any) Call {
	plan := &t.run.Run.Plan
	return Call{
		Entry: entry, Parameters: params,
		Context: contracts.ExecuteContext{
			RunID: t.run.Run.ID, NodeID: t.n.ID(), Attempt: max(t.row.Attempts, 1),
			TimeoutMS: entry.Policy.TimeoutMS, Phase: t.n.Spec.Phase, Instance: instanceOf(t, entry),
			CapabilityDigest: entry.Digest, Principal: plan.Owner.In(entry.Domain),
		},
		Timeout: min(entry.Policy.Timeout(), contracts.MaxExchange),
	}
}

// instanceOf returns the node's instance for its own domain, else the plan's instance for the other
// domain.
func instanceOf(t *activation, entry *contracts.CapabilityEntry) string {
	if t.n.entry != nil && t.n.entry.Domain == entry.Domain && t.n.Spec.Instance != "" {
		return t.n.Spec.Instance
	}
	return t.run.Run.Plan.Instances[entry.Domain]
}

// exchangeTime returns what is left of the attempt's timeout, at most the limit of one exchange.
func exchangeTime(t *activation) time.Duration {
	left := t.row.AttemptAt.Add(t.n.policy.Timeout()).Sub(t.now())
	return min(max(left, 0), contracts.MaxExchange)
}

func callStart(attempt int) contracts.Event {
	return contracts.Event{Type: contracts.EventToolCallStart, Status: "attempt " + strconv.Itoa(attempt)}
}

func callEnd(d completion) contracts.Event {
	e := contracts.Event{
		Type: contracts.EventToolCallEnd, Status: string(d.reply.Kind), DurationMS: d.tookMS, Summary: d.reply.Message,
	}
	if d.reply.Kind == ReplyResult {
		e.Summary = d.reply.Result.Summary
	}
	return e
}

// leaveToNextOwner resets a call that the stop cancelled, so that the next owner repeats it.
func leaveToNextOwner(t *activation, done task) {
	switch done {
	case taskCall:
		t.row.Attempts, t.row.AttemptAt = max(t.row.Attempts-1, 0), noTime
	case taskReconcile, taskVerify:
		t.row.Tries = max(t.row.Tries-1, 0)
	case taskRefresh, taskModel, taskReplan:
	}
	t.again()
}

// poll schedules the next poll of accepted work, within the timeout of the attempt.
func poll(t *activation, k caller, r Reply) {
	t.row.Operation, t.row.WaitingSince = r.Operation, noTime
	next := t.now().Add(min(max(cmp.Or(r.RetryAfter, time.Second), firstBackoff), contracts.MaxExchange))
	if next.After(t.row.AttemptAt.Add(t.n.policy.Timeout())) {
		t.row.Operation = ""
		k.broken(t, Reply{Kind: ReplyBroken, Timeout: true, Message: "the accepted work did not end within timeout_ms"})
		return
	}
	waitsFor := "the domain's accepted work"
	if r.Progress != nil {
		if said := t.masked(r.Progress.String()); said != t.row.Progress {
			t.row.Progress = said
			t.emit(contracts.Event{Type: contracts.EventProgress, Summary: said})
		}
	}
	if t.row.Progress != "" {
		waitsFor += ", " + t.row.Progress
	}
	t.queue(waitsFor, next)
}

// busy waits as long as the domain asks; the attempt does not count.
func busy(t *activation, k caller, r Reply) {
	if t.row.Operation != "" {
		poll(t, k, Reply{Operation: t.row.Operation, RetryAfter: r.RetryAfter})
		return
	}
	t.row.Attempts = max(t.row.Attempts-1, 0)
	t.row.AttemptAt = noTime
	waited := time.Duration(0) // attempts at a busy domain are not counted, so the wait grows with the time
	if !t.row.WaitingSince.IsZero() {
		waited = t.now().Sub(t.row.WaitingSince)
	}
	wait := jittered(min(max(waited, firstBackoff), maxBackoff))
	if r.RetryAfter > 0 {
		wait = min(max(r.RetryAfter, firstBackoff), time.Hour)
	}
	t.queue(cmp.Or(r.Message, "the domain is busy"), t.now().Add(wait))
}

// retryNotSent retries for every kind of idempotency, because nothing was sent.
func retryNotSent(t *activation, r Reply) bool {
	return retry(t, r, contracts.RepeatableAttempts)
}

// retry schedules another attempt after a back-off. It reports false if no attempts or no time are
// left. A call has at least the given number of attempts.
func retry(t *activation, r Reply, least int) bool {
	if t.row.Attempts >= max(t.n.policy.Attempts(), least) || !mayTryAgain(t) {
		return false
	}
	retryLater(t, r)
	return true
}

func retryLater(t *activation, r Reply) {
	t.row.AttemptAt = noTime
	wait := max(backoff(t.row.Attempts), min(r.RetryAfter, time.Hour))
	t.queue(cmp.Or(r.Message, "the next attempt"), t.now().Add(wait))
}

const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// backoff doubles from 0.2 s to at most 30 s, with jitter.
func backoff(attempt int) time.Duration {
	d := maxBackoff
	if shift := max(attempt-1, 0); shift < 8 {
		d = min(firstBackoff<<shift, maxBackoff)
	}
	return jittered(d)
}

// jittered returns a random duration in the upper half of d.
func jittered(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1) //nolint:gosec // jitter, not a secret
}

// storeContent stores the parts of a result that are kept outside the row: raw output expires,
// artifacts are stored once by their hash.
func storeContent(t *activation, r contracts.ToolResult) {
	runID := t.run.Run.ID
	t.row.Result = &Result{Summary: t.masked(r.Summary), Facts: r.Facts}
	t.row.Operation, t.row.Error = "", nil
	var kept runstate.ContentStored
	for name, body := range r.Artifacts {
		canonical, err := contracts.CanonicalBytes(body)
		if err != nil {
			continue // the adapter has already decoded it
		}
		sha := contracts.HashBytes(canonical)
		kept.Blobs = append(kept.Blobs, Blob{SHA256: sha, Kind: BlobArtifact, RunID: runID, Body: canonical})
		if t.row.Result.Artifacts == nil {
			t.row.Result.Artifacts = contracts.ArtifactRefs{}
		}
		t.row.Result.Artifacts[name] = "sha256:" + sha
	}
	slices.SortFunc(kept.Blobs, func(a, b Blob) int { return cmp.Compare(a.SHA256, b.SHA256) })
	if !r.Data.IsZero() && t.env().keepData {
		kept.Data = []NodeData{{
			RunID: runID, NodeID: t.n.ID(), Body: r.Data.Reveal(), ExpiresAt: t.now().Add(contracts.DataTTL),
		}}
	}
	if len(kept.Blobs)+len(kept.Data) > 0 {
		t.take(kept)
	}
}

// recheck prepares a call again with the current declaration, after a 404 or 412.
func recheck(t *activation) {
	if !t.row.Rechecked {
		t.row.Attempts, t.row.Step = max(t.row.Attempts-1, 0), runstate.StepNone
		if t.n.Intent != nil {
			t.row.Step = runstate.StepApproved
		}
	}
	refetch(t)
}

// refetch fetches the manifest again, once: another server may have a newer one. The second time it
// asks a person.
func refetch(t *activation) {
	if t.row.Rechecked {
		askAboutChange(t)
		return
	}
	t.row.Rechecked = true
	t.running()
	t.calls.refresh(t.n)
}
