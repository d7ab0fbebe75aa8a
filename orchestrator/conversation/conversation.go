package conversation

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Config is how conversations are led; the zero value is a sound default.
type Config struct {
	Now    func() time.Time
	Logger *slog.Logger
}

// Deps are the rooms and ports that conversations work with.
type Deps struct {
	Sessions *sessions.Directory
	Gates    *gates.Gates
	RunUse   *runs.Runs
	Turns    orchestrator.Turns
	Runs     execution.Store
	Runner   *execution.Runner
	Intents  *intent.Adapter
	Catalogs orchestrator.Catalogs
	Hub      *orchestrator.Hub
}

// Conversation takes what people say to where it leads.
type Conversation struct {
	cfg      Config
	dir      *sessions.Directory
	gates    *gates.Gates
	runUse   *runs.Runs
	turns    orchestrator.Turns
	runs     execution.Store
	runner   *execution.Runner
	intents  *intent.Adapter
	catalogs orchestrator.Catalogs
	hub      *orchestrator.Hub
	flights  singleflight.Group
	// answering has the contexts of first requests under way, by session.
	answering sync.Map
}

// New makes the conversations of a store.
func New(cfg Config, deps Deps) (*Conversation, error) {
	if deps.Sessions == nil || deps.Gates == nil || deps.RunUse == nil || deps.Turns == nil || deps.Runs == nil ||
		deps.Runner == nil || deps.Intents == nil || deps.Catalogs == nil || deps.Hub == nil {
		return nil, errors.New("conversation: every dependency is needed")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Conversation{
		cfg: cfg, dir: deps.Sessions, gates: deps.Gates, runUse: deps.RunUse, turns: deps.Turns, runs: deps.Runs,
		runner: deps.Runner, intents: deps.Intents, catalogs: deps.Catalogs, hub: deps.Hub,
	}, nil
}

// Decide decides or answers a question by its id or code.
func (s *Conversation) Decide(ctx context.Context, who access.Principal, idOrCode string, body contracts.Resume, wait time.Duration) (contracts.Interrupt, error) {
	i, err := s.gates.Get(ctx, who, idOrCode)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if i, err = s.decide(ctx, who, i, body); err != nil {
		return contracts.Interrupt{}, err
	}
	if wait > 0 {
		_, err = s.await(ctx, i.SessionID, wait)
	}
	return i, err
}

// Resume decides or answers a session's open question, named by the body when
// several are open.
func (s *Conversation) Resume(ctx context.Context, who access.Principal, sessionID string, body contracts.Resume, wait time.Duration) (contracts.SessionResponse, error) {
	i, err := s.gates.Open(ctx, who, sessionID, body.InterruptID)
	if err != nil {
		return contracts.SessionResponse{}, err
	}
	if _, err := s.decide(ctx, who, i, body); err != nil {
		return contracts.SessionResponse{}, err
	}
	return s.await(ctx, sessionID, wait)
}

// decide is behind every door. The answer to a question before there is a plan
// goes on with its turn; one whose turn was not finished is finished now.
func (s *Conversation) decide(ctx context.Context, who access.Principal, i contracts.Interrupt, body contracts.Resume) (contracts.Interrupt, error) {
	decided, err := s.gates.Decide(ctx, who, i, body)
	if contracts.CodeOf(err) == contracts.CodeConflict && i.RunID == "" && i.Status == contracts.InterruptAnswered {
		decided, err = i, nil
	}
	if err != nil {
		return contracts.Interrupt{}, err
	}
	if decided.RunID != "" || decided.Status != contracts.InterruptAnswered {
		return decided, nil
	}
	// The answer stands: its turn goes on even if the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionWait)
	defer cancel()
	return decided, s.continueTurn(ctx, who, decided)
}
