package telegram

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/orchestrator"
)

// job is one update on its way.
type job struct {
	received orchestrator.InboxMessage
	update   models.Update
	noted    inboxEntry
	panics   int
}

// lanes take jobs: what one person says in one chat in its order, and everything
// else beside it. A lane has a goroutine exactly as long as it has jobs.
type lanes struct {
	audience *messageFilter
	answers  *answers
	take     func(context.Context, job)
	work     *sync.WaitGroup
	logger   *slog.Logger

	mu     sync.Mutex // guards queues
	queues map[string][]job
}

// begin queues a job. What one person says in one chat is taken in order; what
// others say is not held up by it.
func (l *lanes) begin(ctx context.Context, j job) {
	l.enqueue(ctx, j, func(queue []job) []job { return append(queue, j) })
}

// beginFirst queues a job before all others of its lane.
func (l *lanes) beginFirst(ctx context.Context, j job) {
	l.enqueue(ctx, j, func(queue []job) []job { return append([]job{j}, queue...) })
}

func (l *lanes) enqueue(ctx context.Context, j job, in func(queue []job) []job) {
	from, chat, _ := l.audience.addressed(&j.update)
	lane := strconv.FormatInt(chat.ID, 10) + ":" + strconv.FormatInt(from.ID, 10)
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, runs := l.queues[lane]
	l.queues[lane] = in(queue)
	if !runs {
		l.work.Go(func() { l.drain(ctx, lane) })
	}
}

// drain takes the jobs of a lane until there are none.
func (l *lanes) drain(ctx context.Context, lane string) {
	for {
		l.mu.Lock()
		queue := l.queues[lane]
		if len(queue) == 0 || ctx.Err() != nil {
			delete(l.queues, lane)
			l.mu.Unlock()
			return
		}
		l.queues[lane] = queue[1:]
		l.mu.Unlock()
		l.attempt(ctx, queue[0])
	}
}
