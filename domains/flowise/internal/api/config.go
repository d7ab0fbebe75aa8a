// Package api is a client of Flowise 3.x that handles its actual behaviour: 200 with an HTML page
// for unknown paths, 500 for missing objects, rows that are saved although the answer is 500, a
// POST that overwrites, and event streams with non-standard framing.
//
// Reads are retried. Writes are sent once. If the answer of a write was lost or invalid, its
// outcome is looked up, and the Error has the known effect. The package does not interpret the
// content of flows.
package api

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config configures the connection to one Flowise. BaseURL and Key are required.
type Config struct {
	// BaseURL is the server without /api/v1, for example http://127.0.0.1:3000.
	BaseURL string
	// Key is an API key with the permissions for the calls.
	Key string

	// MaxConcurrency limits the concurrent requests [4]. The server checks keys sequentially, about
	// 15 per second, so more requests would only wait there.
	MaxConcurrency int
	// MaxPredictions limits the concurrent predictions [8]. They need no key check and may take
	// minutes.
	MaxPredictions int
	// Attempts is the maximum number of attempts of a read [4].
	Attempts int
	// BackoffMin and BackoffMax bound the wait between attempts [200ms, 5s]. A Retry-After above
	// BackoffMax is returned as an error.
	BackoffMin, BackoffMax time.Duration
	// Timeout is the timeout of one HTTP exchange [30s], PredictTimeout that of one prediction
	// [5m].
	Timeout, PredictTimeout time.Duration
	// CacheTTL is how long node definitions, options and templates are cached [5m]; negative
	// disables the cache.
	CacheTTL time.Duration
	// MaxAnswer bounds the size of one answer in bytes [64 MiB].
	MaxAnswer int64
	// Transport sends the requests [a clone of http.DefaultTransport].
	Transport http.RoundTripper
	Now       func() time.Time
	Logger    *slog.Logger
}

func (c *Config) setDefaults() {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	c.MaxConcurrency = cmp.Or(c.MaxConcurrency, 4)
	c.MaxPredictions = cmp.Or(c.MaxPredictions, 8)
	c.Attempts = cmp.Or(c.Attempts, 4)
	c.BackoffMin = cmp.Or(c.BackoffMin, 200*time.Millisecond)
	c.BackoffMax = cmp.Or(c.BackoffMax, 5*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.PredictTimeout = cmp.Or(c.PredictTimeout, 5*time.Minute)
	c.CacheTTL = cmp.Or(c.CacheTTL, 5*time.Minute)
	c.MaxAnswer = cmp.Or(c.MaxAnswer, 64<<20)
	if c.Transport == nil {
		c.Transport = defaultTransport()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func (c *Config) validate() error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return fmt.Errorf("flowise url: %w", err)
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "":
		return fmt.Errorf("flowise url %q: must be like https://flowise.example.com", u.Redacted())
	case c.Key == "":
		return errors.New("flowise client: no API key")
	case strings.ContainsAny(c.Key, "\r\n"):
		return errors.New("flowise client: the API key has more than one line")
	case c.MaxConcurrency < 1 || c.MaxPredictions < 1 || c.Attempts < 1 || c.MaxAnswer < 1:
		return errors.New("flowise client: bounds must be positive")
	}
	return nil
}

// defaultTransport drops idle connections before the server does, which is after 5 s: a write on a
// connection that is being closed would be lost.
func defaultTransport() http.RoundTripper {
	t, is := http.DefaultTransport.(*http.Transport)
	if !is {
		return http.DefaultTransport
	}
	own := t.Clone()
	own.IdleConnTimeout = 4 * time.Second
	return own
}
