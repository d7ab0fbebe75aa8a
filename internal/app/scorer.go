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

// Embeddings describes what tells the meaning of texts.
type Embeddings struct {
	// From is "off" or empty for nothing, "auto" for the sentence encoder of this machine if it
	// is installed, "local" for it in any case, or the address of a server that
	// answers /v1/embeddings as OpenAI's does.
	From string
	// Dir is the folder of the sentence encoder; empty is that of this user.
	Dir string
	// Model, Key and Timeout are those of a server: what it calls the model, the
	// bearer token, and the bound of one answer while somebody waits.
	Model, Key string
	Timeout    time.Duration
}

// Scorer is what tells the meaning of texts, ready to use.
type Scorer struct {
	// Scorer is nil if there is none.
	local.Scorer
	// About says in one line what there is, for people.
	About string
	// Close gives back what the scorer holds; nothing may use it any more.
	Close func() error
}

const noEncoder = `Other words and languages: not understood; "manifold embeddings install" fetches a sentence encoder (33 MB)`

// Open makes the scorer. Nothing is called yet.
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
