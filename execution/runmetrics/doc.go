// Package runmetrics computes the metrics of runs: durations (with the time people were
// waited for apart), the critical path, calls, tokens, outcome, and the safety counters,
// which must be 0. Everything is a pure function of what is stored of a run and of a
// moment, so the metrics of a run that has ended never change and both stores give the same.
package runmetrics
