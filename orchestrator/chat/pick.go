package chat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
)

// MatchOption returns the id of the option that a number, an ordinal, a button text or "yes" to a
// single option selects, and else the message. Options of a question for a number have letters.
func MatchOption(i contracts.Interrupt, message string) string {
	text := strings.TrimSpace(message)
	if len(i.Options) == 1 && IsAffirmative(text) {
		return i.Options[0].ID
	}
	for n, o := range i.Options {
		if text == OptionText(i, n) {
			return o.ID
		}
	}
	if _, is := ParseNumber(text); is && AsksNumber(i) {
		return text
	}
	at, ok := OptionPosition(i, text)
	if !ok {
		at, ok = ParseOrdinal(text)
	}
	if at == -1 {
		at = len(i.Options)
	}
	if !ok || at < 1 || at > len(i.Options) {
		if one, is := ParseSelection(text); is {
			if id, ok := told(i, one); ok {
				return id
			}
		}
		return named(i, text)
	}
	return i.Options[at-1].ID
}

// told returns the only option whose label has all of the words. Leading words of at most
// longestArticle bytes may be left out: "the US" of "the one for the US".
func told(i contracts.Interrupt, words string) (id string, ok bool) {
	for {
		if id = named(i, words); id != words {
			return id, true
		}
		first, rest, more := strings.Cut(words, " ")
		if !more || len(first) > longestArticle {
			return "", false
		}
		words = rest
	}
}

// longestArticle is the maximum length in bytes of a leading article that is ignored.
const longestArticle = 3

// named returns the id of the only option whose label has all words of the text, else the text. For
// a number question the whole label must match: "three" is not "three weeks".
func named(i contracts.Interrupt, text string) string {
	words := strings.Fields(strings.ToLower(text))
	found := ""
	for _, o := range i.Options {
		label := strings.FieldsFunc(strings.ToLower(o.Label), func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(",;()", c) })
		if len(words) == 0 || AsksNumber(i) && len(words) != len(label) || slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(label, strings.Trim(w, ".,!")) }) {
			continue
		}
		if found != "" {
			return text
		}
		found = o.ID
	}
	return cmp.Or(found, text)
}

// ParseQuoted returns the content of a message that is entirely in quotation marks.
func ParseQuoted(text string) (string, bool) {
	for _, marks := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"«", "»"}, {"'", "'"}} {
		if inner, ok := strings.CutPrefix(text, marks[0]); ok {
			if inner, ok = strings.CutSuffix(inner, marks[1]); ok && inner != "" {
				return inner, true
			}
		}
	}
	return "", false
}

// ParseNumber reads a message that is only a number.
func ParseNumber(message string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(strings.TrimSpace(message), ".)"), 64)
	return n, err == nil
}
