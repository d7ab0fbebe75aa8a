package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/manifold-run/manifold/contracts/metrics"
)

// RunMetrics returns what one run tells of itself.
func RunMetrics(ctx context.Context, c *Client, id string) (metrics.RunMetrics, error) {
	var out metrics.RunMetrics
	err := c.wire.do(ctx, request{method: http.MethodGet, path: path("v1", "runs", id, "figures")}, &out)
	return out, err
}

// StatsFilter selects the runs whose figures are summed up; empty fields select all,
// Last the newest so many [200]. Everybody asks for the runs of all callers.
type StatsFilter struct {
	SessionID, Domain, Strategy string
	Last                        int
	Everybody                   bool
}

// Stats sums up the figures of runs.
func Stats(ctx context.Context, c *Client, f StatsFilter) (metrics.Stats, error) {
	q := url.Values{}
	setText(q, "session_id", f.SessionID)
	setText(q, "domain", f.Domain)
	setText(q, "strategy", f.Strategy)
	if f.Last > 0 {
		q.Set("last", strconv.Itoa(f.Last))
	}
	if f.Everybody {
		q.Set("all", "true")
	}
	var out metrics.Stats
	err := c.wire.do(ctx, request{method: http.MethodGet, path: "/v1/stats", query: q}, &out)
	return out, err
}
