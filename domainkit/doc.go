// Package domainkit is the SDK for authors of domains in Go. A domain is an
// HTTP service that declares what it can do in a manifest and does it on
// request; the package answers GET /health, GET /manifest and POST /execute by
// the contract and leaves to the author only the functions that do the work.
//
//	svc, err := domainkit.New(domainkit.Config{Domain: "weather", Version: "1.0.0"})
//	err = domainkit.Add(svc, domainkit.Capability{Name: "get_forecast", …},
//		func(ctx context.Context, call domainkit.Call, in Query) (Forecast, error) { … })
//	err = svc.Run(ctx, ":8090")
//
// # Types and schemas
//
// Add derives the schemas of parameters and facts from the Go types. Fields
// take the name of their json tag; these tags say more:
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
// A parameter is required unless it is a pointer, has omitempty, omitzero or a
// default, or says required:"false". What tags cannot say (oneOf, for example)
// stands in Capability.Schema, which is merged over the generated schema.
// Input is checked before the handler is called and answered with 400; facts
// are checked after it: a read with faulty facts fails, a write is reported as
// applied all the same, because it is.
//
// # The manifest
//
// The manifest is made of the code and of an optional hints file
// (Config.Hints), which has the form of a manifest in which every part is
// optional. The two are merged; where both say the same thing differently, or
// the result breaks a rule of manifests, the service refuses to start and
// lists every fault.
//
// # Writes
//
// A capability that declares idempotency keyed is executed once for a key: its
// final result is kept for the idempotency window and answers every repeat, a
// repeat during the execution waits for it, and the key with other parameters
// is a 409. A refusal that is retryable and had no effect frees the key. When
// it is not known whether an execution took effect (the process died, the time
// was up, the handler panicked) the author's Resolve decides at the next
// repeat; without it the answer is an error with effect unknown, and the work
// is never done twice. The keys live in a Store. The default store is in
// memory and forgets them at a restart; use domainkit/sqlitestore for writes
// that matter.
//
// # Long work
//
// Work that takes longer than Config.AcceptAfter is answered with 202 and an
// operation, and goes on; a call with context.operation asks for its result.
// Every execution ends at context.timeout_ms or the capability's timeout,
// whichever is shorter: its context is cancelled.
//
// # What it is not
//
// The package does not compare context.capability_digest and never answers
// 412: the digest covers the effective policy, which only the core knows.
// Parameters that no longer fit a changed schema are answered with 400. It
// does not decide who may call what either: approvals and roles are the
// core's; a handler that has rules of its own returns Forbiddenf.
package domainkit
