// Package flowise is the domain of Flowise: chatflows are found, compiled from
// edits, checked, written, tested, versioned and rolled back, on one or several
// servers.
//
// The manifest is made of the Go types here and of the files in manifest, which
// hold words and texts, and of the skills. The package reads no
// environment: everything that differs between installations is in Config. It
// knows nothing of plans and approvals; what may be written is decided before a
// call reaches it, and that only checked bytes are written is decided here.
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

// Instance is one Flowise that the domain serves.
type Instance = api.Instance

// ParseInstances reads a JSON list of instances and the keys that it names.
func ParseInstances(text string, getenv func(string) string) ([]Instance, error) {
	return api.ParseInstances(text, getenv)
}

// Data is what the domain remembers beyond a process: versions of flows, what
// passed validation, patterns, fresher definitions of nodes.
type Data = store.Store

// OpenData opens a Data: a file, which is made if there is none, or the address
// of a PostgreSQL database (postgres://…); "" keeps it in memory. Close it when
// the service has stopped.
func OpenData(ctx context.Context, source string) (*Data, error) {
	return store.Open(ctx, store.Config{Source: source})
}

// Drift describes what to do when the definitions of nodes are others than those
// that a plan was made with.
type Drift = policy.Drift

// The policies.
const (
	DriftWarn    = policy.DriftWarn
	DriftFail    = policy.DriftFail
	DriftRefresh = policy.DriftRefresh
)

// Acting describes what becomes of questions to flows that may act on the world when
// they are asked, by their tools.
type Acting = policy.Acting

// The policies.
const (
	ActingRefuse = policy.ActingRefuse
	ActingAllow  = policy.ActingAllow
)

// Config describes the servers and the service in front of them. Instances and
// Data are required.
type Config struct {
	Instances []Instance
	// Data keeps versions, patterns and the guard of writes.
	Data *Data
	// Keys keeps idempotency keys [in memory, forgotten at a restart].
	Keys domainkit.Store
	// Authorization are the bearer tokens that callers of the service must
	// send; none means no authentication.
	Authorization []string
	// Folder is where exported flows are, which can be imported from there [none].
	Folder string
	// Drift is what to do about definitions that changed [warn].
	Drift Drift
	// Acting is what becomes of questions to flows that may act [refuse].
	Acting Acting
	// MaxConcurrency bounds the requests under way to each server [4].
	MaxConcurrency int
	// CacheTTL is how long definitions and templates are kept [5m].
	CacheTTL time.Duration
	// BackoffMin and BackoffMax bound the wait between tries of a read [200ms, 5s].
	BackoffMin, BackoffMax time.Duration
	// Transport carries the requests [a clone of http.DefaultTransport].
	Transport http.RoundTripper
	Now       func() time.Time
	Logger    *slog.Logger
}

// New makes the service; it calls no server yet.
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

// site opens the servers and what is kept of them.
func (cfg Config) site() (*site.Site, error) {
	return site.New(site.Config{
		Instances: cfg.Instances, Data: cfg.Data, Folder: cfg.Folder, Now: cfg.Now, Log: cfg.Logger,
		API: api.Config{
			MaxConcurrency: cfg.MaxConcurrency, CacheTTL: cfg.CacheTTL, BackoffMin: cfg.BackoffMin, BackoffMax: cfg.BackoffMax,
			Transport: cfg.Transport,
		},
	})
}

// readManifest merges the words and texts of the packages: domain.json is the
// manifest, the other files add capabilities and workflows to it.
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

// readSkills returns the texts for prompts by the names of their files.
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
