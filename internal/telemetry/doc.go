// Package telemetry exports traces and metrics by OpenTelemetry, serves metrics for Prometheus,
// and adds trace ids to the log. It wraps the ports of the core, which does not depend on it.
// Each run has a trace whose id is derived from the run id, so that every server, domain and page
// knows it, also after a restart. The traces of requests and runs are linked. No content from a
// person or a domain is exported, and label values are bounded.
package telemetry
