// Package domainclient is the one way in which Manifold speaks to domain
// services: it fetches manifests and health for the registry, and implements
// execution.Invoker. It decides nothing about runs; every answer becomes a
// value that its caller judges.
//
// # What protects the system from a domain
//
// Each domain has a lane of its own: a connection pool, a bulkhead that bounds
// the calls in flight, a bound on how many big answers are held at once, and a
// breaker. A lane that is full or open delays a call (a busy reply), it never
// fails it. Bodies, headers, time and depth are bounded, compression is never
// asked for and never accepted, redirects are never followed, and no proxy is
// read from the environment.
//
// # What is sent twice, and what is not
//
// An exchange is one request. Attempts belong to the runner, which counts
// them in the ledger, so RetryMax is 0 for every write. Two things may be
// repeated here, because both are provably harmless:
//
//   - a read of /execute whose connection was a kept-alive one that turned
//     out dead before the first byte of the request was written, once;
//   - GET /manifest after a connection failure or a 5xx, twice.
//
// Go's net/http by itself replays a POST that carries an Idempotency-Key
// header when a kept-alive connection breaks under it. Requests made here have
// no GetBody, so that it cannot; a lost write is reported, not repeated.
//
// Whether a failed request left this process at all is not guessed from error
// texts: the connection counts its writes, and is sealed when an exchange ends
// in an error, so that "not sent" stays true afterwards.
package domainclient
