// Package use computes the sentence vectors of a multilingual universal sentence
// encoder in plain Go: pieces of words as SentencePiece cuts them, three small
// convolutions over their vectors, four layers. The weights are no part of this
// program: Install fetches them once, and Open maps the large table of them.
package use
