package api

import (
	"net/http"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/manifold-run/manifold/domainkit/upstream"
)

// newReads returns the client for reads, which are retried.
func (c *Client) newReads(plain *http.Client) *retryablehttp.Client {
	retry := upstream.Retries{
		Attempts: c.cfg.Attempts, BackoffMin: c.cfg.BackoffMin, BackoffMax: c.cfg.BackoffMax, MaxAnswer: c.cfg.MaxAnswer, Now: c.cfg.Now,
	}
	return retry.Reads(plain, upstream.Hooks{Mend: meantNotFound})
}

// meantNotFound converts a 500 that means 404 to 404, because retrying it is pointless.
func meantNotFound(res *http.Response, body []byte) {
	said, own := ownWords(answer{res.StatusCode, res.Header, body})
	if own && res.StatusCode == http.StatusInternalServerError && saysNotFound(said) {
		res.StatusCode = http.StatusNotFound
	}
}
