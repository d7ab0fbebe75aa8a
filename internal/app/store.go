package app

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/admission"
	"github.com/manifold-run/manifold/internal/store/postgres"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/audit"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// stores are the ports of the core, whatever keeps what they name.
type stores struct {
	runs interface {
		execution.Store
		orchestrator.GateList
	}
	talk interface {
		orchestrator.Sessions
		orchestrator.Turns
		orchestrator.Previews
		orchestrator.Secrets
	}
	mail interface {
		orchestrator.WebhookOutbox
		orchestrator.Inbox
	}
	proofs    audit.Proofs
	held      execution.Quarantine
	directory interface {
		registry.Store
		access.KeyStore
		access.SignInStore
	}
	models modelRows
	shared shared
	quota  quota // nil where shared is
}

// leases are nil where no other server is.
func (s stores) leases() orchestrator.LeaseStore {
	if s.shared == nil {
		return nil
	}
	return s.shared
}

// shared is what a store that several servers use does for them besides; nil
// for one that is this server's alone.
type shared interface {
	// Listen calls heard for each change that another server commits, until ctx
	// ends; one without anything may be any.
	Listen(ctx context.Context, heard func(postgres.Change))
	// Name is the one by which this server holds runs; FreeRuns ends the leases of
	// servers that are gone, unless they last longer than left.
	Name() string
	FreeRuns(ctx context.Context, left time.Duration) error
	// Leases say which server does what only one does.
	orchestrator.LeaseStore
	// Work does what jobs ask for, until the worker is stopped.
	Work(ctx context.Context, h postgres.Handlers) (*postgres.Worker, error)
}

// quota keeps limits together with other servers.
type quota interface {
	// Present says that this server lives for ttl and no longer unless it says so
	// again, and tells which of how many it is, from 0; Absent that it goes.
	Present(ctx context.Context, ttl time.Duration) (place, servers int, err error)
	Absent(ctx context.Context) error
	// Places are those of limits that are too small to share.
	admission.SlotStore
}

// openStore opens the database that the configuration names, or else the file.
func (c Config) openStore(ctx context.Context, path string, sealing [][]byte, again func() ([][]byte, error)) (stores, func() error, error) {
	if c.PostgresURL != "" {
		s, err := postgres.Open(ctx, postgres.Config{URL: c.PostgresURL, SealKeys: sealing, SealKeysAgain: again})
		if err != nil {
			return stores{}, nil, err
		}
		return stores{runs: s.Runs, talk: s.Sessions, mail: s.Queue, directory: s.Admin, proofs: s.Audit, held: s.Quarantine, models: s.Models, shared: s, quota: s.Quota}, s.Close, nil
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path, SealKeys: sealing, Init: c.Init, Now: c.Now})
	if err != nil {
		return stores{}, nil, err
	}
	return stores{runs: s.Runs, talk: s.Sessions, mail: s.Queue, directory: s.Admin, proofs: s.Audit, held: s.Quarantine, models: s.Models}, s.Close, nil
}
