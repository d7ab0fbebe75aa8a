// Package witness keeps what proves a database outside of it: the keys of its
// seals and roots, and the roots that were published.
package witness
