package telegram

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/internal/telegram/render"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

const (
	// quick is how long an answer may take before progress is shown.
	quick = time.Second
	// shownLines bounds the lines of a progress message.
	shownLines = 8
)

// show is one run in one chat.
type show struct {
	job              job
	who              access.Principal
	at               place
	key              string // the run and the chat
	sessionID, runID string
	whole, ctx       context.Context //nolint:containedctx // the life of the bot, and of this show in it
	cancel           context.CancelFunc

	// The follower's mu guards these. taken: a later message of the chat shows the run. queued: it
	// is due for a refresh. busy: it is being refreshed. over: it has ended.
	taken, queued, busy, over bool
	timer                     *time.Timer

	// The fields below belong to the goroutine that refreshes the run.
	state   orchestrator.SessionView
	live    int // the progress message
	gates   int // the message with buttons
	seen    int64
	lines   []string
	fresh   bool      // there are lines that the chat does not show
	later   time.Time // when the next progress may be shown
	present string
	kept    bool // the stored progress matches what the chat shows
}

// settled reports whether nothing more is to come: the run has ended. An open question does not end it,
// because it may be answered in another interface.
func settled(state orchestrator.SessionView) bool {
	return !state.Running && !state.Waits && len(state.Open) == 0
}

// outline returns a key that differs for states that look different in a chat.
func outline(state orchestrator.SessionView) string {
	parts := []string{strconv.FormatBool(state.Waits)}
	for _, i := range state.Open {
		parts = append(parts, i.Code)
	}
	return strings.Join(parts, " ")
}

// look shows the current state of a run, unless the chat shows it already. It reports whether no
// more is to come.
func (f *follower) look(s *show) (ended bool, err error) {
	if s.state, err = f.runs.Refresh(s.ctx, s.who, s.state); err != nil {
		return false, err
	}
	if err := f.hear(s); err != nil {
		return false, err
	}
	if s.state.Running {
		f.progress(s)
		return false, nil
	}
	if now := outline(s.state); now != s.present {
		if err := f.display(s, now); err != nil {
			return false, err
		}
	}
	return settled(s.state), nil
}

// hear collects the new events of the run.
func (f *follower) hear(s *show) error {
	events, err := f.runs.News(s.ctx, s.who, s.sessionID, s.seen)
	for _, e := range events {
		s.seen = e.Seq
		if line := chat.Progress(e); line != "" && e.RunID == s.runID {
			s.lines, s.fresh = append(s.lines, line), true
		}
	}
	if extra := len(s.lines) - shownLines; extra > 0 {
		s.lines = s.lines[extra:]
	}
	return err
}

// progress updates the progress message, at a limited rate.
func (f *follower) progress(s *show) {
	if !s.fresh {
		return
	}
	if s.later.IsZero() { // an answer may be about to arrive
		s.later = time.Now().Add(quick)
	}
	if wait := time.Until(s.later); wait > 0 {
		f.after(s, wait)
		return
	}
	s.later = time.Now().Add(f.answers.out.every(s.at))
	live, shown := f.answers.out.glimpse(s.ctx, s.at, s.live, render.Progress(s.lines))
	if !shown {
		f.after(s, time.Until(s.later))
		return
	}
	s.fresh = false
	if live != s.live {
		s.live = live
		f.note(s)
	}
}

// display shows the result or the open gates. After a message with buttons it sends a new message,
// because Telegram does not notify of edits.
func (f *follower) display(s *show, now string) error {
	s.gates = 0
	parts := render.View(s.state, s.at.group, f.pages.Of(s.who, s.at.group, s.state.Language, s.state.Open))
	last, err := f.answers.out.deliver(s.ctx, s.at, s.live, parts)
	if err != nil && !hopeless(err) {
		return err
	}
	if err == nil {
		f.runs.RecordDisplayed(s.ctx, render.ShownWhole(s.state, parts))
	}
	s.lines, s.fresh, s.present = nil, false, now
	switch {
	case s.state.Waits:
		s.live = last
	case !settled(s.state):
		s.live, s.gates, s.later = 0, last, time.Time{}
	}
	f.note(s)
	return nil
}
