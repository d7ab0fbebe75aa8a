// Package arch checks the rules of this repository that no compiler knows:
// which room may import which, that the core names no domain and no
// capability, how long a file may be, and that nothing refers to the machine
// of whoever wrote it. Its own tests run the rules over the repository, so a
// broken rule is a failing test. It is not part of any program.
//
// It reads and parses the files itself instead of asking "go list": the test
// cache follows the files that a test opens, but not those that a child
// process opens.
package arch
