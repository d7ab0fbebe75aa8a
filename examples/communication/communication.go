// Package communication is an example domain that sends messages to channels. It plays the role
// notifier, so that results of other domains can be sent without these domains knowing it. Messages
// go to an outbox. With Config.Dir the outbox and the idempotency keys are files and survive a
// restart.
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

// hints is the part of the manifest that is not code.
//
//go:embed hints.json
var hints []byte

// Config configures the domain. The zero value is usable and keeps everything in memory.
type Config struct {
	// Dir is the folder of the outbox and of the idempotency keys, created if needed [in memory].
	Dir string
	// Tokens are the accepted bearer tokens [none: no authentication].
	Tokens []string
	Logger *slog.Logger
	// Now is the clock for messages [time.Now].
	Now func() time.Time
}

// Domain is the service with its outbox.
type Domain struct {
	*domainkit.Service
	outbox *outbox
	keys   *sqlitestore.Store // nil in memory
	now    func() time.Time
}

// New returns the domain. Close it after it has stopped.
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

// Close closes the outbox and the keys.
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
