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

// leaseGrace is added to the time-out of an execution: after it, a process
// that is still alive has recorded the end or will find its lease lost.
const leaseGrace = 5 * time.Second

// lookEvery is how often the record of another process is looked at.
const lookEvery = 200 * time.Millisecond

// keyed executes a job once for its key, or answers from what is known.
func (s *Service) keyed(ctx context.Context, j *job) reply {
	s.sweep(ctx)
	own, err := s.newRecord(j)
	if err != nil {
		return s.storeDown(ctx, err)
	}
	giveUp := time.NewTimer(s.config.AcceptAfter)
	defer giveUp.Stop()
	for {
		s.lease(j, &own)
		standing, claimed, err := s.config.Store.Claim(ctx, own, s.config.Now())
		switch {
		case err != nil:
			return s.storeDown(ctx, err)
		case claimed:
			return s.begin(ctx, j, own, false)
		case standing.Fingerprint != own.Fingerprint:
			return refused(http.StatusConflict, contracts.ErrConflict, "this idempotency key was used with other parameters")
		}
		out, ended, err := s.standing(ctx, j, standing, own)
		if err != nil {
			return s.storeDown(ctx, err)
		}
		if ended {
			return out
		}
		select {
		case <-time.After(lookEvery):
		case <-giveUp.C:
			return s.accepted(standing.Operation)
		case <-ctx.Done():
			return refused(http.StatusServiceUnavailable, contracts.ErrTimeout, "the caller has gone")
		}
	}
}

func (s *Service) newRecord(j *job) (Record, error) {
	fingerprint, err := contracts.Hash(struct {
		Capability string          `json:"capability"`
		Instance   string          `json:"instance"`
		Parameters json.RawMessage `json:"parameters"`
	}{j.capability.name, j.call.Instance, j.parameters})
	if err != nil {
		return Record{}, fmt.Errorf("fingerprint: %w", err)
	}
	return Record{
		ID: s.keyID(j.capability, j.call), Fingerprint: fingerprint, State: KeyRunning,
		Token: newToken(), Operation: newToken(),
	}, nil
}

// lease gives the record the time of one execution from now on. A record never
// expires under an execution, however short the window.
func (s *Service) lease(j *job, own *Record) {
	now := s.config.Now()
	own.LeaseUntil = now.Add(j.capability.timeoutFor(j.call) + leaseGrace)
	own.ExpiresAt = now.Add(j.capability.window)
	if own.ExpiresAt.Before(own.LeaseUntil) {
		own.ExpiresAt = own.LeaseUntil
	}
}

// keyID scopes a key by capability; the domain is part of it because several
// domains may share one store.
func (s *Service) keyID(c *served, call Call) KeyID {
	return KeyID{Scope: s.config.Domain + "." + c.name, Key: call.IdempotencyKey}
}

// standing answers from the record of an earlier execution, if it can.
func (s *Service) standing(ctx context.Context, j *job, standing, own Record) (out reply, ended bool, err error) {
	if standing.State == KeyFinal {
		return replay(standing), true, nil
	}
	if w, here := s.running.underWay(standing.Operation); here {
		return s.await(ctx, w, s.config.AcceptAfter), true, nil
	}
	if standing.State == KeyRunning && standing.LeaseUntil.After(s.config.Now()) {
		return reply{}, false, nil
	}
	stolen, err := s.config.Store.Steal(ctx, own, standing.Token, s.config.Now())
	if err != nil || !stolen {
		return reply{}, false, err
	}
	return s.begin(ctx, j, own, true), true, nil
}

func replay(r Record) reply {
	return reply{status: http.StatusOK, body: json.RawMessage(r.Result)}
}

// begin executes under a record that this call holds. After a steal it first
// asks what became of the execution that held it before.
func (s *Service) begin(ctx context.Context, j *job, own Record, stolen bool) reply {
	free := Settlement{Released: true}
	if stolen {
		free = s.doubtful(j)
	}
	if busy := s.admit(j.capability); busy != nil {
		s.settle(ctx, own, free)
		return *busy
	}
	w, ok := s.launch(ctx, j, own.Operation, func(ctx context.Context) answer {
		out, settled := answer{}, false
		if stolen {
			out, settled = s.resolve(ctx, j)
		}
		if !settled {
			out = s.run(ctx, j)
		}
		s.settle(ctx, own, s.settlement(j, out))
		return out
	})
	if !ok {
		s.settle(ctx, own, free)
		return s.busy(0, "the service is stopping")
	}
	return s.await(ctx, w, s.config.AcceptAfter)
}

