package httpapi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/orchestrator"
)

// TestManyOpenGatesCostLittleMemory opens 20,000 gates, which twenty people list concurrently. The
// memory of their clients is included.
func TestManyOpenGatesCostLittleMemory(t *testing.T) {
	if testing.Short() || resident(t) == 0 {
		t.Skip("it takes a while, and needs Linux to tell the memory")
	}
	const gates, readers, most = 20_000, 20, 100 << 20
	dir := t.TempDir()
	openMany(t, dir, gates)
	s := setup(t, func(cfg *app.Config) { cfg.DataDir = dir })
	// A first page, so that one-time costs are not counted.
	if _, err := s.otto.Gates(t.Context(), client.GatesFilter{Limit: 1}); err != nil {
		t.Fatal(err)
	}
	before := resident(t)
	stop := make(chan struct{})
	var peak atomic.Int64
	var watch errgroup.Group
	watch.Go(func() error {
		for {
			peak.Store(max(peak.Load(), resident(t)))
			select {
			case <-stop:
				return nil
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	var work errgroup.Group
	for n := range readers {
		who := s.person(fmt.Sprintf("reader%d", n), []string{"operator", "approver"}[n%2])
		work.Go(func() error { return look(t.Context(), who) })
	}
	if err := work.Wait(); err != nil {
		t.Error(err)
	}
	close(stop)
	_ = watch.Wait()
	t.Logf("%d MiB before, at most %d MiB while %d people read %d gates", before>>20, peak.Load()>>20, readers, gates)
	if more := peak.Load() - before; more > most {
		t.Errorf("%d MiB more, want at most %d", more>>20, most>>20)
	}
}

// look lists the first page of gates repeatedly.
func look(ctx context.Context, who *client.Client) error {
	for range 20 {
		gates, err := who.Gates(ctx, client.GatesFilter{Status: contracts.InterruptOpen, Limit: contracts.PageLimit})
		if err != nil {
			return err
		}
		if len(gates) != contracts.PageLimit {
			return fmt.Errorf("saw %d gates, want %d", len(gates), contracts.PageLimit)
		}
	}
	return nil
}

// openMany fills a store with open gates in a hundred sessions.
func openMany(t *testing.T, dir string, n int) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "manifold.db")})
	if err != nil {
		t.Fatal(err)
	}
	var work errgroup.Group
	work.SetLimit(500)
	for k := range 100 {
		session := orchestrator.Session{ID: fmt.Sprintf("ses_%d", k), Owner: contracts.Principal{ID: "ana"}, CreatedAt: time.Now()}
		if err := store.Sessions.CreateSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	for k := range n {
		work.Go(func() error {
			session := fmt.Sprintf("ses_%d", k%100)
			return store.Runs.OpenInterrupt(t.Context(), contracts.Interrupt{
				InterruptID: fmt.Sprintf("gate_%05d", k), Code: fmt.Sprintf("C%05d", k), Type: contracts.InterruptWriteApproval,
				SessionID: session, Prompt: "Approve it?", Action: &contracts.Action{
					Capability: "shop.order", Parameters: map[string]any{"item": k, "note": strings.Repeat("n", 200)},
					Policy: contracts.Policy{SideEffectClass: contracts.ClassWriteReversible},
				},
				Options: []contracts.InterruptOption{{ID: "approve", Label: "Approve"}, {ID: "reject", Label: "Reject"}},
			}, contracts.Event{SessionID: session, Type: contracts.EventInterrupt})
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// resident returns the memory of this process in bytes, 0 if unknown.
func resident(t *testing.T) int64 {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		t.Error(err)
	}
	return pages * int64(os.Getpagesize())
}
