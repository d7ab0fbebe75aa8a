package telegram

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits are Telegram's rate limits for a bot; zero values take the documented ones:
// https://core.telegram.org/bots/faq#my-bot-is-hitting-limits.
type Limits struct {
	// PerSecond bounds all messages [25]. Chat is the pause between two messages in a private chat
	// [1s], Group that in a group [3.2s].
	PerSecond   int
	Chat, Group time.Duration
	// Progress is the pause between two progress edits [2s]; in a group it is three times as long.
	Progress time.Duration
}

// pace applies the limits, and the waits that Telegram requests when they were exceeded.
type pace struct {
	limits Limits
	all    *rate.Limiter

	mu    sync.Mutex // guards chats
	chats map[int64]*chatPace
}

// chatPace is the pace of one chat; the mutex of its pace guards quiet.
type chatPace struct {
	limiter *rate.Limiter
	quiet   time.Time // Telegram wants no messages until then
}

// pacedChats bounds the remembered chats, which include those of strangers.
const pacedChats = 10_000

func newPace(l Limits) *pace {
	return &pace{limits: l, all: rate.NewLimiter(rate.Limit(l.PerSecond), l.PerSecond), chats: map[int64]*chatPace{}}
}

func (p *pace) chat(id int64) *chatPace {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chats[id]
	if c == nil {
		if len(p.chats) >= pacedChats {
			clear(p.chats)
		}
		every, burst := p.limits.Chat, 3
		if id < 0 { // groups have negative ids
			every, burst = p.limits.Group, 2
		}
		c = &chatPace{limiter: rate.NewLimiter(rate.Every(every), burst)}
		p.chats[id] = c
	}
	return c
}

// wait waits until a required message may be sent.
func (p *pace) wait(ctx context.Context, chat int64) error {
	c := p.chat(chat)
	if err := sleep(ctx, time.Until(p.quietUntil(c))); err != nil {
		return err
	}
	if err := c.limiter.Wait(ctx); err != nil {
		return err
	}
	return p.all.Wait(ctx)
}

// may reports whether an optional message may be sent now. It leaves the last place of a burst to
// required ones.
func (p *pace) may(chat int64) bool {
	c := p.chat(chat)
	return time.Now().After(p.quietUntil(c)) && c.limiter.Tokens() >= 2 && c.limiter.Allow() && p.all.Allow()
}

func (p *pace) quietUntil(c *chatPace) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.quiet
}

// hush pauses a chat for as long as Telegram requests.
func (p *pace) hush(chat int64, d time.Duration) {
	c := p.chat(chat)
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(c.quiet) {
		c.quiet = until
	}
}

// backoff is the first delay after a failure, and the maximum.
type backoff struct{ first, most time.Duration }

// after returns the delay after one more failure.
func (b backoff) after(wait time.Duration) time.Duration { return min(2*wait, b.most) }

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
