// Package workflow reads the procedures that manifests declare: it checks a
// template with every fault by its place, and compiles it to the nodes of a plan.
// It is pure: the same template and catalog give the same nodes. It does not
// choose among capabilities, and it runs nothing: what becomes ready, and what a
// rule takes back, is decided by the owner of the run.
package workflow
