// Package domainkit is the Go SDK for domains. A domain is an HTTP service that declares its
// capabilities in a manifest and executes them on request. The package serves GET /health, GET
// /manifest and POST /execute; the author writes only the functions that do the work.
//
//	svc, err := domainkit.New(domainkit.Config{Domain: "weather", Version: "1.0.0"})
//	err = domainkit.Add(svc, domainkit.Capability{Name: "get_forecast", …},
//		func(ctx context.Context, call domainkit.Call, in Query) (Forecast, error) { … })
//	err = svc.Run(ctx, ":8090")
//
// # Types and schemas
//
// Add generates the schemas of parameters and facts from the Go types. A field is named by its json
// tag. These tags add to its schema:
//
//	description  a sentence
//	enum         "a,b,c"
//	pattern      an RE2 expression
//	format       date, date-time, email, uri, …
//	min, max     bounds: of a number, of the length of a text or of a list
//	above, below exclusive bounds of a number
//	default      the value of an absent parameter; the handler receives it
//	required     "true" or "false"
//	only         "manifold": a parameter for compositions, never sent here
//
// A parameter is required unless it is a pointer, has omitempty, omitzero or a default, or says
// required:"false". Keywords without a tag (oneOf, for example) go into Capability.Schema, which is
// merged over the generated schema. Parameters are validated before the handler is called; invalid
// ones are answered with 400. Facts are validated after it: a read with invalid facts fails, a
// write is still reported as applied, because it was.
//
// # The manifest
//
// The manifest is built from the code and an optional hints file (Config.Hints). A hints file has
// the form of a manifest in which every part is optional. If code and hints contradict each other,
// or the merged manifest is invalid, the service refuses to start and lists every fault.
//
// # Writes
//
// A capability with idempotency keyed is executed once per idempotency key. Its final result is
// stored for the idempotency window and answers every retry. A retry during the execution waits for
// it; the same key with other parameters is answered with 409. A retryable refusal without effect
// releases the key. If the outcome of an execution is unknown (the process died, it timed out, the
// handler panicked), the next retry calls Capability.Resolve. Without Resolve the answer is an
// error with effect unknown; the write is never executed twice. The keys are kept in a Store. The
// default store is in memory and loses them at a restart; use domainkit/sqlitestore or
// domainkit/pgstore for writes that matter.
//
// # Long work
//
// Work that takes longer than Config.AcceptAfter is answered with 202 and an operation id, and
// continues in the background. A call with context.operation polls for its result. The context of
// an execution is cancelled after context.timeout_ms or the timeout of the capability, whichever is
// shorter.
//
// # Limits
//
// The package does not compare context.capability_digest and never answers 412: the digest covers
// the effective policy, which only the core knows. Parameters that no longer match a changed schema
// are answered with 400. It does not authorize calls either: approvals and roles are the core's. A
// handler with access rules of its own returns Forbiddenf.
package domainkit
