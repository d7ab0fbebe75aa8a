package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise"
)

// options are the flags; each has a variable of the environment behind it.
type options struct {
	listen, data, keys string
	url, keyFile       string
	drift              string
	authorizationFile  string
	// Of refresh only.
	what, instance   string
	dryRun, validate bool
}

func parse(args []string, getenv func(string) string, stderr io.Writer, refreshing bool) (options, error) {
	var o options
	flags := flag.NewFlagSet("flowise-domain", flag.ContinueOnError)
	flags.SetOutput(stderr)
	text := func(into *string, name, env, fallback, usage string) {
		flags.StringVar(into, name, cmp.Or(getenv(env), fallback), usage+" ($"+env+")")
	}
	text(&o.listen, "listen", "FLOWISE_DOMAIN_LISTEN", "127.0.0.1:8092", "address to listen on")
	text(&o.data, "data", "FLOWISE_DOMAIN_DATA", "", "SQLite file for versions, patterns and the guard; in memory unless given")
	text(&o.keys, "keys", "FLOWISE_DOMAIN_KEYS", "", "SQLite file for idempotency keys; in memory unless given")
	text(&o.url, "url", "FLOWISE_URL", "", "a single Flowise, unless $FLOWISE_INSTANCES lists several")
	text(&o.keyFile, "key-file", "FLOWISE_KEY_FILE", "", "file with the API key of --url; or the key itself in $FLOWISE_KEY")
	text(&o.drift, "drift", "FLOWISE_SCHEMA_DRIFT_POLICY", "warn", "what to do when node definitions change: warn, fail or refresh")
	text(&o.authorizationFile, "authorization-file", "FLOWISE_DOMAIN_AUTHORIZATION_FILE", "", "file with the bearer token that callers send; or the token itself in $FLOWISE_DOMAIN_AUTHORIZATION")
	if refreshing {
		text(&o.instance, "instance", "FLOWISE_INSTANCE", "", "which instance; the default one unless given")
		flags.BoolVar(&o.dryRun, "dry-run", false, "keep nothing, write the snapshot to stdout")
		flags.BoolVar(&o.validate, "validate", false, "only check what is kept, without asking a server")
		// What is refreshed may stand before or after the flags.
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
	cfg := flowise.Config{Instances: instances, Drift: flowise.Drift(o.drift), Logger: logger}
	token, err := secret("authorization", o.authorizationFile, getenv("FLOWISE_DOMAIN_AUTHORIZATION"))
	if err != nil {
		return flowise.Config{}, err
	}
	if token != "" {
		cfg.Authorization = []string{token}
	}
	return cfg, nil
}

func (o options) instances(getenv func(string) string) ([]flowise.Instance, error) {
	if list := getenv("FLOWISE_INSTANCES"); list != "" {
		return flowise.ParseInstances(list, getenv)
	}
	if o.url == "" {
		return nil, errors.New("no Flowise: give --url or $FLOWISE_INSTANCES")
	}
	key, err := secret("key", o.keyFile, getenv("FLOWISE_KEY"))
	if err != nil {
		return nil, err
	}
	return []flowise.Instance{{ID: "default", Endpoint: o.url, APIKey: key}}, nil
}

// secret is given by a file or, in the environment, by its value; never by a
// flag, which everyone on the machine could read.
func secret(name, file, value string) (string, error) {
	if file == "" {
		return value, nil
	}
	raw, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return strings.TrimSpace(string(raw)), nil
}
