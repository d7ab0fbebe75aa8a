package sandboxkit

import (
	"math/rand/v2"
	"strings"
)

// Kind is a kind of failure.
type Kind string

// The kinds of failure. "Commit" is the moment at which a write takes effect. A sandbox plays the
// kinds for which it has an answer, and those that need none.
const (
	TooManyRequests  Kind = "too_many_requests"         // 429 with RetryAfter, before commit
	Unavailable      Kind = "unavailable"               // 503, before commit
	UnavailableAfter Kind = "unavailable_after_commit"  // 503, as a proxy sends if the system answered too late
	ServerError      Kind = "server_error"              // 500 in the system's format, before commit
	ServerErrorAfter Kind = "server_error_after_commit" // 500 in the system's format, after commit
	BadGateway       Kind = "bad_gateway"               // 502 with an HTML page, before commit
	Unauthorized     Kind = "unauthorized"              // 401
	Forbidden        Kind = "forbidden"                 // 403
	InvalidGrant     Kind = "invalid_grant"             // 400 of a token endpoint
	ResetBefore      Kind = "reset_before_commit"       // the connection is cut
	ResetAfter       Kind = "reset_after_commit"
	Slow             Kind = "slow" // waits DelayMS, or until the client leaves, before commit
	SlowAfter        Kind = "slow_after_commit"
	HalfAnswer       Kind = "half_answer" // commits, then cuts the answer in the middle; the sandbox must play it
	HTMLAnswer       Kind = "html_answer" // commits, then answers 200 with an HTML page
)

// late reports whether the request is executed before it fails.
func (k Kind) late() bool {
	switch k {
	case UnavailableAfter, ServerErrorAfter, ResetAfter, SlowAfter, HalfAnswer, HTMLAnswer:
		return true
	default:
		return false
	}
}

// everyTime is the Count of a rule without an end.
const everyTime = -1

// Fault is a rule that selects requests and makes them fail. Rules are tried in the order in which
// they were added; the first that fires is played.
type Fault struct {
	Kind Kind `json:"kind"`
	// Method, PathPrefix and PathSuffix select requests; empty matches any.
	Method     string `json:"method,omitempty"`
	PathPrefix string `json:"path_prefix,omitempty"`
	PathSuffix string `json:"path_suffix,omitempty"`
	// Nth is the number of the first matching request that fails [1].
	Nth int `json:"nth,omitempty"`
	// Count is how many requests fail, or -1 for all [1].
	Count int `json:"count,omitempty"`
	// Probability, if not 0, is the chance that a matching request fails, drawn from the seed.
	Probability float64 `json:"probability,omitempty"`
	// RetryAfter is the raw Retry-After header of 429 and 503.
	RetryAfter string `json:"retry_after,omitempty"`
	// DelayMS is the delay of the slow kinds; 0 waits until the client disconnects.
	DelayMS int `json:"delay_ms,omitempty"`
}

type rule struct {
	Fault
	seen, fired int
}

func newRule(f Fault) *rule {
	f.Nth, f.Count = max(f.Nth, 1), max(f.Count, everyTime)
	if f.Count == 0 {
		f.Count = 1
	}
	return &rule{Fault: f}
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
