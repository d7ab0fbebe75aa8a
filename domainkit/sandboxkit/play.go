package sandboxkit

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Answers holds the system's answer for each kind of failure. R is the sandbox's type of an answer
// before it is sent.
type Answers[R any] map[Kind]R

// Before plays the faults that fail a request before it is executed. It returns the answer to send,
// if any, and whether the connection was cut.
func (a Answers[R]) Before(f Fault, w http.ResponseWriter, r *http.Request) (answer *R, cut bool) {
	switch {
	case f.Kind == ResetBefore:
		return nil, HangUp(w)
	case f.Kind == Slow:
		return nil, !f.wait(r.Context())
	case f.Kind.late():
		return nil, false
	}
	if said, plays := a[f.Kind]; plays {
		f.announce(w)
		return &said, false
	}
	return nil, false
}

// After plays the faults that lose or replace the answer of an executed request.
func (a Answers[R]) After(f Fault, w http.ResponseWriter, r *http.Request, answer R) (spoiled R, cut bool) {
	switch {
	case f.Kind == ResetAfter:
		return answer, HangUp(w)
	case f.Kind == SlowAfter:
		return answer, !f.wait(r.Context())
	case !f.Kind.late():
		return answer, false
	}
	if said, plays := a[f.Kind]; plays {
		f.announce(w)
		return said, false
	}
	return answer, false
}

// announce sets Retry-After.
func (f Fault) announce(w http.ResponseWriter) {
	later := f.Kind == TooManyRequests || f.Kind == Unavailable || f.Kind == UnavailableAfter
	if later && f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
}

// wait reports whether the delay passed before the client disconnected.
func (f Fault) wait(ctx context.Context) bool {
	var over <-chan time.Time
	if f.DelayMS > 0 {
		timer := time.NewTimer(time.Duration(f.DelayMS) * time.Millisecond)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-over:
		return true
	}
}

// HangUp closes the connection with a reset. It reports whether it could.
func HangUp(w http.ResponseWriter) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	if tcp, isTCP := conn.(*net.TCPConn); isTCP {
		_ = tcp.SetLinger(0) // send a reset; without it the client still sees a broken answer
	}
	_ = conn.Close()
	return true
}
