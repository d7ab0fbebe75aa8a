// Package lexicon holds the words of natural languages as data: one TOML file per language,
// embedded and decoded once. The files define closed word classes, verb forms, calendars, number
// words and phrases; Go code contains no words of a language.
//
// It must not read messages (package tokenize does), and it must not contain domain words, which
// come from manifests.
package lexicon
