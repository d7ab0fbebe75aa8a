// Package metrics has the types of run metrics and of the feature flags that a run was
// started with. It imports no other package of the module and computes nothing.
package metrics
