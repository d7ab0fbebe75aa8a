package telegram

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// waitingRuns are runs that wait for a person until they end; it counts the reads.
type waitingRuns struct {
	reads atomic.Int64
	ended atomic.Bool
}

func (r *waitingRuns) Refresh(_ context.Context, _ access.Principal, from orchestrator.SessionView) (orchestrator.SessionView, error) {
	r.reads.Add(1)
	from.Waits = !r.ended.Load()
	return from, nil
}

func (r *waitingRuns) News(context.Context, access.Principal, string, int64) ([]contracts.Event, error) {
	return nil, nil
}

func (r *waitingRuns) RecordDisplayed(context.Context, orchestrator.SessionView) {}

// TestARunThatWaitsForDaysIsNotReadInBetween follows several hundred runs for a day.
func TestARunThatWaitsForDaysIsNotReadInBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const chats, each = 10, 30
		cfg, err := Config{Token: "4711:x", People: map[int64]Person{1: {}}, Limits: Limits{PerSecond: 100_000, Chat: 1, Group: 1}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		api, err := newAPI(cfg)
		if err != nil {
			t.Fatal(err)
		}
		api.http.client.Transport = answered{}
		var work sync.WaitGroup
		silent, waiting, notifier := slog.New(slog.DiscardHandler), &waitingRuns{}, orchestrator.NewLocalNotifier()
		out := &sender{api: api, retry: backoff{time.Second, time.Minute}, progress: time.Second, logger: silent}
		in := &box{inbox: orchestratortest.NewStore(), channel: "c", now: time.Now, retry: out.retry, logger: silent}
		f := newFollower(waiting, &answers{out: out, box: in, logger: silent}, func(_ context.Context, _ job, caught any) { t.Errorf("panic: %v", caught) }, nil, &work)
		defer notifier.Listen(f.changed)()
		goroutines := func() int { // without those of other tests
			f.mu.Lock()
			defer f.mu.Unlock()
			return len(f.due)
		}
		for n := range chats * each {
			session := fmt.Sprintf("s%d", n%chats)
			f.follow(t.Context(), job{received: orchestrator.InboxMessage{ID: fmt.Sprint(n)}}, access.Principal{}, place{chat: int64(n%chats + 1)},
				orchestrator.SessionView{SessionID: session, RunID: fmt.Sprintf("r%d", n), Waits: true})
		}
		synctest.Wait()
		if got := goroutines(); got > chats { // one for each chat while they are shown
			t.Errorf("%d goroutines for %d chats", got, chats)
		}
		time.Sleep(time.Hour) // all of them are shown
		synctest.Wait()
		if got := goroutines(); got > 0 {
			t.Errorf("%d goroutines for %d runs that wait", got, chats*each)
		}
		shown := waiting.reads.Load()
		if shown != chats*each {
			t.Errorf("%d reads to show %d runs", shown, chats*each)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if got := waiting.reads.Load(); got != shown {
			t.Errorf("%d reads in a day without news", got-shown)
		}
		notifier.Committed("s3", "r13")
		synctest.Wait()
		if got := waiting.reads.Load(); got != shown+1 {
			t.Errorf("%d reads after the change of one", got-shown)
		}
		notifier.Committed("s3", "")
		synctest.Wait()
		if got := waiting.reads.Load(); got != shown+1+each {
			t.Errorf("%d reads after the change of one and of its session", got-shown)
		}
		waiting.ended.Store(true)
		notifier.Committed("", "") // as after a lost connection
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(f.shows) != 0 || len(f.sessions) != 0 || len(f.due) != 0 {
			t.Errorf("%d runs are still followed", len(f.shows))
		}
		f.close()
		work.Wait()
	})
}

// answered is a Bot API that accepts every message.
type answered struct{}

func (answered) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body) // the library writes it from a goroutine
	rec := httptest.NewRecorder()
	rec.WriteString(`{"ok":true,"result":{"message_id":5,"chat":{"id":1}}}`)
	res := rec.Result()
	res.Request = r
	return res, nil
}
