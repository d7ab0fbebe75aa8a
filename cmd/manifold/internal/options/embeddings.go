package options

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/model"
)

// Embeddings configures the embeddings of a server.
type Embeddings struct {
	From    string        `json:"from,omitempty"`
	Dir     string        `json:"dir,omitempty"`
	Model   string        `json:"model,omitempty"`
	Key     string        `json:"key,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

// Flags adds the flags; from is the default source.
func (o *Embeddings) Flags(cmd *cobra.Command, from string) {
	flags := cmd.Flags()
	flags.StringVar(&o.From, "embeddings", from, "what tells the meaning of texts: auto (the sentence encoder of this machine, if it is installed), local, off, or the address of a server that answers /v1/embeddings")
	flags.StringVar(&o.Dir, "embeddings-dir", "", "folder of the sentence encoder [in the user's cache]")
	flags.StringVar(&o.Model, "embeddings-model", "", "model of that server")
	flags.StringVar(&o.Key, "embeddings-key", "", "bearer token for that server, as env:NAME")
	flags.DurationVar(&o.Timeout, "embeddings-timeout", model.DefaultTimeout, "bound of one answer of that server while somebody waits")
}

// Config returns the configuration of the flags; an error is a usage error.
func (o *Embeddings) Config(lookup func(string) (string, bool)) (app.Embeddings, error) {
	out := app.Embeddings{From: o.From, Dir: o.Dir, Model: o.Model, Timeout: o.Timeout}
	if o.Timeout <= 0 {
		return out, errors.New("--embeddings-timeout must be longer than nothing")
	}
	if o.Key == "" {
		return out, nil
	}
	name, ok := strings.CutPrefix(o.Key, "env:")
	key, found := lookup(name)
	if !ok || !found {
		return out, errors.New("--embeddings-key must be env:NAME, and the variable must be set")
	}
	out.Key = key
	return out, nil
}
