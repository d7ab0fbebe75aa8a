// Package runs previews and submits plans, shows, cancels and undoes runs, and lists the
// locks that they hold. For a run that asked to see results first it compiles the next round.
// It does not advance runs: package execution does.
package runs
