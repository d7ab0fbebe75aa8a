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

// stores are the ports of the core, on any database.
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
	quota  quota // nil if shared is nil
}

// leases returns the lease store, nil for a single server.
func (s stores) leases() orchestrator.LeaseStore {
	if s.shared == nil {
		return nil
	}
	return s.shared
}

// shared has the additional methods of a store that several servers share. It is nil for a store
// of a single server.
type shared interface {
	// Listen calls heard for each change that another server commits, until ctx ends. An empty
	// change means that everything may have changed.
	Listen(ctx context.Context, heard func(postgres.Change))
	// Name returns the owner name under which this server holds runs. FreeRuns ends the leases of
	// servers that have ended, unless they last longer than left.
	Name() string
	FreeRuns(ctx context.Context, left time.Duration) error
	// The leases decide which server runs the single parts.
	orchestrator.LeaseStore
	// Work starts processing jobs, until the worker is stopped.
	Work(ctx context.Context, h postgres.Handlers) (*postgres.Worker, error)
}

// quota coordinates limits with other servers.
type quota interface {
	// Present marks this server as live for ttl and returns its index among the live servers,
	// from 0, and their number. Absent removes it.
	Present(ctx context.Context, ttl time.Duration) (place, servers int, err error)
	Absent(ctx context.Context) error
	// SlotStore grants slots of limits that are too small to divide.
	admission.SlotStore
}

// openStore opens the configured database, or else the file.
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
