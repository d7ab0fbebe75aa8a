// Package lexicon holds the words of natural languages as data: one TOML file per
// language, embedded and decoded once. Closed word classes, verb forms, calendars,
// number words and phrases stand there; no word of a language stands in Go.
//
// It must not read messages (package tokenize does), and it must not contain words of
// a domain: those come from manifests.
package lexicon
