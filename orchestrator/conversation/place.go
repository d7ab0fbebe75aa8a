package conversation

import (
	"cmp"
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// chatSession finds the session of a chat: the one that the marker names if it
// is the caller's, else the one of the chat's id or of the request that this
// one repeats, else a new one.
func (s *Conversation) chatSession(ctx context.Context, who access.Principal, t ChatTurn) (orchestrator.Session, bool, error) {
	fresh := s.dir.Draft(who, contracts.StartSession{Message: cmp.Or(t.Message, "chat")})
	session, found, err := s.ownChat(ctx, who, t.SessionID)
	if found || err != nil {
		return session, found, err
	}
	switch {
	case t.Conversation != "":
		fresh.ID = chatID(who, t.Conversation)
		session, found, err = s.ownChat(ctx, who, fresh.ID)
	case t.Try > 0 && who.Shared():
		session, found, err = s.repeatedByOneOfMany(ctx, who, t)
	case t.Try > 0:
		session, found, err = s.repeated(ctx, who, t.Request)
	}
	if found || err != nil {
		return session, found, err
	}
	return fresh, false, nil
}

func (s *Conversation) ownChat(ctx context.Context, who access.Principal, id string) (orchestrator.Session, bool, error) {
	if id == "" {
		return orchestrator.Session{}, false, nil
	}
	session, err := s.dir.Get(ctx, id)
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		return orchestrator.Session{}, false, nil
	case err != nil:
		return orchestrator.Session{}, false, err
	}
	return session, who.Subject() == access.SubjectOf(session.Owner), nil
}

// beginChat opens the session of a chat, under an id that a repeat of the
// request will find.
func (s *Conversation) beginChat(ctx context.Context, who access.Principal, session orchestrator.Session, t ChatTurn) (orchestrator.Session, error) {
	if err := s.dir.Admit(who); err != nil {
		return session, err
	}
	if t.Conversation != "" || t.Request == "" {
		return session, s.dir.Open(ctx, session)
	}
	number := func(n int) string { return requestSession(who, t.Request, quarter(session.CreatedAt), n) }
	n, err := s.unused(ctx, number)
	if err != nil {
		return session, err
	}
	for ; ; n++ {
		session.ID = number(n)
		// A conflict: the same was asked at the same moment, by another request.
		if err := s.dir.Create(ctx, session); contracts.CodeOf(err) != contracts.CodeConflict {
			return session, err
		}
	}
}

// repeated finds the session of the request that is repeated: the last of its
// equals.
func (s *Conversation) repeated(ctx context.Context, who access.Principal, request string) (orchestrator.Session, bool, error) {
	now := quarter(s.cfg.Now())
	for _, q := range []int64{now, now - 1} {
		number := func(n int) string { return requestSession(who, request, q, n) }
		n, err := s.unused(ctx, number)
		if err != nil {
			return orchestrator.Session{}, false, err
		}
		if n > 0 {
			return s.ownChat(ctx, who, number(n-1))
		}
	}
	return orchestrator.Session{}, false, nil
}

// unused gives the first number whose session does not exist. It gallops and
// halves: somebody who asks the same every second costs few reads.
func (s *Conversation) unused(ctx context.Context, number func(int) string) (int, error) {
	taken := func(n int) (bool, error) {
		_, err := s.dir.Get(ctx, number(n))
		if contracts.CodeOf(err) == contracts.CodeNotFound {
			return false, nil
		}
		return err == nil, err
	}
	low, high := 0, 0 // all below low are taken, high is not
	for step := 1; ; step *= 2 {
		is, err := taken(high)
		if err != nil {
			return 0, err
		}
		if !is {
			break
		}
		low, high = high+1, high+step
	}
	for low < high {
		middle := (low + high) / 2
		is, err := taken(middle)
		switch {
		case err != nil:
			return 0, err
		case is:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, nil
}

// GoesOn tells whether a chat is still the one to talk in although a newer one
// could begin: something runs or waits in it, and the newer one has not begun.
func (s *Conversation) GoesOn(ctx context.Context, who access.Principal, conversation, newer string) bool {
	if _, begun, err := s.ownChat(ctx, who, chatID(who, newer)); begun || err != nil {
		return false
	}
	session, begun, err := s.ownChat(ctx, who, chatID(who, conversation))
	if !begun || err != nil {
		return false
	}
	open, err := s.runs.Interrupts(ctx, execution.InterruptFilter{SessionID: session.ID, Status: contracts.InterruptOpen, Limit: 1})
	if err != nil || len(open) > 0 {
		return err == nil
	}
	runs, err := s.runs.ListRuns(ctx, execution.RunFilter{SessionID: session.ID, Limit: orchestrator.MaxPage, Brief: true})
	return err == nil && slices.ContainsFunc(runs, func(r execution.Run) bool { return !r.State.Terminal() })
}

// chatID is the session of a frontend's chat.
func chatID(who access.Principal, conversation string) string {
	return orchestrator.DerivedID("ses", who.Subject(), "chat", conversation)
}
