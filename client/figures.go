package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/manifold-run/manifold/contracts/metrics"
)

// RunMetrics returns the metrics of one run.
func RunMetrics(ctx context.Context, c *Client, id string) (metrics.RunMetrics, error) {
	var out metrics.RunMetrics
	err := c.wire.do(ctx, request{method: http.MethodGet, path: path("v1", "runs", id, "figures")}, &out)
	return out, err
}

// StatsFilter selects the runs to aggregate. Empty fields select all runs, Last the newest N [200].
// Everybody includes the runs of all callers.
type StatsFilter struct {
	SessionID, Domain, Strategy string
	Last                        int
	Everybody                   bool
}

// Stats returns aggregated metrics of runs.
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
