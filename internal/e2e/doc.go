// Package e2e holds the tests of the whole: a real server with its store on
// disk, real domains over HTTP, asked through the client that everybody uses.
// It has no code of its own.
//
// What a domain did is never believed from an answer of the server: every
// domain here keeps its own record of effects, in the process of the test,
// where it outlives each server that is killed.
//
// MANIFOLD_NIGHTLY=1 makes the tests that kill servers try all moments and more
// seeds (see internal/sample); MANIFOLD_E2E_SEED=n makes the generated domains and the moments
// of killing begin at another seed.
package e2e
