// Package domainclient is the only client of domain services. It fetches manifests and health for
// the registry and implements execution.Invoker. It makes no decisions about runs; every response
// is returned as a value.
//
// # Protection from a misbehaving domain
//
// Each domain has a lane of its own: a connection pool, a limit on concurrent calls, a limit on
// large responses in memory, and a circuit breaker. A full lane or an open breaker delays a call
// (a busy reply), it never fails it. Bodies, headers, time and nesting are limited. Compression
// is neither requested nor accepted, redirects are not followed, and no proxy is read from the
// environment.
//
// # What is sent twice
//
// An exchange is one request. Retries belong to the runner, which records them in the ledger, so
// RetryMax is 0 for every write. Two kinds of requests are repeated here, because both are
// provably harmless:
//
//   - a read of /execute whose kept-alive connection turned out to be dead before the first byte
//     of the request was written, once;
//   - GET /manifest after a connection failure or a 5xx, twice.
//
// Go's net/http replays a POST with an Idempotency-Key header when a kept-alive connection
// breaks. Requests made here have no GetBody, which prevents this; a lost write is reported, not
// repeated.
//
// Whether any byte of a failed request was sent is not guessed from error texts: the connection
// records writes, and is sealed when an exchange ends with an error, so that "not sent" remains
// true.
package domainclient
