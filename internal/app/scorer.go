package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/embed/use"
	"github.com/manifold-run/manifold/internal/model"
)

// Embeddings configures the sentence embeddings for matching.
type Embeddings struct {
	// From is "off" or empty for none, "auto" for the local sentence encoder if it is installed,
	// "local" to require it, or the URL of a server with the /v1/embeddings API of OpenAI.
	From string
	// Dir is the directory of the sentence encoder; empty means that of this user.
	Dir string
	// Model, Key and Timeout are for a server: the name of the model, the bearer token, and the
	// time limit of a request while a person waits.
	Model, Key string
	Timeout    time.Duration
}

// Scorer is an opened embedding scorer.
type Scorer struct {
	// Scorer is nil if there is none.
	local.Scorer
	// About describes the scorer in one line, for display.
	About string
	// Close releases the resources of the scorer, which must not be used afterwards.
	Close func() error
}

const noEncoder = `Other words and languages: not understood; "manifold embeddings install" fetches a sentence encoder (33 MB)`

// Open opens the scorer. It makes no requests.
func (e Embeddings) Open() (Scorer, error) {
	none := Scorer{About: "Other words and languages: off", Close: func() error { return nil }}
	switch {
	case e.From == "" || e.From == "off":
		return none, nil
	case e.From == "auto" || e.From == "local":
		s, err := e.local()
		if e.From == "auto" && errors.Is(err, use.ErrNotInstalled) {
			none.About = noEncoder
			return none, nil
		}
		return s, err
	case strings.HasPrefix(e.From, "http://") || strings.HasPrefix(e.From, "https://"):
		return e.server()
	}
	return Scorer{}, fmt.Errorf("embeddings are auto, off, local or an address, not %q", e.From)
}

func (e Embeddings) server() (Scorer, error) {
	c, err := model.NewEmbeddings(model.EmbeddingsConfig{URL: e.From, Model: e.Model, Key: e.Key, Timeout: e.Timeout})
	if err != nil {
		return Scorer{}, err
	}
	return Scorer{Scorer: c, About: "Other words and languages: by the embedding server " + c.Host(), Close: c.Close}, nil
}

func (e Embeddings) local() (Scorer, error) {
	dir := e.Dir
	if dir == "" {
		var err error
		if dir, err = use.DefaultDir(); err != nil {
			return Scorer{}, err
		}
	}
	encoder, err := use.Open(dir)
	if err != nil {
		return Scorer{}, err
	}
	return Scorer{Scorer: encoder, About: "Other words and languages: by the sentence encoder in " + dir, Close: encoder.Close}, nil
}
