// Package seal finds changes of stored rows that the program did not make.
//
// A seal is the sum of the keyed hashes of all rows of a scope, modulo 2^256,
// plus one that belongs to the scope and the version of the seal (the keyed
// multiset hash MSet-Add-Hash). It changes with its rows, by what is taken away
// and what is added, so a commit costs as much as the rows that it changes. Who
// has the database and not the key can make no seal of other rows, and learns
// from two seals nothing about a third; an older state of a whole scope is
// found by the log, which has its version.
package seal
