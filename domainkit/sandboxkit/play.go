package sandboxkit

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Answers are what the system says in each kind of failure, in the form R in
// which the sandbox holds an answer before it is sent.
type Answers[R any] map[Kind]R

// Before plays the faults that keep a request from the system. It reports the
// answer to give, if there is one already, and whether the connection was cut.
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

// After plays the faults that lose or spoil the answer of a request that was
// carried out.
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

// announce sets the header by which a system says when to come back.
func (f Fault) announce(w http.ResponseWriter) {
	later := f.Kind == TooManyRequests || f.Kind == Unavailable || f.Kind == UnavailableAfter
	if later && f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
}

// wait reports false when the client left before the delay was over.
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

// HangUp cuts the connection so that the client sees a reset.
func HangUp(w http.ResponseWriter) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return false
	}
	if tcp, isTCP := conn.(*net.TCPConn); isTCP {
		_ = tcp.SetLinger(0) // a reset instead of a polite end; without it the client still sees a broken answer
	}
	_ = conn.Close()
	return true
}
