package sessions

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Thread identifies the chat of a message from a chat frontend.
type Thread struct {
	// Marked means that the last answer in the history has a marker that was signed for this
	// caller; SessionID and Shown are its content.
	Marked    bool
	SessionID string
	Shown     []string
	// Continued means that the history has an answer before this message.
	Continued bool
	// Conversation is the frontend's id of the chat, "" if it sends none.
	Conversation string
	// Place is the position of the message in its chat, "" if unknown. Another message at the same
	// position replaces the first one, which was edited.
	Place string
	// Request identifies the request of a client that counts its own retries, if nothing else ties
	// it to a chat. Try is how often it was sent before.
	Request string
	Try     int
}

// Threads finds the session of a chat message. In memory it has only the requests that are waiting
// for an answer.
type Threads struct {
	dir     *Directory
	now     func() time.Time
	waiting waiting
}

// NewThreads returns the threads of a directory.
func NewThreads(dir *Directory) *Threads { return &Threads{dir: dir, now: dir.cfg.Now} }

// Start creates the session of a first message. With a key a repeat finds the same session.
func (p *Threads) Start(ctx context.Context, who access.Principal, body contracts.StartSession, key string) (orchestrator.Session, error) {
	if err := orchestrator.CheckMessage(body.Message); err != nil {
		return orchestrator.Session{}, err
	}
	if err := p.dir.CheckWebhook(body.WebhookURL); err != nil {
		return orchestrator.Session{}, err
	}
	if err := p.dir.AllowSession(who); err != nil {
		return orchestrator.Session{}, err
	}
	session := p.dir.Draft(who, body)
	if key != "" {
		session.ID = orchestrator.DerivedID("ses", who.Subject(), key)
	}
	return p.dir.Open(ctx, session)
}

// Find returns the session of a chat: the one in the marker if it is the caller's, else the one of
// the chat's id or of the request that this one repeats. Otherwise it returns false and a new
// session that is not stored.
func (p *Threads) Find(ctx context.Context, who access.Principal, t Thread, message string) (orchestrator.Session, bool, error) {
	fresh := p.dir.Draft(who, contracts.StartSession{Message: cmp.Or(message, "chat")})
	session, found, err := p.Own(ctx, who, t.SessionID)
	if found || err != nil {
		return session, found, err
	}
	switch {
	case t.Conversation != "":
		fresh.ID = ChatID(who, t.Conversation)
		session, found, err = p.Own(ctx, who, fresh.ID)
	case t.Try > 0 && who.Shared():
		session, found, err = p.repeatedByOneOfMany(ctx, who, t)
	case t.Try > 0:
		session, found, err = p.repeated(ctx, who, t.Request)
	}
	if found || err != nil {
		return session, found, err
	}
	return fresh, false, nil
}

// Own returns the session with an id, and whether it is the caller's.
func (p *Threads) Own(ctx context.Context, who access.Principal, id string) (orchestrator.Session, bool, error) {
	if id == "" {
		return orchestrator.Session{}, false, nil
	}
	session, err := p.dir.Get(ctx, id)
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		return orchestrator.Session{}, false, nil
	case err != nil:
		return orchestrator.Session{}, false, err
	}
	return session, who.Subject() == access.SubjectOf(session.Owner), nil
}

// Begin stores the session of a chat, under an id that a repeat of the request will find.
func (p *Threads) Begin(ctx context.Context, who access.Principal, session orchestrator.Session, t Thread) (orchestrator.Session, error) {
	if err := p.dir.AllowSession(who); err != nil {
		return session, err
	}
	if t.Conversation != "" || t.Request == "" {
		return p.dir.Open(ctx, session)
	}
	number := func(n int) string { return requestSession(who, t.Request, quarter(session.CreatedAt), n) }
	n, err := p.unused(ctx, number)
	if err != nil {
		return session, err
	}
	for ; ; n++ {
		session.ID = number(n)
		// A conflict means that an equal request created it at the same moment.
		if err := p.dir.Create(ctx, session); contracts.CodeOf(err) != contracts.CodeConflict {
			return session, err
		}
	}
}

// repeated finds the session of the repeated request: the last one of equal requests.
func (p *Threads) repeated(ctx context.Context, who access.Principal, request string) (orchestrator.Session, bool, error) {
	now := quarter(p.now())
	for _, q := range []int64{now, now - 1} {
		number := func(n int) string { return requestSession(who, request, q, n) }
		n, err := p.unused(ctx, number)
		if err != nil {
			return orchestrator.Session{}, false, err
		}
		if n > 0 {
			return p.Own(ctx, who, number(n-1))
		}
	}
	return orchestrator.Session{}, false, nil
}

