package webhook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// Config configures a Sender. Zero values take the defaults given in brackets.
type Config struct {
	// Key is the signing key, of at least 32 bytes.
	Key []byte
	// Guard checks the addresses of deliveries. It is required.
	Guard *Guard
	// Workers is the maximum number of concurrent deliveries [8].
	Workers int
	// Timeout is the time limit of one delivery, including its quick retries [15s].
	Timeout time.Duration
	// Pause is the pause after the first failure [5s]. It doubles up to PauseMax [15m].
	Pause    time.Duration
	PauseMax time.Duration
	// GiveUpAfter is how long a delivery is retried [24h].
	GiveUpAfter time.Duration
	// Wanted reports whether a due delivery is still relevant [always].
	Wanted func(ctx context.Context, d orchestrator.WebhookDelivery) bool
	// Poll is the interval at which the outbox is read [2s].
	Poll time.Duration
	// Now is the clock [time.Now]. It must be the clock that writes the outbox.
	Now    func() time.Time
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if len(c.Key) < 32 {
		return c, contracts.Invalid("webhook: the signing key must have at least 32 bytes")
	}
	if c.Guard == nil {
		return c, contracts.Invalid("webhook: a guard is required")
	}
	c.Workers = cmp.Or(c.Workers, 8)
	c.Timeout = cmp.Or(c.Timeout, 15*time.Second)
	c.Pause = cmp.Or(c.Pause, 5*time.Second)
	c.PauseMax = cmp.Or(c.PauseMax, 15*time.Minute)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 24*time.Hour)
	c.Poll = cmp.Or(c.Poll, 2*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wanted == nil {
		c.Wanted = func(context.Context, orchestrator.WebhookDelivery) bool { return true }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Sender sends the deliveries in the outbox. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	outbox orchestrator.WebhookOutbox
	post   *poster

	mu   sync.Mutex // guards the fields below
	stop context.CancelFunc
	done chan struct{}
	sick map[string]time.Time // hosts that recently failed, with the end of their pause
}

// New returns a sender that is not started.
func New(cfg Config, outbox orchestrator.WebhookOutbox) (*Sender, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Sender{cfg: cfg, outbox: outbox, post: newPoster(cfg), sick: map[string]time.Time{}}, nil
}

// KeyID returns the id of the signing key, which receivers see.
func (s *Sender) KeyID() string { return s.post.keyID }

// Start starts sending in the background. It does nothing if the sender is running.
func (s *Sender) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil {
		return nil
	}
	// The loop outlives the call of Start.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.done = cancel, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		s.loop(ctx)
	}(s.done)
	return nil
}

// Stop stops sending and waits for deliveries in progress until ctx ends. Aborted deliveries are
// sent again after the next Start. It may be called twice.
func (s *Sender) Stop(ctx context.Context) error {
	s.mu.Lock()
	stop, done := s.stop, s.done
	s.mu.Unlock()
	if done == nil {
		return nil
	}
	stop()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("stop webhook sender: %w", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == done {
		s.stop, s.done = nil, nil
	}
	s.post.close()
	return nil
}

// loop sends due deliveries. Workers report their end on one channel.
func (s *Sender) loop(ctx context.Context) {
	ended := make(chan struct{}, s.cfg.Workers)
	flying := 0
	defer func() {
		for range flying {
			<-ended
		}
	}()
	ticker := time.NewTicker(s.cfg.Poll)
	defer ticker.Stop()
	for {
		begun, more := s.dispatch(ctx, s.cfg.Workers-flying, ended)
		if flying += begun; more && ctx.Err() == nil && flying < s.cfg.Workers {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-ended:
			flying--
		case <-ticker.C:
		}
	}
}

// dispatch claims due deliveries for the free workers and starts them. more means that some were
// postponed, so that others may be due.
func (s *Sender) dispatch(ctx context.Context, free int, ended chan<- struct{}) (begun int, more bool) {
	if free <= 0 {
		return 0, false
	}
	due, err := s.claim(ctx, orchestrator.DeliveryClaim{Limit: free})
	if err != nil {
		if ctx.Err() == nil {
			s.cfg.Logger.ErrorContext(ctx, "webhook outbox cannot be read", slog.Any("error", err))
		}
		return 0, false
	}
	for _, d := range due {
		if s.isSick(hostOf(d.URL)) {
			more = s.putOff(ctx, d) || more
			continue
		}
		begun++
		go func() {
			s.attempt(ctx, d)
			ended <- struct{}{}
		}()
	}
	return begun, more
}

// clocksDiffer is the tolerated difference between the clocks of two servers: a delivery that one
// of them makes due now must be due for the other.
const clocksDiffer = 3 * time.Second

// claim claims deliveries for longer than an attempt takes.
func (s *Sender) claim(ctx context.Context, c orchestrator.DeliveryClaim) ([]orchestrator.WebhookDelivery, error) {
	c.Now = s.cfg.Now()
	if c.ID != "" {
		c.Now = c.Now.Add(clocksDiffer)
	}
	c.Until = c.Now.Add(2 * s.cfg.Timeout)
	return s.outbox.Claim(ctx, c)
}

// Deliver sends or postpones one delivery, if it is due and not claimed. It is for job handlers
// and does not need Start.
func (s *Sender) Deliver(ctx context.Context, id string) error {
	_, err := s.deliverOne(ctx, id)
	return err
}

// deliverOne sends or postpones a due delivery; id "" means any.
func (s *Sender) deliverOne(ctx context.Context, id string) (found bool, err error) {
	due, err := s.claim(ctx, orchestrator.DeliveryClaim{ID: id, Limit: 1})
	for _, d := range due {
		if s.isSick(hostOf(d.URL)) {
			s.putOff(ctx, d)
		} else {
			s.attempt(ctx, d)
		}
	}
	return len(due) > 0, err
}

// DeliverLeft sends the remaining due deliveries one at a time, such as those whose jobs were
// lost.
func (s *Sender) DeliverLeft(ctx context.Context) error {
	for ctx.Err() == nil {
		if found, err := s.deliverOne(ctx, ""); err != nil || !found {
			return err
		}
	}
	return nil
}

// attempt sends one delivery and records whether its host failed.
func (s *Sender) attempt(ctx context.Context, d orchestrator.WebhookDelivery) {
	if !s.cfg.Wanted(ctx, d) {
		s.finish(ctx, d, s.cfg.Logger)
		return
	}
	well, host := s.deliver(ctx, d), hostOf(d.URL)
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.sick, host); !well {
		s.sick[host] = s.cfg.Now().Add(s.cfg.Pause)
	}
}

