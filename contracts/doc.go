// Package contracts is the vocabulary of Manifold: what passes between the
// core and the domains, and between the core and its callers. It holds Go
// types, error codes, canonical JSON with its hashes, strict decoding and the
// JSON Schemas of every message. It does no I/O; wrap.go and rest.go
// have the forms that HTTP gives to results and errors. What one package alone needs
// lives in that package.
package contracts
