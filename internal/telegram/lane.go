package telegram

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"github.com/go-telegram/bot/models"

	"github.com/manifold-run/manifold/orchestrator"
)

// job is one update that is being processed.
type job struct {
	received orchestrator.InboxMessage
	update   models.Update
	noted    inboxEntry
	panics   int
}

// lanes process jobs: those of one person in one chat in order, others concurrently. A lane has a
// goroutine only while it has jobs.
type lanes struct {
	audience *messageFilter
	answers  *answers
	take     func(context.Context, job)
	work     *sync.WaitGroup
	logger   *slog.Logger

	mu     sync.Mutex // guards queues
	queues map[string][]job
}

// begin appends a job to its lane. Jobs of one person in one chat run in order; jobs of others do not
// delay them.
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

// drain runs the jobs of a lane until there are none.
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
