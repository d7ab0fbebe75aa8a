package domainkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// leaseGrace is added to the timeout of an execution to get its lease. A live process records the
// end within it, or finds its lease lost.
const leaseGrace = 5 * time.Second

// lookEvery is the interval at which the record of another process is read.
const lookEvery = 200 * time.Millisecond

// keyed executes a job once per key, or answers from the record of an earlier execution.
func (x *executor) keyed(ctx context.Context, j *job) reply {
	x.sweep(ctx)
	own, err := x.newRecord(j)
	if err != nil {
		return x.storeDown(ctx, err)
	}
	giveUp := time.NewTimer(x.config.AcceptAfter)
	defer giveUp.Stop()
	for {
		x.lease(j, &own)
		standing, claimed, err := x.config.Store.Claim(ctx, own, x.config.Now())
		switch {
		case err != nil:
			return x.storeDown(ctx, err)
		case claimed:
			return x.begin(ctx, j, own, false)
		case standing.Fingerprint != own.Fingerprint:
			return refused(http.StatusConflict, contracts.ErrConflict, "this idempotency key was used with other parameters")
		}
		out, ended, err := x.answerFrom(ctx, j, standing, own)
		if err != nil {
			return x.storeDown(ctx, err)
		}
		if ended {
			return out
		}
		select {
		case <-time.After(lookEvery):
		case <-giveUp.C:
			return x.accepted(standing.Operation, nil)
		case <-ctx.Done():
			return refused(http.StatusServiceUnavailable, contracts.ErrTimeout, "the caller has gone")
		}
	}
}

func (x *executor) newRecord(j *job) (Record, error) {
	fingerprint, err := contracts.Hash(struct {
		Capability string          `json:"capability"`
		Instance   string          `json:"instance"`
		Parameters json.RawMessage `json:"parameters"`

		Input *contracts.GivenInput `json:"input,omitempty"`
	}{j.capability.name, j.call.Instance, j.parameters, j.call.Input})
	if err != nil {
		return Record{}, fmt.Errorf("fingerprint: %w", err)
	}
	return Record{
		ID: x.keyID(j.capability, j.call), Fingerprint: fingerprint, State: KeyRunning,
		Token: newToken(), Operation: newToken(),
	}, nil
}

// lease gives the record a lease for one execution from now on. A record never expires during an
// execution, however short the window.
func (x *executor) lease(j *job, own *Record) {
	now := x.config.Now()
	own.LeaseUntil = now.Add(j.capability.timeoutFor(j.call) + leaseGrace)
	own.ExpiresAt = now.Add(j.capability.window)
	if own.ExpiresAt.Before(own.LeaseUntil) {
		own.ExpiresAt = own.LeaseUntil
	}
}

// keyID scopes a key by domain and capability: several domains may share one store.
func (x *executor) keyID(c *served, call Call) KeyID {
	return KeyID{Scope: x.config.Domain + "." + c.name, Key: call.IdempotencyKey}
}

// answerFrom answers from the record of an earlier execution, if possible.
func (x *executor) answerFrom(ctx context.Context, j *job, existing, own Record) (out reply, ended bool, err error) {
	if existing.State == KeyFinal {
		return replay(existing), true, nil
	}
	if w, here := x.running.underWay(existing.Operation); here {
		return x.await(ctx, w, x.config.AcceptAfter), true, nil
	}
	if existing.State == KeyRunning && existing.LeaseUntil.After(x.config.Now()) {
		return reply{}, false, nil
	}
	stolen, err := x.config.Store.Steal(ctx, own, existing.Token, x.config.Now())
	if err != nil || !stolen {
		return reply{}, false, err
	}
	return x.begin(ctx, j, own, true), true, nil
}

func replay(r Record) reply {
	return reply{status: http.StatusOK, body: json.RawMessage(r.Result)}
}

// begin executes a job under a record that this call holds. After a steal it first resolves the
// outcome of the earlier execution.
func (x *executor) begin(ctx context.Context, j *job, own Record, stolen bool) reply {
	ifNotStarted := Settlement{Released: true}
	if stolen {
		ifNotStarted = x.doubtful(j)
	}
	if busy := x.admit(j.capability); busy != nil {
		x.settle(ctx, own, ifNotStarted)
		return *busy
	}
	w, ok := x.launch(ctx, j, own.Operation, func(ctx context.Context) answer {
		out, settled := answer{}, false
		if stolen {
			out, settled = x.resolve(ctx, j)
		}
		if !settled {
			out = x.run(ctx, j)
		}
		x.settle(ctx, own, x.settlement(j, out))
		return out
	})
	if !ok {
		x.settle(ctx, own, ifNotStarted)
		return x.busy(0, "the service is stopping")
	}
	return x.await(ctx, w, x.config.AcceptAfter)
}

