package sessions

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Config is how sessions are opened; the zero value is a sound default.
type Config struct {
	// Limit bounds how often one caller may start a session.
	Limit access.LimitConfig
	// CheckWebhook refuses URLs that webhooks must not go to; nil refuses all.
	CheckWebhook func(url string) error
	Now          func() time.Time
}

// Directory gives access to the stored sessions. It holds nothing but the limit
// of each caller; every method reads the store again.
type Directory struct {
	cfg     Config
	store   orchestrator.Sessions
	journal execution.Journal
	live    *orchestrator.EventBroker
	limiter *access.Limiter
}

// New makes the directory of a store.
func New(cfg Config, store orchestrator.Sessions, journal execution.Journal, live *orchestrator.EventBroker) (*Directory, error) {
	if store == nil || journal == nil || live == nil {
		return nil, errors.New("sessions: every dependency is needed")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	limiter, err := access.NewLimiter(cfg.Limit)
	if err != nil {
		return nil, err
	}
	return &Directory{cfg: cfg, store: store, journal: journal, live: live, limiter: limiter}, nil
}

// AllowSession takes one token from the caller's rate limiter for new sessions.
func (d *Directory) AllowSession(who access.Principal) error {
	if err := who.May(access.ActionStartSession); err != nil {
		return err
	}
	return d.limiter.AllowSession(who)
}

// AllowMessage takes one token from the message rate limiter of the session.
func (d *Directory) AllowMessage(sessionID string) error { return d.limiter.AllowMessage(sessionID) }

// CheckWebhook refuses a URL that must not be called from here; "" is none.
func (d *Directory) CheckWebhook(url string) error {
	switch {
	case url == "":
		return nil
	case d.cfg.CheckWebhook == nil:
		return contracts.Errorf(contracts.CodeUnsupported, "this server sends no webhooks")
	}
	if err := d.cfg.CheckWebhook(url); err != nil {
		return contracts.Invalid("the webhook is refused", contracts.Fault{Pointer: "/webhook_url", Message: err.Error()})
	}
	return nil
}

// Draft makes a session that nobody has stored yet.
func (d *Directory) Draft(who access.Principal, body contracts.StartSession) orchestrator.Session {
	now := d.cfg.Now()
	session := orchestrator.Session{
		ID: execution.NewID("ses"), Name: cmp.Or(strings.TrimSpace(body.Name), NameOf(body.Message)), Owner: who.Contract(),
		WebhookURL: body.WebhookURL, Instances: body.Instances, Options: body.Options, CreatedAt: now, UpdatedAt: now,
	}
	if body.Budgets != nil {
		session.Budgets = *body.Budgets
	}
	return session
}

// Create inserts a session; conflict says that its id is taken.
func (d *Directory) Create(ctx context.Context, session orchestrator.Session) error {
	return d.store.CreateSession(ctx, session)
}

// CreateWithRun stores a run together with its new session.
func (d *Directory) CreateWithRun(session orchestrator.Session) execution.Create {
	return func(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
		return d.store.CreateSessionWithRun(ctx, session, run, ttl, first)
	}
}

// Open inserts the session and gives it as it is stored; one that is there already with
// the same owner is the same request again.
func (d *Directory) Open(ctx context.Context, session orchestrator.Session) (orchestrator.Session, error) {
	err := d.store.CreateSession(ctx, session)
	if contracts.CodeOf(err) != contracts.CodeConflict {
		return session, err
	}
	there, readErr := d.store.Session(ctx, session.ID)
	switch {
	case contracts.CodeOf(readErr) == contracts.CodeNotFound:
		return session, err
	case readErr != nil: // whether it is the same request cannot be told now
		return session, readErr
	case access.SubjectOf(there.Owner) != access.SubjectOf(session.Owner):
		return session, err
	}
	return there, nil
}

// NameOf makes a session's name of its first message.
func NameOf(message string) string {
	name := contracts.CleanSummary(message)
	if runes := []rune(name); len(runes) > 60 {
		return strings.TrimSpace(string(runes[:59])) + "…"
	}
	return name
}

// Owner returns whose session it is, to any caller.
func (d *Directory) Owner(ctx context.Context, id string) (contracts.Principal, error) {
	session, err := d.store.Session(ctx, id)
	return session.Owner, err
}

// Get gives a session to any caller; Read and Own say who may.
func (d *Directory) Get(ctx context.Context, id string) (orchestrator.Session, error) {
	return d.store.Session(ctx, id)
}

// Own returns a session that the caller may go on with.
func (d *Directory) Own(ctx context.Context, who access.Principal, id string) (orchestrator.Session, error) {
	session, err := d.store.Session(ctx, id)
	if err != nil {
		return orchestrator.Session{}, err
	}
	return session, access.MaskForbidden(d.may(ctx, who, session, access.ActionSteerAllRuns), "session", id)
}

// Read returns a session that the caller may see.
func (d *Directory) Read(ctx context.Context, who access.Principal, id string) (orchestrator.Session, error) {
	session, err := d.store.Session(ctx, id)
	if err != nil {
		return orchestrator.Session{}, err
	}
	return session, access.MaskForbidden(d.may(ctx, who, session, access.ActionReadAllRuns), "session", id)
}

// may reports whether a session is the caller's own, or they may do this with
// everybody's; a key with scopes must reach all of its runs, and of another's
// session at least one.
func (d *Directory) may(ctx context.Context, who access.Principal, session orchestrator.Session, others access.Action) error {
	err := who.MayWith(session.Owner, others)
	if err != nil || who.Scopes.All() {
		return err
	}
	known := access.SubjectOf(session.Owner) == who.Subject()
	for f := (execution.RunFilter{SessionID: session.ID, Limit: contracts.MaxPageLimit}); ; {
		runs, err := d.journal.ListRuns(ctx, f)
		if err != nil {
			return err
		}
		for _, r := range runs.Items {
			if err := who.Reaches(r.Plan); err != nil {
				return err
			}
			known = true
		}
		if f.Cursor = runs.Next; f.Cursor == "" {
			break
		}
	}
	if !known {
		return contracts.Errorf(contracts.CodeForbidden, "this key does not reach it")
	}
	return nil
}

// List returns a page of the caller's sessions, the newest first.
func (d *Directory) List(ctx context.Context, who access.Principal, before time.Time, p contracts.Page) (contracts.List[orchestrator.Session], error) {
	p = p.Bounded(contracts.MaxPageLimit)
	return d.store.ListSessions(ctx, orchestrator.SessionFilter{Owner: who.Subject(), Before: before, Cursor: p.Cursor, Limit: p.Limit})
}

// maxChanges bounds how often a change is tried while others change the same.
const maxChanges = 10

// Change commits a change to a session, made again on whatever it is then; a
// change that gives false is none.
func (d *Directory) Change(ctx context.Context, id string, change func(*orchestrator.Session) bool) (session orchestrator.Session, err error) {
	for range maxChanges {
		if session, err = d.store.Session(ctx, id); err != nil || !change(&session) {
			return session, err
		}
		session, err = d.store.SaveSession(ctx, session)
		if contracts.CodeOf(err) != contracts.CodeConflict {
			return session, err
		}
	}
	return session, err
}

// Rename gives a session another name.
func (d *Directory) Rename(ctx context.Context, who access.Principal, id, name string) (orchestrator.Session, error) {
	session, err := d.Own(ctx, who, id)
	if err != nil {
		return session, err
	}
	name = contracts.CleanSummary(name)
	if name == "" {
		return session, contracts.Invalid("the name is empty", contracts.Fault{Pointer: "/name", Message: "give a name"})
	}
	return d.Change(ctx, id, func(s *orchestrator.Session) bool {
		s.Name, s.UpdatedAt = name, d.cfg.Now()
		return true
	})
}

// Delete removes a session whose runs have all ended: its owner's, or an admin's,
// never a peer's.
func (d *Directory) Delete(ctx context.Context, who access.Principal, id string) error {
	session, err := d.Read(ctx, who, id)
	if err == nil && access.SubjectOf(session.Owner) != who.Subject() {
		err = who.May(access.ActionDeleteSessions)
	}
	if err != nil {
		return err
	}
	return d.store.DeleteSession(who.WithAuditRecord(ctx, contracts.ActSessionDeleted, id, nil), id)
}

// Events gives a page of what happened in a session, in order.
func (d *Directory) Events(ctx context.Context, who access.Principal, id string, p contracts.Page) (contracts.List[contracts.Event], error) {
	if _, err := d.Read(ctx, who, id); err != nil {
		return contracts.List[contracts.Event]{}, err
	}
	return orchestrator.EventsOf(ctx, d.journal, id, p, nil)
}

// Listen begins to listen to a session after a place, 0 for the beginning. A
// place that lies ahead of the session gives ErrReset. Close ends it.
func (d *Directory) Listen(ctx context.Context, who access.Principal, id string, after int64) (*orchestrator.Listener, error) {
	if _, err := d.Read(ctx, who, id); err != nil {
		return nil, err
	}
	return d.live.Listen(ctx, id, after)
}
