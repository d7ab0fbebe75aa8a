package main

import (
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise"
)

// options are the flags; each can also be set by an environment variable.
type options struct {
	listen, data, keys string
	url, drift, acting string
	key, authorization domainkit.Secret
	// Only for refresh.
	what, instance   string
	dryRun, validate bool
	// For export and import.
	folder string
	watch  time.Duration
}

func parse(args []string, getenv func(string) string, stderr io.Writer, refreshing bool) (options, error) {
	var o options
	flags := domainkit.NewFlags("flowise-domain", getenv, stderr)
	flags.Text(&o.listen, "listen", "FLOWISE_DOMAIN_LISTEN", "127.0.0.1:8095", "address to listen on")
	flags.Text(&o.data, "data", "FLOWISE_DOMAIN_DATA", "", "where versions, patterns and the guard are kept: an SQLite file or postgres://…; in memory unless given")
	flags.Text(&o.keys, "keys", "FLOWISE_DOMAIN_KEYS", "", "where idempotency keys are kept: an SQLite file or postgres://…; in memory unless given")
	flags.Text(&o.url, "url", "FLOWISE_URL", "", "a single Flowise, unless $FLOWISE_INSTANCES lists several")
	flags.Secret(&o.key, "key", "FLOWISE_KEY", "the API key of --url")
	flags.Text(&o.acting, "acting", "FLOWISE_ACTING", "refuse", "what becomes of questions to flows that may act on the world by their tools: refuse, so that only run_chatflow asks them, or allow")
	flags.Text(&o.drift, "drift", "FLOWISE_SCHEMA_DRIFT_POLICY", "warn", "what to do when node definitions change: warn, fail or refresh")
	flags.Text(&o.folder, "folder", "FLOWISE_DOMAIN_FOLDER", "", "where exported flows are, for version control: export writes there, import_chatflow reads there; none unless given")
	flags.DurationVar(&o.watch, "watch", time.Minute, "how often to look for edits that people make in Flowise itself, which are kept as versions; 0 looks only when asked")
	flags.Secret(&o.authorization, "authorization", "FLOWISE_DOMAIN_AUTHORIZATION", "the bearer token that callers send")
	if refreshing {
		flags.Text(&o.instance, "instance", "FLOWISE_INSTANCE", "", "which instance; the default one unless given")
		flags.BoolVar(&o.dryRun, "dry-run", false, "keep nothing, write the snapshot to stdout")
		flags.BoolVar(&o.validate, "validate", false, "only check what is kept, without asking a server")
		// The kind of data to refresh may precede or follow the flags.
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			o.what, args = args[0], args[1:]
		}
	}
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if refreshing && o.what == "" {
		o.what = flags.Arg(0)
	}
	return o, nil
}

func (o options) config(getenv func(string) string, logger *slog.Logger) (flowise.Config, error) {
	instances, err := o.instances(getenv)
	if err != nil {
		return flowise.Config{}, err
	}
	tokens, err := o.authorization.Tokens()
	if err != nil {
		return flowise.Config{}, err
	}
	return flowise.Config{Instances: instances, Drift: flowise.Drift(o.drift), Acting: flowise.Acting(o.acting), Authorization: tokens, Folder: o.folder, Logger: logger}, nil
}

func (o options) instances(getenv func(string) string) ([]flowise.Instance, error) {
	if list := getenv("FLOWISE_INSTANCES"); list != "" {
		return flowise.ParseInstances(list, getenv)
	}
	if o.url == "" {
		return nil, errors.New("no Flowise: give --url or $FLOWISE_INSTANCES")
	}
	key, err := o.key.Read()
	if err != nil {
		return nil, err
	}
	return []flowise.Instance{{ID: "default", Endpoint: o.url, APIKey: key}}, nil
}
