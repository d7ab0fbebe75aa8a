package conversation

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/conversation/command"
	"github.com/manifold-run/manifold/orchestrator/gates"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// Config configures conversations; the zero value is valid.
type Config struct {
	// FinishEvery is the time between sweeps for interrupted turns [30 s].
	FinishEvery time.Duration
	// Restored is when the server was started on a restored database, else zero. Turns from before
	// that are not resumed.
	Restored time.Time
	Now      func() time.Time
	Logger   *slog.Logger
	// NoModelWords means that a model does not answer general questions and small talk.
	NoModelWords bool
}

// Deps are the use cases and ports that Conversation needs.
type Deps struct {
	Sessions *sessions.Directory
	Gates    *gates.Gates
	Runs     *runs.Runs
	Turns    orchestrator.Turns
	Store    execution.Store
	Runner   *execution.Runner
	Local    *local.Reader
	// Model interprets messages; nil if no model is configured.
	Model    intent.Reader
	Catalogs orchestrator.Catalogs
	Notifier orchestrator.Notifier
	// Leases coordinates the servers of a cluster; nil for a single server.
	Leases orchestrator.LeaseStore
}

// Conversation processes what people send. All state is in the store; in memory it has only the
// turns that this process is processing.
type Conversation struct {
	cfg      Config
	dir      *sessions.Directory
	turns    orchestrator.Turns
	journal  execution.Journal
	notifier orchestrator.Notifier
	threads  *sessions.Threads
	reader   *classifier
	machine  *machine
	views    *answer.Views
	flights  singleflight.Group

	stop context.CancelFunc
	done chan struct{}
}

// New returns the conversations of a store. Start starts to finish interrupted turns.
func New(cfg Config, deps Deps) (*Conversation, error) {
	if deps.Sessions == nil || deps.Gates == nil || deps.Runs == nil || deps.Turns == nil || deps.Store == nil ||
		deps.Runner == nil || deps.Local == nil || deps.Catalogs == nil || deps.Notifier == nil {
		return nil, errors.New("conversation: every dependency is needed")
	}
	cfg.FinishEvery = cmp.Or(cfg.FinishEvery, 30*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	v, err := answer.NewViews(answer.ViewDeps{
		Sessions: deps.Sessions, Gates: deps.Gates, Turns: deps.Turns, Runner: deps.Runner, Catalogs: deps.Catalogs,
	})
	if err != nil {
		return nil, err
	}
	intents := intent.NewAdapter(deps.Local, deps.Model)
	inputs := &classifier{now: cfg.Now, store: deps.Store, gates: deps.Gates, turns: deps.Turns, local: deps.Local, intents: intents, catalogs: deps.Catalogs, runner: deps.Runner}
	return &Conversation{
		cfg: cfg, dir: deps.Sessions, turns: deps.Turns, journal: deps.Store, notifier: deps.Notifier, views: v,
		threads: sessions.NewThreads(deps.Sessions),
		reader:  inputs,
		machine: &machine{
			reader: inputs, plain: cfg.NoModelWords, now: cfg.Now, restored: cfg.Restored, logger: cfg.Logger, dir: deps.Sessions, turns: deps.Turns, store: deps.Store, gates: deps.Gates, runner: deps.Runner, local: deps.Local, intents: intents, catalogs: deps.Catalogs, notifier: deps.Notifier, leases: deps.Leases,
			runs: deps.Runs, commands: command.New(command.Deps{
				Sessions: deps.Sessions, Gates: deps.Gates, Runs: deps.Runs, Views: v, Turns: deps.Turns, Store: deps.Store,
				Runner: deps.Runner, Catalogs: deps.Catalogs, Notifier: deps.Notifier, Now: cfg.Now, Logger: cfg.Logger,
			}),
		},
	}, nil
}

// Start finishes the turns that the last stop has interrupted, and then regularly those that were
// interrupted since.
func (c *Conversation) Start(ctx context.Context) error {
	if c.stop != nil {
		return nil
	}
	// The sweep outlives the context of the call that started it.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop, c.done = stop, make(chan struct{})
	go c.sweep(work, c.cfg.Now()) // newer turns are finished by their own callers
	return nil
}

// Stop ends the sweep and waits for it; a second call is harmless.
func (c *Conversation) Stop(ctx context.Context) error {
	if c.stop == nil {
		return nil
	}
	c.stop()
	select {
	case <-c.done:
		c.stop = nil // Start may be called again
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Conversation) sweep(ctx context.Context, begun time.Time) {
	defer close(c.done)
	ticker := time.NewTicker(c.cfg.FinishEvery)
	defer ticker.Stop()
	c.machine.sweep(ctx, begun)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// Newer turns are probably being processed at this moment.
			c.machine.sweep(ctx, c.cfg.Now().Add(-c.cfg.FinishEvery))
		}
	}
}
