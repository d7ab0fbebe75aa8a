// Package lang is what the matcher knows of natural languages, as data: one file
// a language, embedded and decoded once. No word of a language stands in Go.
//
// It knows words, not messages: package text cuts a message into tokens and gives
// each its Word, and whoever reads the message asks the Word. What a capability is
// about is never here; that comes from manifests.
package lang
