package api

import (
	"net/http"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/domainkit/upstream"
)

// newReads makes the client of reads, which are tried again.
func (c *Client) newReads(plain *http.Client) *retryablehttp.Client {
	retry := upstream.Retries{
		Attempts: c.cfg.Attempts, BackoffMin: c.cfg.BackoffMin, BackoffMax: c.cfg.BackoffMax, MaxAnswer: c.cfg.MaxAnswer, Now: c.cfg.Now,
	}
	return retry.Reads(plain, upstream.Hooks{Mend: meantNotFound})
}

// meantNotFound turns a 500 that means 404, and would be said again, into what
// it means.
func meantNotFound(res *http.Response, body []byte) {
	said, own := ownWords(answer{res.StatusCode, res.Header, body})
	if own && res.StatusCode == http.StatusInternalServerError && saysNotFound(said) {
		res.StatusCode = http.StatusNotFound
	}
}
