// Package api is a client of Flowise 3.x as it really behaves: a 200 with a
// page for paths that it does not know, 500 for things that are not there, rows
// that are saved although the answer was 500, a POST that overwrites, and event
// streams with a framing of their own.
//
// Reads are retried. Writes are sent once; the outcome of one whose answer was
// lost or bad is looked up, and the Error says what is known about its effect.
// The package knows nothing about what is inside a flow.
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

// Config describes how one Flowise is reached. BaseURL and Key are required.
type Config struct {
	// BaseURL is the server without /api/v1, such as http://127.0.0.1:3000.
	BaseURL string
	// Key is an API key; it needs the permissions of what is called.
	Key string

	// MaxConcurrency bounds the requests under way [4]: the server checks keys
	// one after the other, about 15 a second, so that more only wait there.
	MaxConcurrency int
	// MaxPredictions bounds the predictions under way [8]; they need no check
	// of the key and may take minutes.
	MaxPredictions int
	// Attempts bounds the tries of one read [4].
	Attempts int
	// BackoffMin and BackoffMax bound the wait between tries [200ms, 5s]. A
	// Retry-After above BackoffMax is not waited for but reported.
	BackoffMin, BackoffMax time.Duration
	// Timeout bounds one HTTP exchange [30s], PredictTimeout one prediction [5m].
	Timeout, PredictTimeout time.Duration
	// CacheTTL is how long definitions of nodes and credentials, and templates,
	// are kept [5m]; negative means not at all.
	CacheTTL time.Duration
	// MaxAnswer bounds the size of one answer in bytes [64 MiB].
	MaxAnswer int64
	// Transport carries the requests [a clone of http.DefaultTransport].
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

// defaultTransport drops idle connections before the server does, after five
// seconds: a write on one that is being closed would be lost without a trace.
func defaultTransport() http.RoundTripper {
	t, is := http.DefaultTransport.(*http.Transport)
	if !is {
		return http.DefaultTransport
	}
	own := t.Clone()
	own.IdleConnTimeout = 4 * time.Second
	return own
}
