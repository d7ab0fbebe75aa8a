package chat

import (
	"slices"
	"strings"
)

// maxWhole is the maximum number of words in a phrase. A message has at most twice as many,
// including commas.
const maxWhole = 16

// madeOf reports whether a message consists only of phrases from the lists, and which lists they
// are from. Commas may be between phrases; a phrase with a comma needs it: "não, esquece" is not
// "não esquece".
func madeOf(message string, lists ...[]string) (used []bool, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(plain(message)), func(c rune) bool { return c == ' ' || c == '.' || c == '!' || c == ';' || c == '–' })
	text := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(words, " "), ",", " , ")), " ")
	if words = strings.Fields(text); len(words) == 0 || len(words) > 2*maxWhole {
		return nil, false
	}
	used = make([]bool, len(lists))
	return used, covers(words, lists, used, map[int]bool{})
}

// covers reports whether phrases from the lists cover all words, longest phrase first, and marks
// the lists in used. dead holds the numbers of remaining words that cannot be covered.
func covers(words []string, lists [][]string, used []bool, dead map[int]bool) bool {
	switch {
	case len(words) == 0:
		return true
	case dead[len(words)]:
		return false
	}
	for long := min(len(words), maxWhole); long > 0; long-- {
		phrase := strings.Join(words[:long], " ")
		for n, all := range lists {
			if slices.Contains(all, phrase) && covers(words[long:], lists, used, dead) {
				used[n] = true
				return true
			}
		}
	}
	if words[0] == "," && covers(words[1:], lists, used, dead) {
		return true
	}
	dead[len(words)] = true
	return false
}

// takesBack reads a message that withdraws the request or undoes what was done, with any set
// phrases around that: "no, scrap that, I don't want it after all", "oops, undo that".
func takesBack(message string) (Verb, bool) {
	drops := slices.Concat(known.Verbs[Drop], known.Withdrawal.Core)
	used, ok := madeOf(message, known.Verbs[Undo], drops, known.Withdrawal.Around, known.Regret, known.Filler)
	switch {
	case !ok:
		return "", false
	case used[0]:
		return Undo, true
	case used[1]:
		return Drop, true
	default:
		return "", false
	}
}

// IsRevert reports whether a message asks to undo a change: "change it back", "oops, that was the
// wrong one, bring it back".
func IsRevert(message string) bool {
	_, ok := RevertPhrase(message)
	return ok
}

// RevertPhrase returns the part of such a message that states the request: "bring it back".
func RevertPhrase(message string) (words string, ok bool) {
	used, ok := madeOf(message, known.Restore, known.Regret, known.Filler)
	if !ok || !used[0] {
		return "", false
	}
	text := strings.ToLower(plain(message))
	for _, phrase := range known.Restore {
		if len(phrase) > len(words) && strings.Contains(text, phrase) {
			words = phrase
		}
	}
	return words, true
}

// SplitClauses cuts a message at its first punctuation mark between clauses. It returns false if
// there is none, or if one side has no words.
func SplitClauses(message string) (first, rest string, ok bool) {
	at := strings.IndexAny(message, ",.;:!–—")
	if at < 0 {
		return "", "", false
	}
	first, rest = plain(message[:at]), plain(strings.TrimLeft(message[at:], ",.;:!–— "))
	return first, rest, first != "" && rest != ""
}

// IsReason reports whether a clause may be a reason: it has no value, no contrast and no reference.
func IsReason(clause string) bool {
	_, goesOn := ReadFragment(clause)
	first, _, _ := strings.Cut(strings.ToLower(clause), " ")
	return !goesOn && !slices.Contains(known.But, first) && !slices.Contains(known.Not, first) && len(strings.Fields(clause)) > 1 && !strings.ContainsAny(clause, `0123456789"“”«»„`)
}
