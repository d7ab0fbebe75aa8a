// Package switches tells what may be said of a yes or a no beside its name: what its
// description says that is so, and that somebody is told or is not. It knows no message but
// the tokens that it is given, and decides nothing.
package switches
