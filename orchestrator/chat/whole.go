package chat

import (
	"slices"
	"strings"
)

// maxWhole is how many words a message has at most that is made of set phrases.
const maxWhole = 16

// madeOf reports whether a message is made of phrases of some lists and of nothing else,
// and which of the lists are among them. A comma may stand anywhere; a phrase that ends
// with one needs it: "não, esquece" is not "não esquece".
func madeOf(message string, lists ...[]string) (used []bool, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(plain(message)), func(c rune) bool { return c == ' ' || c == '.' || c == '!' || c == ';' || c == '–' })
	text := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(words, " "), ",", " , ")), " ")
	if words = strings.Fields(text); len(words) == 0 || len(words) > 2*maxWhole {
		return nil, false
	}
	used = make([]bool, len(lists))
	return used, covers(words, lists, used, map[int]bool{})
}

// covers marks the lists that cover some words, the longest phrases first.
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

// takesBack reads a message in which somebody no longer wants what was asked, or wants
// undone what was done, in whatever words stand around that: "no, scrap that, I don't
// want it after all", "oops, undo that".
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

// IsRevert reports whether a message asks to undo a change: "change it back", "oops, that was
// the wrong one, bring it back".
func IsRevert(message string) bool {
	_, ok := RevertPhrase(message)
	return ok
}

// RevertPhrase returns the words of such a message that say what is wanted: "bring it back".
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

// SplitClauses cuts a message at its first sign between clauses that has words on both sides;
// false means that there is none.
func SplitClauses(message string) (first, rest string, ok bool) {
	at := strings.IndexAny(message, ",.;:!–—")
	if at < 0 {
		return "", "", false
	}
	first, rest = plain(message[:at]), plain(strings.TrimLeft(message[at:], ",.;:!–— "))
	return first, rest, first != "" && rest != ""
}

// IsReason reports whether a clause may be a reason: it has no value, no contrast and no
// reference.
func IsReason(clause string) bool {
	_, goesOn := ReadFragment(clause)
	first, _, _ := strings.Cut(strings.ToLower(clause), " ")
	return !goesOn && !slices.Contains(known.But, first) && !slices.Contains(known.Not, first) && len(strings.Fields(clause)) > 1 && !strings.ContainsAny(clause, `0123456789"“”«»„`)
}
