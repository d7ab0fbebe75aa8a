// Package cues holds the closed classes of words that tell what a text stands for,
// as the files of all languages have them. It knows no request and no capability.
package cues
