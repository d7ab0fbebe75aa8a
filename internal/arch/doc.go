// Package arch checks rules of this repository that the compiler does not: which package may
// import which, that the core names no domain and no capability, how long a file may be, and that
// no file refers to the machine of its author. A room is a package folder with an import rule.
// The package's own tests apply the rules to the repository, so a broken rule is a failing test.
// No program uses it.
//
// It reads and parses the files itself instead of running "go list": the test cache tracks the
// files that a test opens, but not those that a child process opens.
package arch
