// Package runmetrics computes the metrics of runs: durations (with human wait time separate), the
// critical path, calls, tokens, outcome, and the safety counters, which must be 0. Everything is a
// pure function of the stored run and a time. So the metrics of an ended run never change, and both
// stores give the same.
package runmetrics
