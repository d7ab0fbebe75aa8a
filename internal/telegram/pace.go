package telegram

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits are what Telegram lets a bot send; zero values take those that it
// names: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits.
type Limits struct {
	// PerSecond bounds everything [25], Chat is the pause between two messages of
	// a private chat [1s], Group that of a group [3.2s].
	PerSecond   int
	Chat, Group time.Duration
	// Progress is the pause between two edits that only show progress [2s]; in a
	// group it is three times that.
	Progress time.Duration
}

// pace keeps to the limits, and to what Telegram says when they were not enough.
type pace struct {
	limits Limits
	all    *rate.Limiter

	mu    sync.Mutex // guards chats
	chats map[int64]*chatPace
}

// chatPace is the pace of one chat; the mutex of its pace guards quiet.
type chatPace struct {
	limiter *rate.Limiter
	quiet   time.Time // until then Telegram wants nothing
}

// pacedChats bounds the chats that are remembered: strangers, who are told so,
// are among them.
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

// wait waits for the turn of a message that must be sent.
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

// may takes the turn of a message that need not be sent, if there is one. It
// leaves the last place of a burst to what must be.
func (p *pace) may(chat int64) bool {
	c := p.chat(chat)
	return time.Now().After(p.quietUntil(c)) && c.limiter.Tokens() >= 2 && c.limiter.Allow() && p.all.Allow()
}

func (p *pace) quietUntil(c *chatPace) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.quiet
}

// hush keeps quiet in a chat as long as Telegram asks for.
func (p *pace) hush(chat int64, d time.Duration) {
	c := p.chat(chat)
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(c.quiet) {
		c.quiet = until
	}
}

// backoff is the pause after a failure, and how long it grows to.
type backoff struct{ first, most time.Duration }

// after is the pause after one more failure.
func (b backoff) after(wait time.Duration) time.Duration { return min(2*wait, b.most) }

// sleep waits, or ends with the context.
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
