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

// Thread is how a chat frontend ties a message to its chat.
type Thread struct {
	// Marked reports whether the last answer of the history carries a marker that
	// was signed for this caller; SessionID and Shown are what it says.
	Marked    bool
	SessionID string
	Shown     []string
	// Continued reports whether the history has an answer before this message.
	Continued bool
	// Conversation is the frontend's id of the chat, "" if it sends none.
	Conversation string
	// Place identifies where in its chat the message stands, "" if that is not
	// known: another message at the same place is the first one, edited.
	Place string
	// Request identifies the request of a client that counts its own repeats,
	// where nothing else ties it to a chat; Try is how often it was sent before.
	Request string
	Try     int
}

// Threads finds the session that a message belongs to. It keeps only who is
// waiting for an answer at this moment.
type Threads struct {
	dir     *Directory
	now     func() time.Time
	waiting waiting
}

// NewThreads finds sessions in a directory.
func NewThreads(dir *Directory) *Threads { return &Threads{dir: dir, now: dir.cfg.Now} }

// Start opens the session of a first message. With a key a repeat finds it.
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

// Find returns the session of a chat: the one that the marker names if it is the
// caller's, else the one of the chat's id or of the request that this one
// repeats, else a new one.
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

// Own returns the session of an id, and whether it is the caller's.
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

// Begin opens the session of a chat, under an id that a repeat of the request
// will find.
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
		// A conflict: the same was asked at the same moment, by another request.
		if err := p.dir.Create(ctx, session); contracts.CodeOf(err) != contracts.CodeConflict {
			return session, err
		}
	}
}

// repeated finds the session of the request that is repeated: the last of its
// equals.
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

// unused returns the first number whose session does not exist. It tries
// numbers at doubling distances and then searches between the last two (an
// exponential search), so that who asks the same every second costs few reads.
func (p *Threads) unused(ctx context.Context, number func(int) string) (int, error) {
	taken := func(n int) (bool, error) {
		_, err := p.dir.Get(ctx, number(n))
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

// ChatID is the session of a frontend's chat.
func ChatID(who access.Principal, conversation string) string {
	return orchestrator.DerivedID("ses", who.Subject(), "chat", conversation)
}

// People who share a key may ask the same in the same words, and a repeat of one
// of them looks like a repeat of the other. It goes to a first try whose answer
// did not get through, and each of those takes one repeat of a count: whoever
// has their answer never finds somebody else in their chat.

// maxEquals bounds how many equal first tries a repeat looks at.
const maxEquals = 50

// repeatedByOneOfMany finds the first try of a repeat where many people share the
// key; none means that it is taken for a request of its own.
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
		// A single one is rather a connection whose loss was not noticed here.
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

// claim commits that a first try is taken for a repeat, unless its answer got
// through or the same count has taken it.
func (p *Threads) claim(ctx context.Context, sessionID string, try int) (claimed bool, err error) {
	_, err = p.dir.Change(ctx, sessionID, func(s *orchestrator.Session) bool {
		claimed = !s.Delivered && !slices.Contains(s.Repeats, try)
		s.Repeats = append(s.Repeats, try)
		return claimed
	})
	return claimed, err
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

// waiting has the contexts of first requests whose senders wait for the answer,
// by session.
type waiting struct{ contexts sync.Map }

// has reports whether somebody is still waiting for the answer.
func (w *waiting) has(sessionID string) bool {
	ctx, there := w.contexts.Load(sessionID)
	if !there {
		return false
	}
	alive, ok := ctx.(context.Context)
	return ok && alive.Err() == nil
}

// Exchange begins the answer to a message whose sender counts repeats. Its end
// reports whether the whole answer was written, and commits that it was.
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

// notingTakes bounds the note that an answer was delivered.
const notingTakes = 30 * time.Second
