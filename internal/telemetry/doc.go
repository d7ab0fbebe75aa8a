// Package telemetry shows from outside how the server works: traces and metrics by
// OpenTelemetry, metrics for Prometheus, and trace ids in the log. It stands around
// the ports of the core, which knows nothing of it. A run has a trace of its own
// whose id follows from the run's, so that every server, domain and page knows it,
// also after a restart; requests and runs are linked. No value that a person or a
// domain has said gets into it, and labels are bounded.
package telemetry
