// Package puzzle decides which of their values several places have, all together, by the
// evidence for each, and fits the weights of the evidence on what is known to be right. It
// knows no parameter and no text, only on which words a value stands.
package puzzle
