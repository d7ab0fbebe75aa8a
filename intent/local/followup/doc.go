// Package followup reads messages that refer to earlier requests: it knows what those
// were about, finds the words that refer to it, and substitutes them.
//
// It must not read values or rank capabilities; the caller reads the substituted text.
package followup
