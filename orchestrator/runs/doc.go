// Package runs previews and submits plans, displays, cancels and undoes runs, and lists the locks
// that they hold. For a run that needs results before its plan is complete, it compiles the next
// round. It does not execute runs: package execution does.
package runs
