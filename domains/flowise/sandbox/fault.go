package sandbox

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind is a way to fail.
type Kind string

// The ways to fail. "Commit" is the moment at which a write takes place.
const (
	TooManyRequests  Kind = "too_many_requests"         // 429, before commit
	Unavailable      Kind = "unavailable"               // 503 of a proxy, before commit
	UnavailableAfter Kind = "unavailable_after_commit"  // 503 of a proxy that waited too short
	ServerError      Kind = "server_error"              // 500 in Flowise's words, before commit
	ServerErrorAfter Kind = "server_error_after_commit" // the row is saved, then 500 in Flowise's words
	BadGateway       Kind = "bad_gateway"               // 502 with a page, before commit
	Unauthorized     Kind = "unauthorized"              // 401
	Forbidden        Kind = "forbidden"                 // 403
	ResetBefore      Kind = "reset_before_commit"       // the connection is cut
	ResetAfter       Kind = "reset_after_commit"
	Slow             Kind = "slow" // waits Delay, or until the client leaves, before commit
	SlowAfter        Kind = "slow_after_commit"
	HalfAnswer       Kind = "half_answer" // commits, then cuts the answer in the middle
	HTMLAnswer       Kind = "html_answer" // commits, then answers 200 with a page
)

// everyTime is the Count of a rule that never ends.
const everyTime = -1

// Fault is a rule about which requests fail, and how. Rules are tried in the
// order in which they were added; the first that applies decides.
type Fault struct {
	Kind Kind `json:"kind"`
	// Method, PathPrefix and PathSuffix choose the requests; empty is any.
	Method     string `json:"method,omitempty"`
	PathPrefix string `json:"path_prefix,omitempty"`
	PathSuffix string `json:"path_suffix,omitempty"`
	// Nth is the first matching request that fails [1].
	Nth int `json:"nth,omitempty"`
	// Count is how many fail, -1 for all [1].
	Count int `json:"count,omitempty"`
	// Probability, when not 0, makes each one fail only that often; the draws
	// come from the seed.
	Probability float64 `json:"probability,omitempty"`
	// RetryAfter is the raw header of TooManyRequests and Unavailable.
	RetryAfter string `json:"retry_after,omitempty"`
	// DelayMS is the wait of the slow kinds; 0 waits until the client leaves.
	DelayMS int `json:"delay_ms,omitempty"`
}

type faults struct {
	rules []*rule
	rng   *rand.Rand
}

type rule struct {
	Fault
	seen, fired int
}

func newFaults(seed uint64) faults { return faults{rng: newRand(seed, "faults")} }

// Inject adds a rule.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Nth, f.Count = max(f.Nth, 1), max(f.Count, everyTime)
	if f.Count == 0 {
		f.Count = 1
	}
	s.faults.rules = append(s.faults.rules, &rule{Fault: f})
}

// ClearFaults removes every rule.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.rules = nil
}

// Fired tells whether any rule has fired.
func (s *Server) Fired() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.faults.rules, func(r *rule) bool { return r.fired > 0 })
}

// arm decides whether a request fails.
func (s *Server) arm(method, path string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.faults.rules {
		if r.applies(method, path) && r.fires(s.faults.rng) {
			return r.Fault
		}
	}
	return Fault{}
}

func (r *rule) applies(method, path string) bool {
	return (r.Method == "" || r.Method == method) &&
		strings.HasPrefix(path, r.PathPrefix) && strings.HasSuffix(path, r.PathSuffix)
}

func (r *rule) fires(rng *rand.Rand) bool {
	r.seen++
	if r.seen < r.Nth || (r.Count != everyTime && r.fired >= r.Count) {
		return false
	}
	if r.Probability > 0 && rng.Float64() >= r.Probability {
		return false
	}
	r.fired++
	return true
}

// before plays the faults that keep the request from the server. It reports the
// answer to give, and whether the connection was already used up.
func (f Fault) before(w http.ResponseWriter, r *http.Request) (answer *reply, cut bool) {
	switch f.Kind {
	case TooManyRequests:
		return f.busy(w, http.StatusTooManyRequests, "slow down"), false
	case Unavailable:
		return f.busy(w, http.StatusServiceUnavailable, "<html><h1>503 Service Unavailable</h1></html>"), false
	case ServerError:
		return new((&refusal{http.StatusInternalServerError, "Error: SQLITE_BUSY: database is locked"}).reply()), false
	case BadGateway:
		return &reply{http.StatusBadGateway, page("<html><h1>502 Bad Gateway</h1></html>")}, false
	case Unauthorized:
		return new(failure(errUnauthorized)), false
	case Forbidden:
		return new(failure(errForbidden)), false
	case ResetBefore:
		return nil, hangUp(w)
	case Slow:
		return nil, !f.wait(r.Context())
	default:
		return nil, false
	}
}

// after plays the faults that lose or spoil the answer of a request that was
// carried out.
func (f Fault) after(w http.ResponseWriter, r *http.Request, answer reply) (spoiled reply, cut bool) {
	switch f.Kind {
	case UnavailableAfter:
		return *f.busy(w, http.StatusServiceUnavailable, "<html><h1>503 Service Unavailable</h1></html>"), false
	case ServerErrorAfter:
		return (&refusal{http.StatusInternalServerError, "Error: telemetry failed"}).reply(), false
	case ResetAfter:
		return reply{}, hangUp(w)
	case SlowAfter:
		return answer, !f.wait(r.Context())
	case HTMLAnswer:
		return reply{http.StatusOK, app}, false
	default:
		return answer, false
	}
}

func (f Fault) busy(w http.ResponseWriter, status int, text page) *reply {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	return &reply{status, text}
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

// hangUp cuts the connection so that the client sees a reset.
func hangUp(w http.ResponseWriter) bool {
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
