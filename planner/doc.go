// Package planner compiles intents into a plan: a DAG of nodes with their policies. It is a pure
// function of the catalog and the intents: the same request gives the same plan, byte for byte. It
// applies what capabilities declare (aliases, defaults, decomposition, flow, composition, locks,
// joins) and knows none of them by name.
//
// It makes no calls and stores nothing. It makes no choice that belongs to a person: what is
// missing or ambiguous becomes a Question. It does not run plans; package execution does.
package planner
