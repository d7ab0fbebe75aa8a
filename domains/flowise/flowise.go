// Package flowise is the domain of Flowise: it finds chatflows, compiles edits, and validates,
// writes, tests, versions and rolls back flows on one or several servers.
//
// The manifest is built from the Go types and the files in manifest, which hold vocabulary and
// texts, and the skills. The package does not read the environment: everything that differs between
// installations is in Config. It does not know plans or approvals; the core decides what may be
// written. This package guarantees that only validated bytes are written.
package flowise

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/api"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

// Version is the version of the domain.
const Version = "1.0.0"

//go:embed manifest/*.json
var manifestFiles embed.FS

//go:embed skills/*.md
var skillFiles embed.FS

// Instance is one Flowise server.
type Instance = api.Instance

// ParseInstances parses a JSON list of instances and reads the API keys from the variables that it
// names.
func ParseInstances(text string, getenv func(string) string) ([]Instance, error) {
	return api.ParseInstances(text, getenv)
}

// Data is the domain's persistent data: versions of flows, hashes of validated flows, patterns and
// refreshed node definitions.
type Data = store.Store

// OpenData opens the data of a source: a SQLite file, which is created if needed, or the URL of a
// PostgreSQL database (postgres://…). "" keeps the data in memory. Close it after the service has
// stopped.
func OpenData(ctx context.Context, source string) (*Data, error) {
	return store.Open(ctx, store.Config{Source: source})
}

// Drift is the policy if the node definitions have changed since a plan was made.
type Drift = policy.Drift

// The policies.
const (
	DriftWarn    = policy.DriftWarn
	DriftFail    = policy.DriftFail
	DriftRefresh = policy.DriftRefresh
)

// Acting is the policy for questions to flows whose tools may have effects outside Flowise.
type Acting = policy.Acting

// The policies.
const (
	ActingRefuse = policy.ActingRefuse
	ActingAllow  = policy.ActingAllow
)

// Config configures the servers and the service in front of them. Instances and Data are required.
type Config struct {
	Instances []Instance
	// Data stores versions, patterns and the hashes of validated flows.
	Data *Data
	// Keys stores the idempotency keys [in memory, lost at a restart].
	Keys domainkit.Store
	// Authorization are the bearer tokens that callers must send; none means no authentication.
	Authorization []string
	// Folder is the folder of exported flows that can be imported [none].
	Folder string
	// Drift is the policy for changed definitions [warn].
	Drift Drift
	// Acting is the policy for questions to flows that may act [refuse].
	Acting Acting
	// MaxConcurrency limits the concurrent requests to each server [4].
	MaxConcurrency int
	// CacheTTL is how long definitions and templates are cached [5m].
	CacheTTL time.Duration
	// BackoffMin and BackoffMax bound the wait between attempts of a read [200ms, 5s].
	BackoffMin, BackoffMax time.Duration
	// Transport sends the requests [a clone of http.DefaultTransport].
	Transport http.RoundTripper
	Now       func() time.Time
	Logger    *slog.Logger
}

// New returns the service; it does not call a server yet.
func New(cfg Config) (*domainkit.Service, error) {
	s, err := cfg.site()
	if err != nil {
		return nil, fmt.Errorf("flowise domain: %w", err)
	}
	words, err := readManifest()
	if err != nil {
		return nil, fmt.Errorf("flowise domain: %w", err)
	}
	skills, err := readSkills()
	if err != nil {
		return nil, fmt.Errorf("flowise domain: %w", err)
	}
	svc, err := domainkit.New(domainkit.Config{
		Domain: "flowise", Version: Version, Hints: words, Skills: skills, Instances: s.Instances(),
		Tokens: cfg.Authorization, Store: cfg.Keys, Logger: cfg.Logger, Now: cfg.Now, Checks: s.Checks(),
	})
	if err != nil {
		return nil, err
	}
	if err := cfg.register(svc, s); err != nil {
		return nil, fmt.Errorf("flowise domain: %w", err)
	}
	return svc, nil
}

// site returns the servers with their caches and data.
func (cfg Config) site() (*site.Site, error) {
	return site.New(site.Config{
		Instances: cfg.Instances, Data: cfg.Data, Folder: cfg.Folder, Now: cfg.Now, Log: cfg.Logger,
		API: api.Config{
			MaxConcurrency: cfg.MaxConcurrency, CacheTTL: cfg.CacheTTL, BackoffMin: cfg.BackoffMin, BackoffMax: cfg.BackoffMax,
			Transport: cfg.Transport,
		},
	})
}

// readManifest merges the manifest files: domain.json is the manifest, the other files add
// capabilities and workflows.
func readManifest() ([]byte, error) {
	entries, err := manifestFiles.ReadDir("manifest")
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	whole := map[string]json.RawMessage{}
	var capabilities, workflows []json.RawMessage
	for _, e := range entries {
		raw, err := manifestFiles.ReadFile(path.Join("manifest", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", e.Name(), err)
		}
		var part struct {
			Capabilities []json.RawMessage `json:"capabilities"`
			Workflows    []json.RawMessage `json:"workflows"`
		}
		into := any(&part)
		if e.Name() == "domain.json" {
			into = &whole
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", e.Name(), err)
		}
		capabilities, workflows = append(capabilities, part.Capabilities...), append(workflows, part.Workflows...)
	}
	if whole["workflows"], err = json.Marshal(workflows); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	if whole["capabilities"], err = json.Marshal(capabilities); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return json.Marshal(whole)
}

// readSkills returns the prompt texts by file name.
func readSkills() (map[string]string, error) {
	entries, err := skillFiles.ReadDir("skills")
	if err != nil {
		return nil, fmt.Errorf("read skills: %w", err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := skillFiles.ReadFile(path.Join("skills", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read skill %s: %w", e.Name(), err)
		}
		out[strings.TrimSuffix(e.Name(), ".md")] = string(text)
	}
	return out, nil
}
