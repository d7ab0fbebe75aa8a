// Package sandboxkit has the common parts of sandboxes: fault injection, a record of the requests,
// seeded random numbers, and a command's HTTP server. The behaviour of the simulated system,
// including its error messages, is the sandbox's own.
package sandboxkit
