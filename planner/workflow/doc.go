// Package workflow compiles the procedures that manifests declare. It checks a template and lists
// every fault with its pointer, and compiles it to the nodes of a plan. It is pure: the same
// template and catalog give the same nodes. It does not choose among capabilities and runs nothing:
// the owner of the run decides which steps become ready and which rules repeat a region.
package workflow
