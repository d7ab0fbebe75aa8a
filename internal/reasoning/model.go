package reasoning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/manifold-run/manifold/contracts"
)

// The defaults of Config.
const (
	DefaultTimeout     = 60 * time.Second
	DefaultConcurrency = 8 // runs use at most half; the rest is for reading messages
	DefaultTemperature = 0.2
	DefaultOutput      = 1024 // tokens
	// MaxPromptBytes bounds the texts of one call together: system, turns, tool descriptions and
	// schemas. It does not depend on the amount of domain data, since prompts hold only compact
	// values.
	MaxPromptBytes = 128 << 10
	// After breakAfter failures in a row, a model is not called for pause.
	breakAfter = 5
	pause      = 30 * time.Second
)

// Config specifies the models and their limits. Zero values take the defaults.
type Config struct {
	// Large is used where Small is not; Small may be nil.
	Large, Small Engine
	// Temperature is used for every call; nil takes DefaultTemperature.
	Temperature *float64
	// Timeout bounds one call, including the retries of its transport.
	Timeout time.Duration
	// Concurrency bounds the concurrent calls of both models together.
	Concurrency int
	// Journal records requests and replies; nil records nothing.
	Journal Journal
	Now     func() time.Time
	Log     *slog.Logger
}

// Model calls the configured models. It holds no state of a run: it returns the cost of each call
// to the caller, who records it. It is safe for concurrent use.
type Model struct {
	large, small *guarded
	temperature  float64
	timeout      time.Duration
	slots        chan struct{} // one element per call in progress
	journal      Journal
	now          func() time.Time
	log          *slog.Logger
}

// guarded is an engine with a circuit breaker.
type guarded struct {
	Engine
	breaker *gobreaker.CircuitBreaker[Reply]
}

// New returns a Model.
func New(c Config) (*Model, error) {
	if c.Large == nil {
		return nil, errors.New("reasoning: no model is named")
	}
	temperature := DefaultTemperature
	if c.Temperature != nil {
		temperature = *c.Temperature
	}
	if temperature < 0 || temperature > 2 {
		return nil, fmt.Errorf("reasoning: the temperature %v is not in 0 to 2", temperature)
	}
	m := &Model{
		large: guard(c.Large), temperature: temperature, timeout: cmp.Or(c.Timeout, DefaultTimeout),
		slots: make(chan struct{}, cmp.Or(c.Concurrency, DefaultConcurrency)), journal: c.Journal,
		now: c.Now, log: c.Log,
	}
	if m.small = m.large; c.Small != nil {
		m.small = guard(c.Small)
	}
	if m.now == nil {
		m.now = time.Now
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	return m, nil
}

// Name returns the name of the model for a size.
func (m *Model) Name(size Size) string { return m.engine(size).Name() }

// guard adds a circuit breaker to an engine. Only an unavailable server counts as a failure; a
// refusal or an invalid answer does not.
func guard(e Engine) *guarded {
	return &guarded{Engine: e, breaker: gobreaker.NewCircuitBreaker[Reply](gobreaker.Settings{
		Name: e.Name(), MaxRequests: 1, Timeout: pause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= breakAfter },
		IsSuccessful: func(err error) bool {
			return err == nil || asFault(e.Name(), err).Kind != KindUnavailable
		},
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	})}
}

func (m *Model) engine(size Size) *guarded {
	if size == SizeSmall {
		return m.small
	}
	return m.large
}

// call calls one model once. It returns the cost also on an error.
func (m *Model) call(ctx context.Context, size Size, purpose contracts.ModelPurpose, r Request) (Reply, contracts.ModelCall, error) {
	e := m.engine(size)
	spent := contracts.ModelCall{Purpose: purpose, Model: e.Name()}
	if n := promptBytes(r); n > MaxPromptBytes {
		err := faultf(KindTooLarge, nil, "the prompt has %d bytes, at most %d are sent to a model", n, MaxPromptBytes)
		spent.Error = err.Message
		return Reply{}, spent, err
	}
	r.Temperature = m.temperature
	r.MaxOutputTokens = cmp.Or(r.MaxOutputTokens, DefaultOutput)
	began := m.now()
	reply, err := m.ask(ctx, e, r)
	spent.DurationMS = m.now().Sub(began).Milliseconds()
	if err != nil {
		fault := asFault(e.Name(), err)
		spent.Error = fault.Message
		m.log.WarnContext(ctx, "a model gave no answer", slog.String("model", e.Name()), slog.String("purpose", string(purpose)), slog.Any("error", err))
		m.keep(ctx, r, reply, spent)
		return Reply{}, spent, fault
	}
	if spent.Tokens = reply.Usage; reply.Usage == (contracts.Tokens{}) {
		spent.Tokens, spent.Estimated = estimate(r, reply), true
	}
	m.keep(ctx, r, reply, spent)
	return reply, spent, nil
}

// ask waits for a free slot and calls the engine through its circuit breaker.
func (m *Model) ask(ctx context.Context, e *guarded, r Request) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return Reply{}, faultf(KindUnavailable, ctx.Err(), "the model %s has too many calls under way", e.Name())
	}
	reply, err := e.breaker.Execute(func() (Reply, error) { return e.Complete(ctx, r) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return Reply{}, &Error{Kind: KindUnavailable, Message: fmt.Sprintf("the model %s failed %d times in a row and is left alone for a moment", e.Name(), breakAfter), RetryAfter: pause, Cause: err}
	}
	return reply, err
}

// keep writes the exchange to the journal, if there is one. A journal error is only logged: the
// journal is for inspection, not for recovery.
func (m *Model) keep(ctx context.Context, r Request, reply Reply, call contracts.ModelCall) {
	if m.journal == nil {
		return
	}
	if err := m.journal.Keep(ctx, exchange(m.now(), r, reply, call)); err != nil {
		m.log.WarnContext(ctx, "the journal of model calls cannot be written", slog.Any("error", err))
	}
}
