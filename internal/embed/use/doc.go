// Package use computes sentence vectors of a multilingual universal sentence encoder in plain Go:
// SentencePiece tokens, three small convolutions over their vectors, and four layers. The weights
// are not part of this program: Install fetches them once, and Open maps their large table.
package use
