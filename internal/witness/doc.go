// Package witness stores the proofs of a database outside of it: the keys of its seals and roots,
// and the published roots.
package witness
