package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	// DefaultTimeout bounds one request of Score.
	DefaultTimeout = 300 * time.Millisecond

	atOnce      = 64               // texts per request
	batchWithin = 2 * time.Minute  // bounds one request of Prepare
	rest        = 10 * time.Second // how long Score fails fast after a failure
	mostBody    = 32 << 20
	mostNumbers = 8192 // of one vector
	mostText    = 4096 // bytes of one text
)

// EmbeddingsConfig configures an embedding server.
type EmbeddingsConfig struct {
	// URL is the server's URL, with or without /v1/embeddings.
	URL string
	// Model is the server's name of the model; some servers need none.
	Model string
	// Key is the bearer token; empty sends none.
	Key string
	// Timeout bounds one request of Score; 0 takes the default.
	Timeout time.Duration
	// Now replaces the clock.
	Now func() time.Time
}

// Embeddings is the client of one embedding server. It is safe for concurrent use.
type Embeddings struct {
	cfg     EmbeddingsConfig
	address string
	patient *retryablehttp.Client // for batches; it retries
	hasty   *http.Client          // for Score; it does not

	mu sync.Mutex // guards the fields below
	// silent is the time until which Score fails fast, after a failure.
	silent time.Time
	length int // of the server's vectors; 0 before the first
}

// NewEmbeddings returns a client. It does not call the server.
func NewEmbeddings(cfg EmbeddingsConfig) (*Embeddings, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the address of an embedding server is http://… or https://…, not %q", cfg.URL)
	}
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("the bound of an embedding server must be positive, not %s", cfg.Timeout)
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(path, "/embeddings"):
		u.Path = path
	case strings.HasSuffix(path, "/v1"):
		u.Path = path + "/embeddings"
	default:
		u.Path = path + "/v1/embeddings"
	}
	patient := retryablehttp.NewClient()
	patient.RetryMax, patient.Logger = 2, nil
	return &Embeddings{cfg: cfg, address: u.String(), patient: patient, hasty: &http.Client{}}, nil
}

// Model returns the name of the model.
func (c *Embeddings) Model() string { return "openai/" + c.cfg.Model }

// Host returns the server's host, without credentials.
func (c *Embeddings) Host() string {
	u, err := url.Parse(c.address)
	if err != nil {
		return ""
	}
	return u.Host
}

// Close closes idle connections.
func (c *Embeddings) Close() error {
	c.patient.HTTPClient.CloseIdleConnections()
	c.hasty.CloseIdleConnections()
	return nil
}

// Prepare returns the vectors of many texts, in order.
func (c *Embeddings) Prepare(ctx context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for some := range slices.Chunk(texts, atOnce) {
		vectors, err := c.batch(ctx, some)
		if err != nil {
			return nil, err
		}
		out = append(out, vectors...)
	}
	return out, nil
}

func (c *Embeddings) batch(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, batchWithin)
	defer cancel()
	body, err := c.question(texts)
	if err != nil {
		return nil, err
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, c.address, body)
	if err != nil {
		return nil, err
	}
	c.sign(req.Header)
	resp, err := c.patient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the embedding server: %w", err)
	}
	vectors, err := c.answer(resp, len(texts))
	return vectors, errors.Join(err, resp.Body.Close())
}

// errSilent reports that the server failed a short time ago.
var errSilent = errors.New("the embedding server does not answer; it is asked again in a moment")

// Score returns the vector of one text. After a failure it fails fast for a while, so that a broken
// server delays one message, not each.
func (c *Embeddings) Score(ctx context.Context, text string) ([]float32, error) {
	if c.resting() {
		return nil, errSilent
	}
	within, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	vectors, err := c.hurry(within, text)
	if err != nil {
		if ctx.Err() == nil { // the server failed, not the caller's context
			c.leave()
		}
		return nil, err
	}
	return vectors[0], nil
}

func (c *Embeddings) hurry(ctx context.Context, text string) ([][]float32, error) {
	body, err := c.question([]string{text})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	c.sign(req.Header)
	resp, err := c.hasty.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the embedding server: %w", err)
	}
	vectors, err := c.answer(resp, 1)
	return vectors, errors.Join(err, resp.Body.Close())
}

func (c *Embeddings) resting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cfg.Now().Before(c.silent)
}

func (c *Embeddings) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = c.cfg.Now().Add(rest)
}

func (c *Embeddings) question(texts []string) ([]byte, error) {
	in := make([]string, len(texts))
	for i, t := range texts {
		in[i] = strings.ToValidUTF8(t[:min(len(t), mostText)], "")
	}
	return json.Marshal(struct {
		Model  string   `json:"model,omitempty"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{c.cfg.Model, in, "float"})
}

func (c *Embeddings) sign(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	if c.cfg.Key != "" {
		h.Set("Authorization", "Bearer "+c.cfg.Key)
	}
}

// answer reads n vectors from a response.
func (c *Embeddings) answer(resp *http.Response, n int) (out [][]float32, err error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBody+1))
	if err != nil {
		return nil, fmt.Errorf("read the embedding server's answer: %w", err)
	}
	if len(body) > mostBody {
		return nil, fmt.Errorf("the embedding server's answer has more than %d bytes", mostBody)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the embedding server answers %s: %.200s", resp.Status, body)
	}
	var said struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return nil, fmt.Errorf("the embedding server's answer is not understood: %w", err)
	}
	out = make([][]float32, n)
	for _, d := range said.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("the embedding server gave a vector for text %d of %d", d.Index, n)
		}
		if out[d.Index], err = c.unit(d.Embedding); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(out, func(v []float32) bool { return v == nil }) {
		return nil, fmt.Errorf("the embedding server gave %d vectors for %d texts", len(said.Data), n)
	}
	return out, nil
}

// unit validates a vector and normalizes it to length 1.
func (c *Embeddings) unit(v []float32) ([]float32, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if len(v) == 0 || len(v) > mostNumbers || sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("the embedding server gave a vector of %d numbers and length %g", len(v), math.Sqrt(sum))
	}
	c.mu.Lock()
	known := cmp.Or(c.length, len(v))
	c.length = known
	c.mu.Unlock()
	if len(v) != known {
		return nil, fmt.Errorf("the embedding server gave vectors of %d and of %d numbers", known, len(v))
	}
	by := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= by
	}
	return v, nil
}