// resolve asks the author what became of an execution that was cut off. It
// says settled unless the work can be done anew without harm.
func (s *Service) resolve(ctx context.Context, j *job) (out answer, settled bool) {
	c := j.capability
	defer func() {
		if p := recover(); p != nil {
			out, settled = s.unknown(ctx, c, fmt.Errorf("panic: %v", p)), true
		}
	}()
	if c.resolve == nil {
		return s.unknown(ctx, c, errors.New("the capability has no Resolve")), true
	}
	found, err := c.resolve(ctx, j.call, j.complete)
	switch {
	case err != nil:
		return s.unknown(ctx, c, err), true
	case found.Effect == contracts.EffectNone:
		return answer{}, false
	case found.Effect != contracts.EffectApplied:
		return s.unknown(ctx, c, errors.New("the effect is not known")), true
	}
	if found.Facts == nil {
		found.Facts = struct{}{}
	}
	result, err := resultOf(Result[any]{Facts: found.Facts, Summary: found.Summary})
	if err != nil {
		return s.unknown(ctx, c, err), true
	}
	return s.checked(ctx, c, result), true
}

func (s *Service) unknown(ctx context.Context, c *served, why error) answer {
	s.log.WarnContext(ctx, "effect of an earlier execution unknown", slog.String("capability", c.name), slog.Any("error", why))
	failure := Failf(contracts.ErrInternal, contracts.EffectUnknown,
		"an earlier execution of %s with this key was cut off, and it is not known whether it took effect", c.name)
	return answer{http.StatusOK, contracts.ToolResult{Summary: contracts.CleanSummary(failure.Message), Error: failure}}
}

// settlement says what an answer means for its key: a final result is kept, a
// refusal that may be taken back frees it, and the rest stays in doubt.
func (s *Service) settlement(j *job, out answer) Settlement {
	failure := out.result.Error
	if !out.result.OK {
		effect := failure.EffectOf()
		switch {
		case effect == contracts.EffectUnknown:
			return s.doubtful(j)
		case effect == contracts.EffectNone && (failure.Retryable || out.status != http.StatusOK):
			return Settlement{Released: true}
		}
	}
	raw, err := json.Marshal(out.result)
	if err != nil {
		return s.doubtful(j)
	}
	return Settlement{State: KeyFinal, Result: raw, ExpiresAt: s.config.Now().Add(j.capability.window)}
}

func (s *Service) doubtful(j *job) Settlement {
	return Settlement{State: KeyDoubtful, ExpiresAt: s.config.Now().Add(j.capability.window)}
}

// settle records the end of an execution. It must happen although the request
// or the time of the work has ended, hence a time of its own. If it fails the
// lease runs out and the next repeat resolves.
func (s *Service) settle(ctx context.Context, own Record, end Settlement) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseGrace)
	defer cancel()
	if err := s.config.Store.Settle(ctx, own.ID, own.Token, end); err != nil {
		s.log.ErrorContext(ctx, "record the end of an execution", slog.String("scope", own.ID.Scope), slog.Any("error", err))
	}
}

// pollKey answers a poll for work that another process does or did.
func (s *Service) pollKey(ctx context.Context, c *served, call Call) reply {
	patience := time.NewTimer(min(pollPatience, s.config.AcceptAfter))
	defer patience.Stop()
	for {
		r, found, err := s.config.Store.Find(ctx, s.keyID(c, call), s.config.Now())
		switch {
		case err != nil:
			return s.storeDown(ctx, err)
		case !found || r.Operation != call.Operation:
			return noOperation(call.Operation)
		case r.State == KeyFinal:
			return replay(r)
		case r.State == KeyDoubtful || !r.LeaseUntil.After(s.config.Now()):
			return noOperation(call.Operation)
		}
		select {
		case <-time.After(lookEvery):
		case <-patience.C:
			return s.accepted(call.Operation)
		case <-ctx.Done():
			return refused(http.StatusServiceUnavailable, contracts.ErrTimeout, "the caller has gone")
		}
	}
}

// storeDown answers when the keys cannot be read: nothing was executed.
func (s *Service) storeDown(ctx context.Context, err error) reply {
	s.log.ErrorContext(ctx, "idempotency store", slog.Any("error", err))
	failure := Retryf(contracts.ErrUpstream, "the store of idempotency keys is not available")
	return reply{status: http.StatusOK, body: contracts.ToolResult{Summary: failure.Message, Error: failure}}
}

const sweepEvery = time.Minute

// sweep removes expired keys now and then.
func (s *Service) sweep(ctx context.Context) {
	now := s.config.Now()
	s.mu.Lock()
	due := now.Sub(s.sweptAt) >= sweepEvery
	if due {
		s.sweptAt = now
	}
	s.mu.Unlock()
	if !due {
		return
	}
	if _, err := s.config.Store.Sweep(ctx, now); err != nil {
		s.log.WarnContext(ctx, "sweep idempotency keys", slog.Any("error", err))
	}
}
