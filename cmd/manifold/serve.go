package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/cmd/manifold/internal/options"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/app"
)

// serveOptions is the configuration of a server, as --print-config shows it.
type serveOptions struct {
	Addr                string `json:"addr"`
	Data                string `json:"data"`
	Bootstrap           string `json:"bootstrap"`
	LogLevel            string `json:"log_level"`
	LogFormat           string `json:"log_format"`
	ForwardedUserHeader string `json:"forwarded_user_header"`
	// FrontendRoles maps the roles of a chat frontend to roles here.
	FrontendRoles        map[string]string  `json:"frontend_roles,omitempty"`
	FrontendJWT          string             `json:"frontend_jwt,omitempty"`
	Links                linkOptions        `json:"approval_links,omitzero"`
	Telegram             telegramOptions    `json:"telegram,omitzero"`
	Embeddings           options.Embeddings `json:"embeddings,omitzero"`
	Mind                 options.Mind       `json:"mind,omitzero"`
	Gates                options.Thresholds `json:"gates,omitzero"`
	SessionsPerMinute    int                `json:"sessions_per_minute"`
	RequestsPerMinute    int                `json:"requests_per_minute"`
	MaxActiveRuns        int                `json:"max_active_runs"`
	Retention            time.Duration      `json:"retention_ns"`
	DropData             bool               `json:"drop_data"`
	PublicDomainsOnly    bool               `json:"public_domains_only"`
	WebhookAllowLoopback bool               `json:"webhook_allow_loopback"`
	WebhookAllowPrivate  bool               `json:"webhook_allow_private"`

	// AuditKeys and AuditRoots are the locations of keys and roots, AuditEvery is the signing interval.
	AuditKeys  string        `json:"audit_keys,omitempty"`
	AuditRoots []string      `json:"audit_roots,omitempty"`
	AuditEvery time.Duration `json:"audit_every_ns"`
	Restored   bool          `json:"restored,omitempty"`
	Quarantine bool          `json:"quarantine,omitempty"`
	Init       bool          `json:"init,omitempty"`
	// ModelCache is the folder of trained matcher models.
	ModelCache string `json:"model_cache,omitempty"`

	// Rollout lists feature flags as NAME=VALUE.
	Rollout []string `json:"flags,omitempty"`

	// MetricsAddr is the address of the Prometheus endpoint. The OTEL_* variables configure the
	// export of traces and other telemetry.
	MetricsAddr string `json:"metrics_addr,omitempty"`
	TraceURL    string `json:"trace_url,omitempty"`
	Page        bool   `json:"page"`

	printConfig bool
}

// postgresDSN names the variable with the DSN of a shared database. It contains a password, so it
// is not a flag.
const postgresDSN = "POSTGRES_DSN"

const defaultBootstrap = "domains.bootstrap.json"

