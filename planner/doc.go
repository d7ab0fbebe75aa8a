// Package planner compiles intents into a plan: a DAG of nodes with every
// policy stamped on it. It is pure, a function of the catalog and the intents:
// the same request gives the same plan, byte for byte. It applies what
// capabilities declare (aliases, defaults, decomposition, flow, composition,
// locks, joins) and knows none of them by name.
//
// It calls nothing, stores nothing and chooses nothing that a person should
// choose: what is missing or ambiguous becomes a Question. It does not run
// plans; package execution does.
package planner
