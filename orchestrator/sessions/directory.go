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

// Config configures sessions; the zero value is valid.
type Config struct {
	// Limit bounds how often one caller may start a session.
	Limit access.LimitConfig
	// CheckWebhook returns an error for URLs that must not be called; nil rejects all.
	CheckWebhook func(url string) error
	Now          func() time.Time
}

// Directory gives access to the stored sessions. In memory it has only the rate limiters; every
// method reads the store. It is safe for concurrent use.
type Directory struct {
	cfg     Config
	store   orchestrator.Sessions
	journal execution.Journal
	live    *orchestrator.EventBroker
	limiter *access.Limiter
}

// New returns the directory of a store.
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

// CheckWebhook returns an error if the URL must not be called from this server; "" is valid.
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

// Draft returns a new session that is not stored.
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

// Create inserts a session. It returns conflict if its id exists.
func (d *Directory) Create(ctx context.Context, session orchestrator.Session) error {
	return d.store.CreateSession(ctx, session)
}

// CreateWithRun returns a function that inserts a run together with its new session.
func (d *Directory) CreateWithRun(session orchestrator.Session) execution.Create {
	return func(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
		return d.store.CreateSessionWithRun(ctx, session, run, ttl, first)
	}
}

// Open inserts the session and returns it as stored. If a session of the same owner has this id,
// the request is a repeat and that session is returned.
func (d *Directory) Open(ctx context.Context, session orchestrator.Session) (orchestrator.Session, error) {
	err := d.store.CreateSession(ctx, session)
	if contracts.CodeOf(err) != contracts.CodeConflict {
		return session, err
	}
	there, readErr := d.store.Session(ctx, session.ID)
	switch {
	case contracts.CodeOf(readErr) == contracts.CodeNotFound:
		return session, err
	case readErr != nil: // unknown whether it is the same request
		return session, readErr
	case access.SubjectOf(there.Owner) != access.SubjectOf(session.Owner):
		return session, err
	}
	return there, nil
}

// NameOf returns the name of a session from its first message, at most 60 characters.
func NameOf(message string) string {
	name := contracts.CleanSummary(message)
	if runes := []rune(name); len(runes) > 60 {
		return strings.TrimSpace(string(runes[:59])) + "…"
	}
	return name
}

// Owner returns the owner of a session, without an access check.
func (d *Directory) Owner(ctx context.Context, id string) (contracts.Principal, error) {
	session, err := d.store.Session(ctx, id)
	return session.Owner, err
}

// Get returns a session without an access check; use Read or Own to check access.
func (d *Directory) Get(ctx context.Context, id string) (orchestrator.Session, error) {
	return d.store.Session(ctx, id)
}

// Own returns a session in which the caller may send messages.
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

// may checks that a session is the caller's own, or that they may perform the action on all
// sessions. A key with scopes must reach all runs of the session, and at least one if the session
// is another person's.
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

// maxChanges is the maximum number of attempts of Change when others change the same session.
const maxChanges = 10

// Change commits a change to a session. After a version conflict it calls change again with the
// current session. If change returns false, nothing is saved.
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

// Rename changes the name of a session.
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

// Delete deletes a session whose runs have all ended. Only its owner or an admin may do that.
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

// Events returns a page of the events of a session, in order.
func (d *Directory) Events(ctx context.Context, who access.Principal, id string, p contracts.Page) (contracts.List[contracts.Event], error) {
	if _, err := d.Read(ctx, who, id); err != nil {
		return contracts.List[contracts.Event]{}, err
	}
	return orchestrator.EventsOf(ctx, d.journal, id, p, nil)
}

// Listen subscribes to the events of a session after a sequence number, 0 for all. It returns
// ErrReset if the number is beyond the last event. The caller must call Close.
func (d *Directory) Listen(ctx context.Context, who access.Principal, id string, after int64) (*orchestrator.Listener, error) {
	if _, err := d.Read(ctx, who, id); err != nil {
		return nil, err
	}
	return d.live.Listen(ctx, id, after)
}