func serveCommand(c *cli) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use: "serve", Short: "Start the server", Args: exactly(0),
		Long: `Starts the server. The first start in a data folder writes an admin key to a
file that only you can read, and says where. Domains come from the bootstrap
file and from "manifold domain add".

Everything is kept in a file in the data folder, which is this server's alone.
With POSTGRES_DSN in the environment it is kept in that PostgreSQL database, and
several servers may share it; each has a data folder of its own.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.printConfig {
				return c.printConfig(o)
			}
			return c.serve(cmd.Context(), o, cmd.Flags().Changed("bootstrap"))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Addr, "addr", "127.0.0.1:8080", "address to serve on")
	flags.StringVar(&o.Data, "data", dataDir(c.getenv), "folder of everything that is kept")
	flags.StringVar(&o.Bootstrap, "bootstrap", defaultBootstrap, "file of the domains to begin with and of the site's policy")
	flags.StringVar(&o.LogLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&o.LogFormat, "log-format", "text", "text or json")
	flags.StringVar(&o.ForwardedUserHeader, "forwarded-user-header", "Manifold-User", "header in which the keys of front ends say who is asking")
	flags.StringToStringVar(&o.FrontendRoles, "frontend-roles", nil, "roles for the users of a chat frontend by its own roles")
	flags.Lookup("frontend-roles").DefValue = "admin=viewer+operator+approver,user=viewer+requester"
	flags.StringVar(&o.FrontendJWT, "frontend-jwt", "", "secret that a chat frontend signs its users with, as env:NAME; unsigned ones are refused then")
	o.Links.flags(cmd)
	o.Telegram.flags(cmd)
	o.Embeddings.Flags(cmd, "auto")
	o.Mind.Flags(cmd, c.getenv)
	o.Gates.Flags(cmd, fmt.Sprintf(", nor below %g", local.DefaultAcceptWrite))
	flags.IntVar(&o.SessionsPerMinute, "sessions-per-minute", 30, "how often one caller may start a session")
	flags.IntVar(&o.RequestsPerMinute, "requests-per-minute", 1200, "how many requests one caller may make")
	flags.IntVar(&o.MaxActiveRuns, "max-active-runs", 256, "how many runs are advanced at once; more wait")
	flags.StringArrayVar(&o.Rollout, "flag", nil, "roll something out: dag_planning, parallel_reads, branch_approvals or verifier =on, =off or a share of the sessions such as =25%, verifier=shadow too; DOMAIN/NAME for runs with a step of the domain; may be given again")
	flags.DurationVar(&o.Retention, "retention", 30*24*time.Hour, "how long finished runs are kept")
	flags.BoolVar(&o.DropData, "drop-data", false, "do not keep raw output of domains for debugging")
	flags.BoolVar(&o.PublicDomainsOnly, "public-domains-only", false, "refuse domains on this machine and in private networks")
	flags.BoolVar(&o.WebhookAllowLoopback, "webhook-allow-loopback", false, "permit webhooks to this machine")
	flags.BoolVar(&o.WebhookAllowPrivate, "webhook-allow-private", false, "permit webhooks to private networks")
	flags.StringVar(&o.AuditKeys, "audit-keys", "", "file of the keys of seals, roots and links [audit.keys in the data folder]")
	flags.StringArrayVar(&o.AuditRoots, "audit-root", nil, "where signed roots go: a file, a URL, or log; may be given again [roots.jsonl in the data folder]")
	flags.DurationVar(&o.AuditEvery, "audit-every", time.Minute, "how often a root is signed, if anything has changed")
	flags.BoolVar(&o.Restored, "restored", false, "start although the database is older than the roots that were published, after a restore")
	flags.BoolVar(&o.Quarantine, "quarantine", false, "start once after a restore: like --restored, and what is open waits until a person releases it (manifold run release)")
	flags.BoolVar(&o.Init, "init", false, "make a new database in the place of an empty file")
	flags.StringVar(&o.ModelCache, "model-cache", "", "folder of trained matcher models that servers of one user share [in the database]")
	flags.StringVar(&o.MetricsAddr, "metrics-addr", "", "serve metrics for Prometheus at /metrics of this address, such as 127.0.0.1:9464")
	flags.StringVar(&o.TraceURL, "trace-url", "", "where people see the trace of a run, with {trace_id} in the place of its id, such as http://jaeger.example.com:16686/trace/{trace_id}")
	flags.BoolVar(&o.Page, "page", true, "serve the web page")
	flags.BoolVar(&o.printConfig, "print-config", false, "show the configuration that would be used, and end")
	return cmd
}

func (c *cli) printConfig(o serveOptions) error {
	body, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	c.out.printf("%s\n", body)
	return nil
}

func (c *cli) serve(ctx context.Context, o serveOptions, asked bool) error {
	logger, err := newLogger(c.errs.w, o)
	if err != nil {
		return err
	}
	bootstrap, err := os.ReadFile(o.Bootstrap)
	if err != nil && (asked || !errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("read the bootstrap file: %w", err)
	}
	cfg := app.Config{
		Addr: o.Addr, DataDir: o.Data, PostgresURL: c.getenv(postgresDSN), Bootstrap: bootstrap, Version: version, Logger: logger, Now: wallClock,
		ForwardedUser: o.ForwardedUserHeader, SessionsPerMinute: o.SessionsPerMinute, RequestsPerMinute: o.RequestsPerMinute,
		MaxActiveRuns: o.MaxActiveRuns, Retention: o.Retention, DropData: o.DropData, PublicDomainsOnly: o.PublicDomainsOnly,
		Proof: app.Proof{Keys: o.AuditKeys, Roots: o.AuditRoots, Every: o.AuditEvery}, Restored: o.Restored, Quarantine: o.Quarantine, Init: o.Init,
		Telemetry: app.Telemetry{MetricsAddr: o.MetricsAddr, Getenv: c.getenv, TraceURL: o.TraceURL}, NoPage: !o.Page,
		Lookup: func(name string) (string, bool) {
			value := c.getenv(name)
			return value, value != ""
		},
	}
	if o.ModelCache != "" {
		cfg.Models = app.ModelDir(o.ModelCache, logger)
	}
	if cfg.Frontends, err = frontends(o, cfg.Lookup); err != nil {
		return err
	}
	if cfg.Links, err = o.Links.config(cfg.Lookup); err != nil {
		return err
	}
	if cfg.Telegram, err = o.Telegram.config(cfg.Lookup); err != nil {
		return err
	}
	if cfg.Embeddings, err = o.Embeddings.Config(cfg.Lookup); err != nil {
		return usageError{err}
	}
	if cfg.Mind, err = o.Mind.Config(c.getenv); err != nil {
		return usageError{err}
	}
	if cfg.Rollout, err = metrics.ParseRollout(o.Rollout); err != nil {
		return usageError{err}
	}
	if err = o.Gates.Check(); err != nil {
		return usageError{err}
	}
	cfg.Gates = app.Gates(o.Gates)
	cfg.Webhooks.AllowLoopback, cfg.Webhooks.AllowPrivate = o.WebhookAllowLoopback, o.WebhookAllowPrivate
	app.GrowHeap(c.getenv)
	server, err := app.New(ctx, cfg)
	if err != nil {
		return err
	}
	err = c.serveUntil(ctx, server)
	// ctx has ended when the server is asked to stop.
	return errors.Join(err, server.Stop(context.WithoutCancel(ctx)))
}

// frontends returns which claims of chat frontends are accepted.
func frontends(o serveOptions, lookup func(string) (string, bool)) (app.Frontends, error) {
	out := app.Frontends{Roles: map[string][]string{}}
	for theirs, ours := range o.FrontendRoles {
		out.Roles[theirs] = []string{}
		for role := range strings.SplitSeq(ours, "+") {
			if role = strings.TrimSpace(role); role != "" {
				out.Roles[theirs] = append(out.Roles[theirs], role)
			}
		}
	}
	if o.FrontendJWT == "" {
		return out, nil
	}
	name, ok := strings.CutPrefix(o.FrontendJWT, "env:")
	secret, found := lookup(name)
	if !ok || !found {
		return out, usagef("--frontend-jwt must be env:NAME, and the variable must be set")
	}
	out.JWTSecret = []byte(secret)
	return out, nil
}

func (c *cli) serveUntil(ctx context.Context, server *app.App) error {
	if err := server.Start(ctx); err != nil {
		return err
	}
	c.out.printf("Manifold is serving at %s\n", server.URL())
	c.out.printf("%s\n", server.MatcherSummary())
	c.out.printf("%s\n", server.ModelSummary())
	if _, err := os.Stat(server.AdminKeyFile()); err == nil { // of several servers, the first one has it
		c.out.printf("The key of the first admin is in %s\n", server.AdminKeyFile())
		c.out.printf("On this machine, \"manifold --config %s\" uses it.\n", server.ClientFile())
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Failed():
		return err
	}
}

func newLogger(w io.Writer, o serveOptions) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.LogLevel)); err != nil {
		return nil, usagef("--log-level must be debug, info, warn or error")
	}
	options := &slog.HandlerOptions{Level: level}
	switch o.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, usagef("--log-format must be text or json")
	}
}
