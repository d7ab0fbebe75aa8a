package telegram

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/telegram/render"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// runs is the follower's access to runs.
type runs interface {
	// Refresh returns the current state of an earlier view.
	Refresh(ctx context.Context, who access.Principal, from orchestrator.SessionView) (orchestrator.SessionView, error)
	// News returns the events of a session with sequence numbers above after.
	News(ctx context.Context, who access.Principal, sessionID string, after int64) ([]contracts.Event, error)
	// RecordDisplayed commits that the gates of a view were shown completely.
	RecordDisplayed(ctx context.Context, view orchestrator.SessionView)
}

// follower shows runs in chats until they end: progress, gates as they open, and results, even days
// later and whoever decided.
//
// A waiting run costs only its entry here. It is refreshed when the notifier reports a change, or
// after a delay. One goroutine per chat refreshes the due runs and ends when there are none left. So
// there are never more goroutines than listed people and groups, and a rate-limited chat does not
// delay others.
type follower struct {
	runs    runs
	answers *answers
	contain func(context.Context, job, any)
	pages   render.Pages
	work    *sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and the fields of show that say so
	shows    map[string]*show
	sessions map[string]map[*show]bool
	due      map[int64][]*show // by chat; each chat in it has a goroutine
	closed   bool
}

func newFollower(r runs, a *answers, contain func(context.Context, job, any), pages render.Pages, work *sync.WaitGroup) *follower {
	return &follower{
		runs: r, answers: a, contain: contain, pages: pages, work: work,
		shows: map[string]*show{}, sessions: map[string]map[*show]bool{}, due: map[int64][]*show{},
	}
}

// follow shows the state of a turn, and follows it while more is to come. Each chat shows a run once,
// for the last message that led to it.
func (f *follower) follow(ctx context.Context, j job, who access.Principal, at place, state orchestrator.SessionView) {
	if state.RunID == "" || !state.Running && settled(state) {
		parts := render.View(state, at.group, f.pages.Of(who, at.group, state.Language, state.Open))
		if f.answers.reply(ctx, j, at, parts) {
			f.runs.RecordDisplayed(ctx, render.ShownWhole(state, parts))
		}
		return
	}
	s := &show{
		job: j, who: who, at: at, key: state.RunID + "@" + strconv.FormatInt(at.chat, 10), sessionID: state.SessionID, runID: state.RunID,
		state: state, seen: state.After, live: j.noted.Live, gates: j.noted.Gates, present: cmp.Or(j.noted.Shown, "nothing yet"),
	}
	s.later = time.Now().Add(quick)
	s.whole = ctx
	s.ctx, s.cancel = context.WithCancel(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.shows[s.key]; old != nil {
		old.taken = true
		old.cancel()
		f.enqueue(old)
	}
	f.shows[s.key] = s
	if f.sessions[s.sessionID] == nil {
		f.sessions[s.sessionID] = map[*show]bool{}
	}
	f.sessions[s.sessionID][s] = true
	f.enqueue(s)
}

// changed handles a change from the notifier.
func (f *follower) changed(c orchestrator.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.SessionID == "" {
		for _, s := range f.shows {
			f.enqueue(s)
		}
		return
	}
	for s := range f.sessions[c.SessionID] {
		if c.RunID == "" || c.RunID == s.runID {
			f.enqueue(s)
		}
	}
}

// enqueue queues a run for a refresh, unless it is queued; the caller holds mu.
func (f *follower) enqueue(s *show) {
	if f.closed || s.queued || s.over {
		return
	}
	s.queued = true
	queue, works := f.due[s.at.chat]
	f.due[s.at.chat] = append(queue, s)
	if !works {
		f.work.Go(func() { f.drain(s.at.chat) })
	}
}

// after queues a run for a refresh after a delay, replacing an earlier delay.
func (f *follower) after(s *show, pause time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(pause, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.enqueue(s)
	})
}

// drain refreshes the runs of a chat until none is due.
func (f *follower) drain(chat int64) {
	for {
		f.mu.Lock()
		queue := f.due[chat]
		if len(queue) == 0 || f.closed {
			delete(f.due, chat)
			f.mu.Unlock()
			return
		}
		s := queue[0]
		f.due[chat] = queue[1:]
		s.queued, s.busy = false, true
		taken := s.taken
		f.mu.Unlock()
		f.attend(s, taken)
	}
}

// attend refreshes a run, and ends its show if no more is to come.
func (f *follower) attend(s *show, taken bool) {
	defer func() {
		if caught := recover(); caught != nil {
			f.forget(s)
			f.contain(s.whole, s.job, caught)
		}
	}()
	if taken {
		if s.gates > 0 {
			f.answers.out.unbutton(s.whole, s.at.chat, s.gates)
		}
		f.handOver(s)
		f.forget(s)
		f.answers.box.finish(s.whole, s.job.received.ID)
		return
	}
	ended, err := f.look(s)
	switch {
	case s.ctx.Err() != nil: // it is stopped, or another message shows the run
	case err != nil:
		f.forget(s)
		s.job.noted.Live = s.live
		f.answers.reply(s.whole, s.job, s.at, f.answers.failed(s.whole, s.job, err))
		return
	case ended:
		f.forget(s)
		f.answers.box.finish(s.whole, s.job.received.ID)
		return
	}
	f.mu.Lock()
	s.busy = false
	closed := f.closed
	f.mu.Unlock()
	if closed {
		f.keep(s)
	}
}

// handOver passes the progress message of a run on to the show that replaces this one. Both belong to
// the goroutine of their chat.
func (f *follower) handOver(s *show) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if next := f.shows[s.key]; next != nil && next != s && next.live == 0 {
		next.live = s.live
	}
}

// forget ends a show.
func (f *follower) forget(s *show) {
	s.cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	if f.shows[s.key] == s {
		delete(f.shows, s.key)
	}
	delete(f.sessions[s.sessionID], s)
	if len(f.sessions[s.sessionID]) == 0 {
		delete(f.sessions, s.sessionID)
	}
}

// close ends all shows when the bot stops, and stores their progress for the next start. A show that is
// being refreshed stores its own.
func (f *follower) close() {
	f.mu.Lock()
	f.closed = true
	var idle []*show
	for _, of := range f.sessions {
		for s := range of {
			if s.timer != nil {
				s.timer.Stop()
			}
			if !s.busy {
				idle = append(idle, s)
			}
		}
	}
	f.mu.Unlock()
	for _, s := range idle {
		f.keep(s)
	}
}

// keep stores the progress of a show, unless it is stored already.
func (f *follower) keep(s *show) {
	if !s.kept {
		f.note(s)
	}
}

// note stores what the chat shows, so that the next start does not send it again. It resets the number
// of tries.
func (f *follower) note(s *show) {
	n := &s.job.noted
	n.Tries, n.Live, n.Gates, n.Shown = 0, s.live, s.gates, ""
	if s.gates > 0 {
		n.Shown = s.present
	}
	f.answers.box.note(s.whole, s.job)
	s.kept = true
}
