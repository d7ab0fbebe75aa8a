// Package tokenize splits a message into tokens with their byte positions, finds quotations and
// misspelled words, and converts tokens to hashed features.
//
// It must not know what words ask for: no capability, parameter or score appears here.
package tokenize
