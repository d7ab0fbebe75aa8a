package telegram

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

const (
	// quick is how long an answer may take without any sign of progress.
	quick = time.Second
	// idle is how often a run that waits for a person is looked at without news.
	idle = time.Minute
	// shownLines is how much of the progress a message shows.
	shownLines = 8
)

// show follows one run in one chat until it has ended: progress, its gates as
// they open, and what it comes to, even days later and whoever decided.
type show struct {
	bot    *Bot
	job    job
	who    access.Principal
	at     place
	key    string
	cancel context.CancelFunc
	// taken says that a later message of the same chat shows the run; the
	// bot's mu guards it.
	taken bool

	// The fields below are the goroutine's alone.
	live    int // the message that shows progress
	gates   int // the message that has buttons
	seen    int64
	lines   []string
	edited  time.Time
	present string
}

// follow shows where a turn stands, and goes on as long as there is more to
// come. A run is shown once in a chat, by the last message that led to it.
func (b *Bot) follow(ctx context.Context, j job, who access.Principal, at place, state orchestrator.SessionView) {
	if state.RunID == "" || !state.Running && settled(state) {
		if j.noted.Gates > 0 {
			b.unbutton(ctx, at.chat, j.noted.Gates)
		}
		b.reply(ctx, j, at, render(state, at.group))
		return
	}
	s := &show{
		bot: b, job: j, who: who, at: at, key: state.RunID + "@" + strconv.FormatInt(at.chat, 10), seen: state.After,
		live: j.noted.Live, gates: j.noted.Gates, present: cmp.Or(j.noted.Shown, "nothing yet"),
	}
	whole := ctx
	ctx, s.cancel = context.WithCancel(ctx)
	b.mu.Lock()
	if old := b.shows[s.key]; old != nil {
		old.taken = true
		old.cancel()
	}
	b.shows[s.key] = s
	b.mu.Unlock()
	b.work.Go(func() {
		defer func() { b.contain(whole, s.job, recover()) }()
		s.run(ctx, state)
	})
}

// settled tells that nothing more comes by itself: the run has ended, or the
// chat is asked a question, whose answer is a message of its own.
func settled(state orchestrator.SessionView) bool {
	for _, i := range state.Open {
		if i.Type.Expires() {
			return false
		}
	}
	return !state.Running && !state.Waits
}

func (s *show) run(ctx context.Context, state orchestrator.SessionView) {
	defer s.cancel()
	err := s.showAll(ctx, state)
	s.bot.mu.Lock()
	taken := s.taken
	if s.bot.shows[s.key] == s {
		delete(s.bot.shows, s.key)
	}
	s.bot.mu.Unlock()
	if taken && s.gates > 0 {
		s.bot.unbutton(ctx, s.at.chat, s.gates)
	}
	switch {
	case taken || err == nil:
		s.bot.finish(ctx, s.job.received)
	case ctx.Err() == nil:
		s.job.noted.Live = s.live
		s.bot.reply(ctx, s.job, s.at, s.bot.failed(ctx, s.job, err))
	default:
		s.note(ctx)
	}
}

// showAll shows a state, and each that follows it, until there are no more.
func (s *show) showAll(ctx context.Context, state orchestrator.SessionView) (err error) {
	if state.Running {
		state, err = s.bot.conversation.Await(ctx, s.who, state, quick)
	}
	for err == nil {
		if state.Running {
			if err = s.watch(ctx, state, s.bot.every(s.at)); err == nil {
				s.progress(ctx)
				state, err = s.bot.conversation.Refresh(ctx, s.who, state)
			}
			continue
		}
		if now := outline(state); now != s.present {
			if err = s.display(ctx, state, now); err != nil {
				return err
			}
		}
		if settled(state) {
			return nil
		}
		if err = s.watch(ctx, state, idle); err == nil {
			state, err = s.bot.conversation.Refresh(ctx, s.who, state)
		}
	}
	return err
}

// outline tells two states apart that look different in a chat.
func outline(state orchestrator.SessionView) string {
	parts := []string{strconv.FormatBool(state.Waits)}
	for _, i := range state.Open {
		parts = append(parts, i.Code)
	}
	return strings.Join(parts, " ")
}

// watch waits for news of the run.
func (s *show) watch(ctx context.Context, state orchestrator.SessionView, wait time.Duration) error {
	events, err := s.bot.conversation.Follow(ctx, s.who, state.SessionID, s.seen, wait)
	for _, e := range events {
		s.seen = e.Seq
		if line := chat.Progress(e); line != "" && e.RunID == state.RunID {
			s.lines = append(s.lines, line)
		}
	}
	if extra := len(s.lines) - shownLines; extra > 0 {
		s.lines = s.lines[extra:]
	}
	return err
}

// progress edits the message that shows it, not too often.
func (s *show) progress(ctx context.Context) {
	if len(s.lines) == 0 || time.Since(s.edited) < s.bot.every(s.at) {
		return
	}
	s.edited = time.Now()
	p := part{lines: []line{{{text: "Working…", tag: "b"}}}}
	for _, l := range s.lines {
		p.lines = append(p.lines, line{{text: l}})
	}
	before := s.live
	if s.live = s.bot.glimpse(ctx, s.at, s.live, pack([]part{p})[0]); s.live != before {
		s.note(ctx)
	}
}

// note keeps what the chat shows, for the next start: what is there is not sent
// again. Whatever is shown is a try that came to something.
func (s *show) note(ctx context.Context) {
	n := &s.job.noted
	n.Tries, n.Live, n.Gates, n.Shown = 0, s.live, s.gates, ""
	if s.gates > 0 {
		n.Shown = s.present
	}
	s.bot.note(ctx, s.job)
}

// display shows what there is to decide or to read. What comes after buttons is
// a message of its own, because Telegram rings for no edit.
func (s *show) display(ctx context.Context, state orchestrator.SessionView, now string) error {
	if s.gates > 0 {
		s.bot.unbutton(ctx, s.at.chat, s.gates)
		s.gates = 0
	}
	last, err := s.bot.deliver(ctx, s.at, s.live, render(state, s.at.group))
	if err != nil && !hopeless(err) {
		return err
	}
	s.lines, s.present = nil, now
	switch {
	case state.Waits:
		s.live = last
	case !settled(state):
		s.live, s.gates = 0, last
	}
	s.note(ctx)
	return nil
}