// resolve asks the capability's Resolve for the outcome of an interrupted execution. It reports
// settled unless the earlier execution had no effect, so that the handler may be called again.
func (x *executor) resolve(ctx context.Context, j *job) (out answer, settled bool) {
	c := j.capability
	defer func() {
		if p := recover(); p != nil {
			out, settled = x.unknown(ctx, c, fmt.Errorf("panic: %v", p)), true
		}
	}()
	if c.resolve == nil {
		return x.unknown(ctx, c, errors.New("the capability has no Resolve")), true
	}
	found, err := c.resolve(ctx, j.call, j.complete)
	switch {
	case err != nil:
		return x.unknown(ctx, c, err), true
	case found.Effect == contracts.EffectNone:
		return answer{}, false
	case found.Effect != contracts.EffectApplied:
		return x.unknown(ctx, c, errors.New("the effect is not known")), true
	}
	if found.Facts == nil {
		found.Facts = struct{}{}
	}
	result, err := resultOf(Result[any]{Facts: found.Facts, Summary: found.Summary})
	if err != nil {
		return x.unknown(ctx, c, err), true
	}
	return x.checked(ctx, c, result), true
}

func (x *executor) unknown(ctx context.Context, c *served, why error) answer {
	x.log.WarnContext(ctx, "effect of an earlier execution unknown", slog.String("capability", c.name), slog.Any("error", why))
	failure := Failf(contracts.ErrInternal, contracts.EffectUnknown,
		"an earlier execution of %s with this key was cut off, and it is not known whether it took effect", c.name)
	return answer{status: http.StatusOK, result: contracts.ToolResult{Summary: contracts.CleanSummary(failure.Message), Error: failure}}
}

// settlement returns what an answer means for its key: a final result is stored, a retryable
// refusal without effect releases the key, anything else leaves it in doubt.
func (x *executor) settlement(j *job, out answer) Settlement {
	failure := out.result.Error
	if !out.result.OK {
		effect := failure.EffectOf()
		switch {
		case effect == contracts.EffectUnknown:
			return x.doubtful(j)
		case effect == contracts.EffectNone && (failure.Retryable || out.status != http.StatusOK):
			return Settlement{Released: true}
		}
	}
	raw, err := json.Marshal(out.result)
	if err != nil {
		return x.doubtful(j)
	}
	return Settlement{State: KeyFinal, Result: raw, ExpiresAt: x.config.Now().Add(j.capability.window)}
}

func (x *executor) doubtful(j *job) Settlement {
	return Settlement{State: KeyDoubtful, ExpiresAt: x.config.Now().Add(j.capability.window)}
}

// settle records the end of an execution. It has a timeout of its own, because it must succeed even
// if the request or the execution has ended. If it fails, the lease expires and the next retry
// resolves the outcome.
func (x *executor) settle(ctx context.Context, own Record, end Settlement) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseGrace)
	defer cancel()
	if err := x.config.Store.Settle(ctx, own.ID, own.Token, end); err != nil {
		x.log.ErrorContext(ctx, "record the end of an execution", slog.String("scope", own.ID.Scope), slog.Any("error", err))
	}
}

// pollKey answers a poll for work of another process.
func (x *executor) pollKey(ctx context.Context, c *served, call Call) reply {
	patience := time.NewTimer(min(pollPatience, x.config.AcceptAfter))
	defer patience.Stop()
	for {
		r, found, err := x.config.Store.Find(ctx, x.keyID(c, call), x.config.Now())
		switch {
		case err != nil:
			return x.storeDown(ctx, err)
		case !found || r.Operation != call.Operation:
			return noOperation(call.Operation)
		case r.State == KeyFinal:
			return replay(r)
		case r.State == KeyDoubtful || !r.LeaseUntil.After(x.config.Now()):
			return noOperation(call.Operation)
		}
		select {
		case <-time.After(lookEvery):
		case <-patience.C:
			return x.accepted(call.Operation, nil)
		case <-ctx.Done():
			return refused(http.StatusServiceUnavailable, contracts.ErrTimeout, "the caller has gone")
		}
	}
}

// storeDown is the answer if the store of keys fails: nothing was executed.
func (x *executor) storeDown(ctx context.Context, err error) reply {
	x.log.ErrorContext(ctx, "idempotency store", slog.Any("error", err))
	failure := Retryf(contracts.ErrUpstream, "the store of idempotency keys is not available")
	return reply{status: http.StatusOK, body: contracts.ToolResult{Summary: failure.Message, Error: failure}}
}

const sweepEvery = time.Minute

// sweep removes expired keys, at most once per sweepEvery.
func (x *executor) sweep(ctx context.Context) {
	now := x.config.Now()
	x.mu.Lock()
	due := now.Sub(x.sweptAt) >= sweepEvery
	if due {
		x.sweptAt = now
	}
	x.mu.Unlock()
	if !due {
		return
	}
	if _, err := x.config.Store.Sweep(ctx, now); err != nil {
		x.log.WarnContext(ctx, "sweep idempotency keys", slog.Any("error", err))
	}
}
