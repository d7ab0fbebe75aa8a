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

// runs is what the follower reads of runs.
type runs interface {
	// Refresh gives where what an earlier view shows stands now.
	Refresh(ctx context.Context, who access.Principal, from orchestrator.SessionView) (orchestrator.SessionView, error)
	// News gives the events of a session after a number.
	News(ctx context.Context, who access.Principal, sessionID string, after int64) ([]contracts.Event, error)
	// RecordDisplayed commits that the gates of a view were shown whole.
	RecordDisplayed(ctx context.Context, view orchestrator.SessionView)
}

// follower shows runs in chats until they have ended: progress, their gates as
// they open, and what they come to, even days later and whoever decided.
//
// A run that waits costs its entry here and nothing else. It is looked at when
// the notifier says that it changed, or when a pause is over; what is to be looked
// at is looked at by one goroutine for each chat, which ends when there is nothing
// left. So there are never more goroutines than people and groups on the lists,
// and a chat in which Telegram wants quiet holds up no other.
type follower struct {
	runs    runs
	answers *answers
	contain func(context.Context, job, any)
	pages   render.Pages
	work    *sync.WaitGroup

	mu       sync.Mutex // guards the fields below, and what a show says that it guards
	shows    map[string]*show
	sessions map[string]map[*show]bool
	due      map[int64][]*show // by chat; a chat that is in it has its goroutine
	closed   bool
}

func newFollower(r runs, a *answers, contain func(context.Context, job, any), pages render.Pages, work *sync.WaitGroup) *follower {
	return &follower{
		runs: r, answers: a, contain: contain, pages: pages, work: work,
		shows: map[string]*show{}, sessions: map[string]map[*show]bool{}, due: map[int64][]*show{},
	}
}

// follow shows where a turn stands, and goes on as long as there is more to
// come. A run is shown once in a chat, by the last message that led to it.
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

// changed hears from the notifier which runs are to be looked at.
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

// enqueue has a run looked at, unless it is about to be; the caller holds mu.
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

// after has a run looked at once a pause is over, however often it is called.
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

// drain looks at the runs of a chat until none is due.
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

// attend looks at a run, and ends its show if there is no more to come.
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

// handOver gives the message that shows the progress of a run to the show that goes
// on with it. Both are looked at by the goroutine of their chat, and by no other.
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

// close ends all shows when the bot stops, and keeps for the next start how far
// they are. One that is being looked at keeps it itself.
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

// keep notes how far a show is, unless that is noted already.
func (f *follower) keep(s *show) {
	if !s.kept {
		f.note(s)
	}
}

// note keeps what the chat shows, for the next start: what is there is not sent
// again. Whatever is shown is a try that came to something.
func (f *follower) note(s *show) {
	n := &s.job.noted
	n.Tries, n.Live, n.Gates, n.Shown = 0, s.live, s.gates, ""
	if s.gates > 0 {
		n.Shown = s.present
	}
	f.answers.box.note(s.whole, s.job)
	s.kept = true
}
