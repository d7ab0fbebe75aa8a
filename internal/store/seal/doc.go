// Package seal detects changes of stored rows that the program did not make.
//
// A seal is the sum, modulo 2^256, of the keyed hashes of all rows of a scope and of one hash of
// the scope and the seal's version (the keyed multiset hash MSet-Add-Hash). It is updated by the
// removed and added rows, so a commit costs as much as the rows that it changes. Without the key
// nobody can compute the seal of other rows, or derive a third seal from two. The rollback of a
// whole scope to an older state is detected by the log, which records the version.
package seal
