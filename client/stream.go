package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// silence is how long a stream may be idle before it counts as broken. The server sends keep-alives
// more often.
const silence = 45 * time.Second

// errEnded reports that the server has closed the stream for good.
var errEnded = errors.New("the stream has ended")

// Stream yields the events of a session with sequence numbers above after, as they happen, until ctx
// ends. It reconnects where a broken connection stopped, without losing or repeating events. It
// ends with the first error that is not temporary.
func (c *Client) Stream(ctx context.Context, sessionID string, after int64) iter.Seq2[contracts.Event, error] {
	return c.wire.stream(ctx, path("v1", "sessions", sessionID, "stream"), after)
}

// StreamRun is like Stream for one run. It ends when the run ends.
func (c *Client) StreamRun(ctx context.Context, runID string, after int64) iter.Seq2[contracts.Event, error] {
	return c.wire.stream(ctx, path("v1", "runs", runID, "stream"), after)
}

func (w *wire) stream(ctx context.Context, path string, after int64) iter.Seq2[contracts.Event, error] {
	return func(yield func(contracts.Event, error) bool) {
		pause := firstPause
		for {
			from := after
			stop := false
			err := w.listen(ctx, path, after, func(e contracts.Event) bool {
				after = e.Seq
				stop = !yield(e, nil)
				return !stop
			})
			switch {
			case stop, errors.Is(err, errEnded):
				return
			case ctx.Err() != nil:
				yield(contracts.Event{}, ctx.Err())
				return
			case err != nil && !temporary(err):
				yield(contracts.Event{}, err)
				return
			case after > from:
				pause = firstPause
			}
			if !sleep(ctx, max(spread(pause), askedFor(err))) {
				yield(contracts.Event{}, ctx.Err())
				return
			}
			pause = min(2*pause, 5*time.Second)
		}
	}
}

// firstPause is the delay before the first reconnect. Each further delay is twice as long, up to 5 s.
const firstPause = 100 * time.Millisecond

// spread adds jitter, so that the listeners of a restarted server do not all reconnect at once.
func spread(pause time.Duration) time.Duration { return pause/2 + rand.N(pause/2) } //nolint:gosec // nobody gains by guessing it

// busyError is a refusal with a Retry-After time.
type busyError struct {
	error

	after time.Duration
}

// Unwrap returns the server's error.
func (b busyError) Unwrap() error { return b.error }

func askedFor(err error) time.Duration {
	busy, _ := errors.AsType[busyError](err)
	return min(busy.after, time.Minute)
}

func temporary(err error) bool {
	switch contracts.CodeOf(err) {
	case contracts.CodeUnavailable, contracts.CodeRateLimited, contracts.CodeInternal, contracts.CodeLeaseLost:
		return true
	default:
		return false
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// listen reads events from one connection until it ends.
func (w *wire) listen(ctx context.Context, path string, after int64, take func(contracts.Event) bool) error {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	quiet := time.AfterFunc(silence, cut)
	defer quiet.Stop()
	q := url.Values{}
	setInt(q, "after", after)
	req, err := w.build(ctx, request{method: http.MethodGet, path: path, query: q})
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := w.cfg.HTTP.Do(req.Request)
	if err != nil {
		return unreachable(ctx, w.base, err)
	}
	defer res.Body.Close() // read only: an error is irrelevant
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return errEnded
	default:
		body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))    // best effort
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 if absent or a date
		return busyError{failure(res, body), time.Duration(max(seconds, 0)) * time.Second}
	}
	return readEvents(res.Body, func() { quiet.Reset(silence) }, take)
}

// readEvents parses server-sent events.
func readEvents(body io.Reader, alive func(), take func(contracts.Event) bool) error {
	lines, name := bufio.NewReader(body), ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return contracts.Errorf(contracts.CodeUnavailable, "the stream broke: %w", err)
		}
		alive()
		line = strings.TrimRight(line, "\r\n")
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			name = kind
		}
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case !ok:
		case name == "bye" && strings.Contains(data, "the run has ended"):
			return errEnded
		case name == "":
			var e contracts.Event
			if err := contracts.Decode([]byte(data), &e); err != nil {
				return contracts.Errorf(contracts.CodeInvalid, "event %s is not what this client understands: %w", strconv.Quote(data), err)
			}
			if !take(e) {
				return errEnded
			}
		}
		if line == "" {
			name = ""
		}
	}
}