// isSick reports whether a host has recently failed. Deliveries to it are postponed without an
// attempt, so that one dead host does not occupy all workers.
func (s *Sender) isSick(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	maps.DeleteFunc(s.sick, func(_ string, until time.Time) bool { return !now.Before(until) })
	return now.Before(s.sick[host])
}

// deliver sends one delivery and updates the outbox. It reports whether the host is reachable.
func (s *Sender) deliver(ctx context.Context, d orchestrator.WebhookDelivery) bool {
	sendCtx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	err := s.post.send(sendCtx, d, s.cfg.Now())
	cancel()
	if err != nil && ctx.Err() != nil {
		s.giveBack(ctx, d)
		return true // stopped, not failed
	}
	log := s.cfg.Logger.With(slog.String("delivery_id", d.ID), slog.String("host", hostOf(d.URL)), slog.Int("attempts", d.Attempts+1))
	switch {
	case err == nil:
		s.finish(ctx, d, log)
		return true
	case final(err) || s.cfg.Now().Sub(d.CreatedAt) >= s.cfg.GiveUpAfter:
		log.WarnContext(ctx, "webhook delivery given up", slog.Any("error", err))
		s.finish(ctx, d, log)
	default:
		log.InfoContext(ctx, "webhook delivery failed, to be tried again", slog.Any("error", err))
		s.putOff(ctx, d)
	}
	return final(err)
}

// finish removes a delivery from the outbox. It also does so while the sender stops, because the
// receiver would otherwise get the delivery again.
func (s *Sender) finish(ctx context.Context, d orchestrator.WebhookDelivery, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.outbox.Done(ctx, d.ID); err != nil {
		log.ErrorContext(ctx, "webhook delivery cannot be removed, it will be sent again", slog.Any("error", err))
	}
}

// giveBack makes an aborted delivery due at once, for any server.
func (s *Sender) giveBack(ctx context.Context, d orchestrator.WebhookDelivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.outbox.Retry(ctx, d.ID, s.cfg.Now(), d.Attempts); err != nil {
		s.cfg.Logger.WarnContext(ctx, "webhook delivery stays claimed for a while", slog.String("delivery_id", d.ID), slog.Any("error", err))
	}
}

func (s *Sender) putOff(ctx context.Context, d orchestrator.WebhookDelivery) bool {
	pause := s.cfg.PauseMax
	if d.Attempts < 20 {
		pause = min(s.cfg.Pause<<d.Attempts, s.cfg.PauseMax)
	}
	pause += rand.N(pause/4 + 1) //nolint:gosec // spreading load needs no secrecy
	err := s.outbox.Retry(ctx, d.ID, s.cfg.Now().Add(pause), d.Attempts+1)
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.ErrorContext(ctx, "webhook delivery cannot be put off", slog.String("delivery_id", d.ID), slog.Any("error", err))
	}
	return err == nil
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}
