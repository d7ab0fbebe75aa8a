package access

import (
	"cmp"
	"math"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/ratelimit"
)

// LimitConfig limits how often one caller may start a session; zero values mean the defaults in
// brackets.
type LimitConfig struct {
	PerMinute int // sessions per minute in the long run [30]
	Burst     int // sessions at once [10]
	// Share is this server's share of the limits [all].
	Share *ratelimit.Share
	// Now is the clock [time.Now].
	Now func() time.Time
}

// RetryAfter is the Detail of a rate_limited error.
type RetryAfter struct {
	Seconds int `json:"retry_after_s"`
}

// Limiter limits new sessions by caller, and messages by session. It is safe for concurrent use.
type Limiter struct {
	limit   ratelimit.Limit
	share   *ratelimit.Share
	now     func() time.Time
	buckets ratelimit.Keyed
}

// NewLimiter returns a limiter.
func NewLimiter(cfg LimitConfig) (*Limiter, error) {
	if cfg.PerMinute < 0 || cfg.Burst < 0 {
		return nil, contracts.Invalid("the rate limit must not be negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	limit := ratelimit.Limit{PerMinute: float64(cmp.Or(cfg.PerMinute, 30)), Burst: cmp.Or(cfg.Burst, 10)}
	return &Limiter{limit: limit, share: cfg.Share, now: cfg.Now}, nil
}

// crowd and talk multiply the limit of one caller's sessions: for the sessions of all persons of
// one frontend, and for the messages of one session.
const crowd, talk = 10, 10

// AllowSession takes a token of the caller, or returns rate_limited with RetryAfter as Detail. The
// persons of a frontend also share a bucket, because the frontend could invent any number of them.
func (l *Limiter) AllowSession(who Principal) error {
	if who.Kind == KindFrontend && who.Forwarded != "" {
		if err := l.take("persons of "+who.KeyID, crowd, "too many sessions were started by the users of this front end; the next one may start in %d s"); err != nil {
			return err
		}
	}
	return l.take(who.Subject(), 1, "too many sessions were started; the next one may start in %d s")
}

// AllowMessage takes one token from the message rate limiter of a session.
func (l *Limiter) AllowMessage(sessionID string) error {
	return l.take("messages in "+sessionID, talk, "too many messages in this session; go on in %d s")
}

func (l *Limiter) take(key string, times int, says string) error {
	limit := ratelimit.Limit{PerMinute: l.limit.PerMinute * float64(times), Burst: l.limit.Burst * times}
	wait := l.buckets.Take(key, l.share.Of(limit), l.now())
	if wait <= 0 {
		return nil
	}
	seconds := int(math.Ceil(wait.Seconds()))
	err := contracts.Errorf(contracts.CodeRateLimited, says, seconds)
	err.Detail = RetryAfter{Seconds: seconds}
	return err
}
