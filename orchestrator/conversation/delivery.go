package conversation

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// People who share a key may ask the same in the same words, and a repeat of one
// of them looks like a repeat of the other. It goes to a first try whose answer
// did not get through, and each of those takes one repeat of a count: whoever
// has their answer never finds somebody else in their chat.

// The notes about a session's first request; they stand among its turns, and are
// none.
const (
	noteDelivered chat.Verb = "delivered"
	noteRepeat    chat.Verb = "repeat"
)

func note(sessionID string, kind chat.Verb, try int) orchestrator.Turn {
	key := orchestrator.TurnKey{Conversation: sessionID, Key: "note-" + string(kind) + "-" + strconv.Itoa(try)}
	return orchestrator.Turn{TurnKey: key, SessionID: sessionID, Command: kind, Outcome: orchestrator.TurnAnswered}
}

// Said gives what was said in a session, without notes.
func (s *Conversation) Said(ctx context.Context, sessionID string) ([]orchestrator.Turn, error) {
	turns, err := s.turns.SessionTurns(ctx, sessionID)
	var out []orchestrator.Turn
	for _, t := range turns {
		if t.Command != noteDelivered && t.Command != noteRepeat {
			out = append(out, t)
		}
	}
	return out, err
}

// Exchange begins the answer to an accepted message whose sender counts repeats.
// Its end says whether the whole answer was written.
func (s *Conversation) Exchange(ctx context.Context, who access.Principal, a Accepted) (end func(delivered bool)) {
	id := a.at.session.ID
	if a.at.turn.Request == "" || !who.Shared() {
		return func(bool) {}
	}
	s.answering.Store(id, ctx)
	return func(delivered bool) {
		s.answering.CompareAndDelete(id, ctx)
		if !delivered {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionWait)
		defer cancel()
		if _, _, err := s.turns.BeginTurn(ctx, note(id, noteDelivered, 0)); err != nil {
			s.cfg.Logger.WarnContext(ctx, "a repeat will not know that its first try was answered", slog.Any("error", err))
		}
	}
}

// beingAnswered tells whether somebody is still waiting for the answer.
func (s *Conversation) beingAnswered(sessionID string) bool {
	ctx, there := s.answering.Load(sessionID)
	if !there {
		return false
	}
	waiting, ok := ctx.(context.Context)
	return ok && waiting.Err() == nil
}

// maxEquals bounds how many equal first tries a repeat looks at.
const maxEquals = 50

// repeatedByOneOfMany finds the first try of a repeat where many people share the
// key; none means that it is taken for a request of its own.
func (s *Conversation) repeatedByOneOfMany(ctx context.Context, who access.Principal, t ChatTurn) (orchestrator.Session, bool, error) {
	var equals []string
	now := quarter(s.cfg.Now())
	for _, q := range []int64{now, now - 1} {
		n, err := s.unused(ctx, func(n int) string { return requestSession(who, t.Request, q, n) })
		if err != nil {
			return orchestrator.Session{}, false, err
		}
		for n--; n >= 0 && len(equals) < maxEquals; n-- {
			equals = append(equals, requestSession(who, t.Request, q, n))
		}
	}
	for _, id := range equals {
		// A single one is rather a connection whose loss was not noticed here.
		if len(equals) > 1 && s.beingAnswered(id) {
			continue
		}
		if free, err := s.claim(ctx, id, t.Try); err != nil || free {
			session, found, readErr := s.ownChat(ctx, who, id)
			if err == nil {
				err = readErr
			}
			return session, found, err
		}
	}
	return orchestrator.Session{}, false, nil
}

// claim takes a first try for a repeat, unless its answer got through or the same
// count has taken it.
func (s *Conversation) claim(ctx context.Context, sessionID string, try int) (bool, error) {
	turns, err := s.turns.SessionTurns(ctx, sessionID)
	if err != nil {
		return false, err
	}
	for _, t := range turns {
		if t.Command == noteDelivered {
			return false, nil
		}
	}
	n := note(sessionID, noteRepeat, try)
	n.CreatedAt = s.cfg.Now()
	_, created, err := s.turns.BeginTurn(ctx, n)
	return created, err
}

// repeatWindow is how long, at least, a repeat finds its first try. Clients
// that repeat by themselves do so within minutes.
const repeatWindow = 15 * time.Minute

func quarter(at time.Time) int64 { return at.Unix() / int64(repeatWindow/time.Second) }

// requestSession is the id of the session of the n-th of several equal requests
// of a quarter of an hour. It needs no memory but the store of sessions, so a
// repeat finds its first try also after a restart, and on another replica.
func requestSession(who access.Principal, request string, quarter int64, n int) string {
	return orchestrator.DerivedID("ses", who.Subject(), "request", request, strconv.FormatInt(quarter, 10), strconv.Itoa(n))
}
