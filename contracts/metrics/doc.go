// Package metrics defines the types of run metrics and of the feature flags of a run. It imports
// no other package of the module. It computes no metrics.
package metrics
