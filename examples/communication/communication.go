// Package communication is an example domain: it sends messages to channels.
// It plays the role of notifier, so that other domains' results can be sent on
// without any of them knowing it. Messages go to an outbox, which with
// Config.Dir is a file that, like the keys of its requests, outlives the
// process.
package communication

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/sqlitestore"
)

// hints are the parts of the manifest that are not code.
//
//go:embed hints.json
var hints []byte

// Config describes how the domain is served. The zero value works, in memory.
type Config struct {
	// Dir is the folder of the outbox and of the idempotency keys; it is made
	// if there is none [in memory].
	Dir string
	// Tokens are the bearer tokens that are accepted [none: open].
	Tokens []string
	Logger *slog.Logger
	// Now is the clock that stamps messages [time.Now].
	Now func() time.Time
}

// Domain is the service with its outbox.
type Domain struct {
	*domainkit.Service
	outbox *outbox
	keys   *sqlitestore.Store // nil in memory
	now    func() time.Time
}

// New makes the domain. Close it when it has stopped.
func New(ctx context.Context, config Config) (*Domain, error) {
	d := &Domain{now: config.Now}
	if d.now == nil {
		d.now = time.Now
	}
	if err := d.open(ctx, config); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Domain) open(ctx context.Context, config Config) error {
	kit := domainkit.Config{
		Domain: "communication", Version: "1.0.0", Hints: hints,
		Tokens: config.Tokens, Logger: config.Logger, Now: config.Now,
	}
	path := ""
	if config.Dir != "" {
		if err := os.MkdirAll(config.Dir, 0o700); err != nil {
			return fmt.Errorf("make the folder of the outbox: %w", err)
		}
		keys, err := sqlitestore.Open(ctx, filepath.Join(config.Dir, "keys.db"))
		if err != nil {
			return err
		}
		d.keys, kit.Store = keys, keys
		kit.Checks = map[string]domainkit.Check{
			"keys":   {Run: keys.Ping},
			"outbox": {Run: func(context.Context) error { return d.outbox.health() }},
		}
		path = filepath.Join(config.Dir, "outbox.jsonl")
	}
	var err error
	if d.outbox, err = openOutbox(path); err != nil {
		return err
	}
	if d.Service, err = domainkit.New(kit); err != nil {
		return err
	}
	return d.add()
}

func (d *Domain) add() error {
	read := contracts.Metadata{SideEffectClass: contracts.ClassRead}
	return errors.Join(
		domainkit.Add(d.Service, domainkit.Capability{
			Name: "send_message", Description: "Sends a message to a channel.",
			Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed},
			Resolve:  d.resolveMessage,
		}, d.sendMessage),
		domainkit.Add(d.Service, domainkit.Capability{
			Name: "list_messages", Description: "Lists the messages that were sent, newest first.", Metadata: read,
		}, d.listMessages),
		domainkit.Add(d.Service, domainkit.Capability{
			Name:        "find_message",
			Description: "Finds a message by id or by the key of the request that sent it; an unknown one answers found: false.",
			Metadata:    read,
			Schema:      []byte(`{"anyOf": [{"required": ["message_id"]}, {"required": ["key"]}]}`),
		}, d.findMessage),
	)
}

// Close closes outbox and keys.
func (d *Domain) Close() error {
	var errs []error
	if d.outbox != nil {
		errs = append(errs, d.outbox.close())
	}
	if d.keys != nil {
		errs = append(errs, d.keys.Close())
	}
	return errors.Join(errs...)
}