// unused returns the first number whose session does not exist. It is an exponential search: it
// doubles its step and then bisects, so that many equal requests cost few reads.
func (p *Threads) unused(ctx context.Context, number func(int) string) (int, error) {
	taken := func(n int) (bool, error) {
		_, err := p.dir.Get(ctx, number(n))
		if contracts.CodeOf(err) == contracts.CodeNotFound {
			return false, nil
		}
		return err == nil, err
	}
	low, high := 0, 0 // all below low exist, high does not
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

// ChatID returns the session id of a frontend's chat.
func ChatID(who access.Principal, conversation string) string {
	return orchestrator.DerivedID("ses", who.Subject(), "chat", conversation)
}

// People who share a key may send equal requests, and a retry of one looks like a retry of the
// other. A retry is therefore assigned to a first request whose answer was not delivered, and to
// each of these only once per retry count, so that nobody who has their answer finds another person
// in their chat.

// maxEquals is the maximum number of equal requests that a retry is compared with.
const maxEquals = 50

// repeatedByOneOfMany finds the first request of a retry if many people share the key. It returns
// false if the retry must be treated as a new request.
func (p *Threads) repeatedByOneOfMany(ctx context.Context, who access.Principal, t Thread) (orchestrator.Session, bool, error) {
	var equals []string
	now := quarter(p.now())
	for _, q := range []int64{now, now - 1} {
		n, err := p.unused(ctx, func(n int) string { return requestSession(who, t.Request, q, n) })
		if err != nil {
			return orchestrator.Session{}, false, err
		}
		for n--; n >= 0 && len(equals) < maxEquals; n-- {
			equals = append(equals, requestSession(who, t.Request, q, n))
		}
	}
	for _, id := range equals {
		// If there is only one, its connection was probably lost without notice.
		if len(equals) > 1 && p.waiting.has(id) {
			continue
		}
		if claimed, err := p.claim(ctx, id, t.Try); err != nil || claimed {
			session, found, readErr := p.Own(ctx, who, id)
			return session, found, cmp.Or(err, readErr)
		}
	}
	return orchestrator.Session{}, false, nil
}

// claim assigns a retry to a first request, unless that request's answer was delivered or a retry
// with the same count is assigned to it.
func (p *Threads) claim(ctx context.Context, sessionID string, try int) (claimed bool, err error) {
	_, err = p.dir.Change(ctx, sessionID, func(s *orchestrator.Session) bool {
		claimed = !s.Delivered && !slices.Contains(s.Repeats, try)
		s.Repeats = append(s.Repeats, try)
		return claimed
	})
	return claimed, err
}

// repeatWindow is the minimum time during which a retry finds its first request. Clients retry
// within minutes.
const repeatWindow = 15 * time.Minute

func quarter(at time.Time) int64 { return at.Unix() / int64(repeatWindow/time.Second) }

// requestSession returns the session id of the n-th of several equal requests within one
// repeatWindow. It is derived, so a retry finds its first request also after a restart and on
// another replica.
func requestSession(who access.Principal, request string, quarter int64, n int) string {
	return orchestrator.DerivedID("ses", who.Subject(), "request", request, strconv.FormatInt(quarter, 10), strconv.Itoa(n))
}

// waiting has the contexts of first requests whose senders wait for the answer, by session.
type waiting struct{ contexts sync.Map }

// has reports whether the sender is still waiting for the answer.
func (w *waiting) has(sessionID string) bool {
	ctx, there := w.contexts.Load(sessionID)
	if !there {
		return false
	}
	alive, ok := ctx.(context.Context)
	return ok && alive.Err() == nil
}

// Exchange begins the answer to a message whose sender counts retries. The caller reports to end
// whether the complete answer was written, which end then commits.
func (p *Threads) Exchange(ctx context.Context, who access.Principal, t Thread, sessionID string) (end func(delivered bool) error) {
	if t.Request == "" || !who.Shared() {
		return func(bool) error { return nil }
	}
	p.waiting.contexts.Store(sessionID, ctx)
	return func(delivered bool) error {
		p.waiting.contexts.CompareAndDelete(sessionID, ctx)
		if !delivered {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notingTakes)
		defer cancel()
		_, err := p.dir.Change(ctx, sessionID, func(s *orchestrator.Session) bool {
			s.Delivered = true
			return true
		})
		return err
	}
}

// notingTakes is the timeout for storing that an answer was delivered.
const notingTakes = 30 * time.Second
