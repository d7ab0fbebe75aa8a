// Package eval measures how well messages are understood: it runs cases
// through an intent adapter and counts the outcome of them, and it tells the
// author of a manifest what to add. It reads no files and prints nothing.
package eval
