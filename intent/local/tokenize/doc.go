// Package tokenize cuts a message into tokens that keep their place in it, finds
// quotations and misspelled words, and turns tokens into hashed features.
//
// It must not know what words ask for: no capability, parameter or score appears here.
package tokenize
