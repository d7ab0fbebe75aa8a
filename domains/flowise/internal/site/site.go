// Package site is shared by all capabilities of the domain: the Flowise servers with their flows,
// credentials, templates and node definitions, the stored data about them, the search by name, and
// the conversion of errors. It has no policy and formats no results.
package site

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Config configures a Site. Data is required.
type Config struct {
	Instances []api.Instance
	API       api.Config
	Data      *store.Store
	Folder    string
	Now       func() time.Time // [time.Now]
	Log       *slog.Logger     // [discards]
}

// Site holds the servers and the stored data about them. It is safe for concurrent use: only known
// changes after New.
type Site struct {
	Pool *api.Pool
	Data *store.Store
	// Folder is the folder from which flows are imported, or "".
	Folder string
	// Shipped are the built-in node definitions.
	Shipped *knowledge.Snapshot
	Now     func() time.Time
	Log     *slog.Logger

	mu    sync.Mutex // guards known
	known map[string]known
}

// New returns a Site; it does not call a server yet.
func New(cfg Config) (*Site, error) {
	if cfg.Data == nil {
		return nil, errors.New("no data; OpenData opens it, also in memory")
	}
	s := &Site{Data: cfg.Data, Folder: cfg.Folder, Now: cfg.Now, Log: cfg.Log, known: map[string]known{}}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	cfg.API.Now, cfg.API.Logger = s.Now, cfg.Log
	var err error
	if s.Pool, err = api.NewPool(cfg.Instances, cfg.API); err != nil {
		return nil, err
	}
	s.Shipped, err = knowledge.Shipped()
	return s, err
}

// Instances returns the servers for the manifest.
func (s *Site) Instances() []contracts.Instance {
	var out []contracts.Instance
	for _, in := range s.Pool.Instances() {
		out = append(out, contracts.Instance{ID: in.ID, Title: in.Title, Default: in.Default})
	}
	return out
}

// Checks returns the health checks. Each server is optional, so that one that is down does not
// affect the others.
func (s *Site) Checks() map[string]domainkit.Check {
	out := map[string]domainkit.Check{"data": {Run: s.Data.Ping, Timeout: 2 * time.Second}}
	for _, in := range s.Pool.Instances() {
		out["instance "+in.ID] = domainkit.Check{Optional: true, Timeout: 5 * time.Second, Run: func(ctx context.Context) error {
			client, err := s.Pool.Client(in.ID)
			if err != nil {
				return err
			}
			if err := client.Ping(ctx); err != nil {
				return errors.New(flow.Hide(err.Error())) // health is public, and a server's message may contain keys
			}
			return nil
		}}
	}
	return out
}
