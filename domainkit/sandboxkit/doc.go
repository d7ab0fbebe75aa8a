// Package sandboxkit is what sandboxes of systems have in common: faults that
// can be injected, a record of the requests that arrived, seeded randomness,
// and the serving of a sandbox by a command. What a system says when it fails,
// and everything else about it, is the sandbox's own.
package sandboxkit
