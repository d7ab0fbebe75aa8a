// Package verdict judges what a run, or a part of it, came to, by its rows alone. The
// verdict of a model can only lower it.
package verdict
