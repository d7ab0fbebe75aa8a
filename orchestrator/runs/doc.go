// Package runs has what people do with runs: preview and submit a plan, look at
// a run, cancel it, undo one of its writes, and the locks that runs hold.
package runs
