package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/runs"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// streamRoutes serve event streams.
type streamRoutes struct {
	cfg      Config
	sessions *sessions.Directory
	runs     *runs.Runs
	callers  *callers
	problems *problems
}

func (s *streamRoutes) routes() []route {
	return []route{
		{http.MethodGet, "/v1/sessions/:id/stream", false, s.streamSession},
		{http.MethodGet, "/v1/runs/:id/stream", false, s.streamRun},
	}
}

// streamSession streams the events of a session.
func (s *streamRoutes) streamSession(k *call) error {
	return s.stream(k, "", func(ctx context.Context, after int64) (*orchestrator.Listener, error) {
		return s.sessions.Listen(ctx, k.who, k.param("id"), after)
	})
}

// streamRun streams the events of one run and ends with it.
func (s *streamRoutes) streamRun(k *call) error {
	return s.stream(k, k.param("id"), func(ctx context.Context, after int64) (*orchestrator.Listener, error) {
		run, err := s.runs.Read(ctx, k.who, k.param("id"))
		if err != nil {
			return nil, err
		}
		return s.sessions.Listen(ctx, k.who, run.SessionID, after)
	})
}

type listen func(ctx context.Context, after int64) (*orchestrator.Listener, error)

func (s *streamRoutes) stream(k *call, runID string, listen listen) error {
	after, err := k.place()
	if err != nil {
		return err
	}
	lost := false
	l, err := listen(k.ctx(), after)
	if errors.Is(err, orchestrator.ErrReset) {
		lost = true
		l, err = listen(k.ctx(), 0)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	k.clearDeadlines()
	out := newSSE(k.gin.Writer, s.cfg.Now)
	if !lost && runID != "" && after > 0 && s.over(k, runID, after) {
		k.gin.Status(http.StatusNoContent) // tells browsers not to reconnect
		return nil
	}
	out.open()
	out.comment("stream")
	if lost {
		out.notice("reset", []byte(`{"reason":"there is no such place; this is the beginning"}`))
	}
	s.pump(k, out, l, runID)
	return nil
}

// over reports whether the run has ended and the client has seen all its events.
func (s *streamRoutes) over(k *call, runID string, after int64) bool {
	view, err := s.runs.Get(k.ctx(), k.who, runID, 0)
	if err != nil || !view.State.Terminal() {
		return false
	}
	events, err := s.runs.Events(k.ctx(), k.who, runID, contracts.Page{Cursor: contracts.SeqCursor(after), Limit: 1})
	return err == nil && len(events.Items) == 0
}

// pump sends events until the client or the server goes away, or the run has ended.
func (s *streamRoutes) pump(k *call, out *sse, l *orchestrator.Listener, runID string) {
	asked := s.cfg.Now()
	for out.err == nil {
		events, err := l.Next(k.ctx(), s.cfg.Heartbeat)
		switch {
		case k.ctx().Err() != nil:
			out.notice("bye", []byte(`{"reason":"the server is going away; come back"}`))
			return
		case errors.Is(err, orchestrator.ErrReset):
			out.notice("reset", []byte(`{"reason":"this reader is too slow; come back with the last id"}`))
			return
		case err != nil:
			s.problems.log(k.gin, err)
			out.notice("bye", []byte(`{"reason":"the events cannot be read now; come back"}`))
			return
		}
		frames, ended := framesOf(events, runID)
		if out.write(frames...); ended {
			return
		}
		out.keepAlive(s.cfg.Heartbeat)
		if len(events) > 0 && s.cfg.Now().Sub(asked) < s.cfg.Heartbeat {
			continue
		}
		if asked = s.cfg.Now(); !s.callers.stillMay(k) {
			out.notice("bye", []byte(`{"reason":"the key does not count any more"}`))
			return
		}
	}
}

// framesOf formats events; with a runID, only those of that run, and a goodbye after its end.
func framesOf(events []contracts.Event, runID string) (frames [][]byte, ended bool) {
	for _, e := range events {
		if runID != "" && e.RunID != runID {
			continue
		}
		frames = append(frames, frame(e.Seq, "", encode(e)))
		if runID != "" && e.Type == contracts.EventDone {
			return append(frames, frame(0, "bye", []byte(`{"reason":"the run has ended"}`))), true
		}
	}
	return frames, false
}

// place returns the last sequence number that the client has seen: from the Last-Event-ID header of a
// reconnecting browser, or else from the query.
func (k *call) place() (int64, error) {
	if text := k.gin.GetHeader("Last-Event-ID"); text != "" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			return n, nil
		}
		return 0, contracts.Errorf(contracts.CodeInvalid, "the Last-Event-ID must be a whole number from 0")
	}
	return k.number("after")
}
