package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"
)

// lists measures the requests of the web page for 10,000 runs: a list, and the count of each state,
// with each filter.
func lists(ctx context.Context, p *page, dir string, e effort) error {
	n := e.of(10_000)
	one, err := oneEnded(ctx, dir, "")
	if err != nil {
		return err
	}
	s, err := openShelf(ctx, dir, "")
	if err != nil {
		return err
	}
	if err := errors.Join(s.fill(ctx, one, n), s.close()); err != nil {
		return err
	}
	w := newWhole()
	w.keys = filepath.Join(dir, "audit.keys")
	if err := w.start(ctx, dir); err != nil {
		return errors.Join(err, w.close(ctx))
	}
	return errors.Join(listTable(ctx, p, w, e, n), closing(ctx, w.close))
}

func listTable(ctx context.Context, p *page, w *whole, e effort, n int) error {
	p.printf("\n### %d runs, as the page asks for them, one request at a time\n\n| request | p50 | p95 | longest |\n|---|--:|--:|--:|\n", n)
	for _, query := range []string{
		"runs?all=true&timing=true", "runs?all=true&timing=true&state=completed", "runs?all=true&timing=true&state=failed", "runs?all=true&timing=true&state=waiting",
		"runs?all=true&timing=true&q=gauges", "runs?all=true&timing=true&q=nothing-like-it",
		"runs?all=true&timing=true&domain=" + domainName, "runs?all=true&timing=true&domain=other",
		"runs?timing=true&state=failed", "runs/counts", "runs/counts?all=true", "runs/counts?all=true&q=gauges", "runs/counts?all=true&domain=" + domainName,
	} {
		took, err := measure(ctx, e.rounds*5, 1, func(ctx context.Context) error { return w.get(ctx, "/v1/"+query) })
		if err != nil {
			return err
		}
		p.printf("| `%s` | %s | %s | %s |\n", query, inMS(took.at(0.5)), inMS(took.at(0.95)), inMS(took.at(1)))
	}
	return nil
}

func inMS(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// get reads a whole response of the API.
func (w *whole) get(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.app.URL()+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := w.http.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	err = errors.Join(err, res.Body.Close())
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s is answered with %d", path, res.StatusCode)
	}
	return err
}
