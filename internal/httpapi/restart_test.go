package httpapi_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// TestAReaderOutlivesARestart stops the server while a client streams, and restarts it at the same
// address: the client gets every event once.
func TestAReaderOutlivesARestart(t *testing.T) {
	t.Parallel()
	var cfg app.Config
	s := setup(t, func(c *app.Config) { cfg = *c })
	session, gate := s.waiting(s.rita)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	first, got := make(chan bool), make(chan []int64, 1)
	go func() {
		var seqs []int64
		for e, err := range s.rita.Stream(ctx, session.SessionID, 0) {
			if err != nil {
				break
			}
			if seqs = append(seqs, e.Seq); len(seqs) == 1 {
				close(first)
			}
			if e.Type == contracts.EventDone {
				break
			}
		}
		got <- seqs
	}()
	<-first
	if err := s.server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg.Addr, cfg.Logger = s.url[len("http://"):], slog.New(slog.DiscardHandler)
	again := apptest.Start(t, cfg)
	if err := again.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.otto.Approve(t.Context(), gate, "", client.Opt{Wait: 30 * time.Second}); err != nil {
		t.Fatal(err)
	}
	all, err := s.rita.Events(t.Context(), session.SessionID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for _, e := range all {
		want = append(want, e.Seq)
	}
	if diff := cmp.Diff(want, <-got); diff != "" {
		t.Errorf("all, received:\n%s", diff)
	}
}
