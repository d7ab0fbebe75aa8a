package app

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/webhook"
	"github.com/manifold-run/manifold/internal/witness"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// Proof configures the signed roots of the audit log.
type Proof struct {
	// Keys is the file of the audit keys ["audit.keys" in the data directory].
	Keys string
	// Roots are the destinations of signed roots: a file, "log", or a URL ["roots.jsonl" in the
	// data directory].
	Roots []string
	// Every is the interval at which a root is signed after changes [1 min].
	Every time.Duration
}

// loadKeys reads the keys for seals, roots and links, or creates them. made reports whether it
// created them.
func (a *App) loadKeys(ctx context.Context) (made bool, err error) {
	path := a.keysFile()
	if a.witness, made, err = witness.Load(path); err == nil && made {
		a.cfg.Logger.InfoContext(ctx, "audit keys were written; keep a copy where the database is not", slog.String("file", path))
	}
	return made, err
}

func (a *App) keysFile() string { return cmp.Or(a.cfg.Proof.Keys, a.path("audit.keys")) }

// openDatabase opens the database with its keys. If the database turns out to have other keys,
// newly created ones are deleted.
func (a *App) openDatabase(ctx context.Context) (stores, func() error, error) {
	made, err := a.loadKeys(ctx)
	if err != nil {
		return stores{}, nil, err
	}
	store, closing, err := a.cfg.openStore(ctx, a.path("manifold.db"), a.witness.Sealing, a.sealingAgain)
	if made && contracts.CodeOf(err) == contracts.CodeConflict {
		_, _ = os.Remove(a.keysFile()), os.Remove(a.keysFile()+".pub")
	}
	return store, closing, err
}

// sealingAgain reads the sealing keys again, after they were changed and another server was
// started with the new ones.
func (a *App) sealingAgain() ([][]byte, error) {
	if _, err := os.Stat(a.keysFile()); err != nil {
		return nil, err // otherwise new keys would be created
	}
	keys, _, err := witness.Load(a.keysFile())
	return keys.Sealing, err
}

// roots returns the part that compares the database with the published roots and signs further
// ones. Of several servers only the leader signs, but each compares.
func (a *App) roots() part {
	if a.store.shared != nil {
		return part{"signed roots", a.useCases.publisher.Compare, func(context.Context) error { return nil }}
	}
	return part{"signed roots", a.useCases.publisher.Start, a.useCases.publisher.Stop}
}

// wirePublisher creates the publisher of signed roots.
func (a *App) wirePublisher(guard *webhook.Guard) (*audit.Publisher, error) {
	signers, err := a.witness.Signers()
	if err != nil {
		return nil, err
	}
	known, err := a.witness.Known()
	if err != nil {
		return nil, err
	}
	places := a.cfg.Proof.Roots
	if len(places) == 0 {
		places = []string{a.path("roots.jsonl")}
	}
	cfg := audit.PublisherConfig{
		Every: a.cfg.Proof.Every, Signers: signers, Known: known, Restored: a.cfg.Restored || a.cfg.Quarantine, Now: a.cfg.Now, Logger: a.cfg.Logger,
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: guard.Control}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for _, place := range places {
		o, err := witness.Open(place, client, a.cfg.Logger)
		if err != nil {
			return nil, err
		}
		cfg.Outside = append(cfg.Outside, o)
	}
	return audit.NewPublisher(cfg, a.store.proofs)
}
