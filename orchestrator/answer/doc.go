// Package answer makes what people read out of what a run found, and says what
// there is to ask for. It is pure: the same run and catalog give the same words.
package answer
