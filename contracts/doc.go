// Package contracts is the vocabulary of Manifold: what passes between the
// core and the domains, and between the core and its callers. It holds Go
// types, error codes, canonical JSON with its hashes, strict decoding and the
// JSON Schemas of every message. It knows no transport and no store; anything
// that one room alone needs lives in that room.
package contracts
