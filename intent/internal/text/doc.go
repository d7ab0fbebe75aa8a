// Package text cuts a message into tokens that keep their place in it, and
// turns tokens into hashed features. It knows writing, not meaning: no
// capability, no parameter and no score appears here.
package text
