package chat

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The verbs of a dialogue; their words are in phrases.json.
const (
	Show   Verb = "show"   // a gate, by its code
	Undo   Verb = "undo"   // the last write, or the one with a number
	Why    Verb = "why"    // how the last request was understood, and its result
	WhoAmI Verb = "whoami" // the caller and their roles
	Thanks Verb = "thanks"
	Back   Verb = "back" // to a question that was left open
	Drop   Verb = "drop" // the open questions, or else the open runs
)

// All is the topic of an undo of everything.
const All = "all"

//go:embed phrases.json
var phrasesFile []byte

// phrases are the words of dialogues in all supported languages. They are data, so that a further
// language needs no change of code.
type phrases struct {
	Verbs map[Verb][]string `json:"verbs"`
	// Gratitude is any sequence of core words and words around them, with one core word.
	Gratitude struct {
		Core   []string `json:"core"`
		Around []string `json:"around"`
	} `json:"gratitude"`
	Leading map[Verb][]string `json:"leading"`
	// Every has words for everything that was done.
	Every   []string `json:"every"`
	Another []string `json:"another"`
	Change  []string `json:"change"`
	Correct []string `json:"correct"`
	Rename  []string `json:"rename"`
	Restore []string `json:"restore"`
	// Changed are words around a new value: "mach 5 draus". Behind may be at the end of a fragment,
	// Aim before a value, Named around a name.
	Changed [][2]string `json:"changed"`
	Behind  []string    `json:"behind"`
	// Instead are words at the end of a message that replaces something; they may also be before a
	// value: "plutôt 160". Filler words have no meaning.
	Instead []string    `json:"instead"`
	Filler  []string    `json:"filler"`
	Aim     []string    `json:"aim"`
	Named   [][2]string `json:"named"`
	// Naming are the last words of parameter names that are the name of something.
	Naming []string `json:"naming"`
	// Withdrawal withdraws the request: one of the core phrases, and phrases around it. Regret
	// phrases are around an undo.
	Withdrawal struct {
		Core   []string `json:"core"`
		Around []string `json:"around"`
	} `json:"withdrawal"`
	Regret []string `json:"regret"`
	// One are the words before and after a selection: "the US one".
	One [][2]string `json:"one"`
	// Other are phrases for another object than the one that was named.
	Other    []string            `json:"other"`
	Not      []string            `json:"not"`
	But      []string            `json:"but"`
	Ordinals map[string][]string `json:"ordinals"`
	Table    struct {
		Sort   []string `json:"sort"`
		First  []string `json:"first"`
		Count  []string `json:"count"`
		Filter []string `json:"filter"`
		Down   []string `json:"down"`
		Up     []string `json:"up"`
	} `json:"table"`
}

var known = readPhrases()

func readPhrases() phrases {
	var p phrases
	if err := json.Unmarshal(phrasesFile, &p); err != nil {
		panic("chat: phrases.json: " + err.Error()) //nolint:forbidigo // it is part of the program
	}
	for verb, all := range p.Verbs {
		p.Verbs[verb] = spelledOut(all)
		for _, phrase := range p.Verbs[verb] {
			words[phrase] = verb
		}
	}
	p.Restore, p.Regret = spelledOut(p.Restore), spelledOut(p.Regret)
	return p
}

// spelledOut expands alternatives, "take|put it back|off", and optional words, "again?".
func spelledOut(phrases []string) []string {
	var all []string
	for _, phrase := range phrases {
		begun := []string{""}
		for word := range strings.FieldsSeq(phrase) {
			word, optional := strings.CutSuffix(word, "?")
			var longer []string
			for _, before := range begun {
				for choice := range strings.SplitSeq(word, "|") {
					longer = append(longer, strings.TrimSpace(before+" "+choice))
				}
				if optional {
					longer = append(longer, before)
				}
			}
			begun = longer
		}
		all = append(all, begun...)
	}
	return all
}

// thanks reports whether a phrase is only gratitude: "great, thank you so much".
func thanks(phrase string) bool {
	grateful := false
	for word := range strings.FieldsSeq(phrase) {
		core := slices.Contains(known.Gratitude.Core, word)
		if !core && !slices.Contains(known.Gratitude.Around, word) {
			return false
		}
		grateful = grateful || core
	}
	return grateful
}

// plain normalizes a message: NFC, single spaces, straight apostrophes, and no punctuation at its
// ends. Case and commas are kept.
func plain(message string) string {
	text := strings.TrimFunc(norm.NFC.String(message), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!?…¿¡", r) })
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "’", "'")), " ")
}

// after cuts the longest of the phrases off the beginning of a text, with the commas that follow
// it.
func after(text string, all []string) (rest string, ok bool) {
	lower, best := strings.ToLower(strings.ReplaceAll(text, ",", " ")), 0
	lower = strings.Join(strings.Fields(lower), " ")
	for _, phrase := range all {
		if strings.HasPrefix(lower+" ", phrase+" ") && len(strings.Fields(phrase)) > best {
			best = len(strings.Fields(phrase))
		}
	}
	if best == 0 {
		return "", false
	}
	fields := strings.Fields(strings.ReplaceAll(text, ",", " , "))
	for n := 0; n < best && len(fields) > 0; {
		if fields[0] != "," {
			n++
		}
		fields = fields[1:]
	}
	for len(fields) > 0 && fields[0] == "," {
		fields = fields[1:]
	}
	return strings.ReplaceAll(strings.Join(fields, " "), " ,", ","), true
}

// FragmentKind is the effect of a fragment on the previous request.
type FragmentKind string

// The kinds of fragments.
const (
	// FragmentAnother requests the same with other values.
	FragmentAnother FragmentKind = "another"
	// FragmentChange changes values of the previous request.
	FragmentChange FragmentKind = "change"
	// FragmentCorrect corrects values that were not meant.
	FragmentCorrect FragmentKind = "correct"
	// FragmentRename changes the name in the previous request.
	FragmentRename FragmentKind = "rename"
	// FragmentValue has only values: it repeats a read with them, and changes a write.
	FragmentValue FragmentKind = "value"
)

// Fragment is an incomplete message: it continues the previous request, with the values in Rest.
type Fragment struct {
	Kind FragmentKind
	Rest string
}

// ReadFragment reads a message as a fragment; false means that it is none.
func ReadFragment(message string) (Fragment, bool) {
	text := plain(message)
	if rest, ok := after(text, known.Filler); ok && rest != "" {
		if f, ok := ReadFragment(rest); ok { // "hm, make it 3"
			return f, true
		}
	}
	_, replaces := ending(text, known.Instead)
	text = unfollowed(text)
	if f, ok := begun(text); ok {
		return f, true
	}
	return Fragment{FragmentCorrect, text}, replaces // "from Tuesday instead"
}

// begun reads a text as a fragment by its first words.
func begun(text string) (Fragment, bool) {
	if rest, ok := framed(text, known.Changed); ok {
		return Fragment{FragmentChange, unled(rest)}, true
	}
	if f, ok := contrast(text); ok {
		return f, true
	}
	for _, kind := range []struct {
		is      FragmentKind
		phrases []string
	}{{FragmentRename, known.Rename}, {FragmentAnother, known.Another}, {FragmentChange, known.Change}, {FragmentCorrect, known.Correct}} {
		rest, ok := after(text, kind.phrases)
		if !ok || rest == "" {
			continue
		}
		if kind.is == FragmentCorrect { // "no, the same for Carla", "no, make it 3"
			if inner, ok := ReadFragment(rest); ok {
				return inner, true
			}
		}
		return Fragment{kind.is, unled(rest)}, true
	}
	return Fragment{}, false
}

// unled cuts off a first word that only announces a replacement: "rather" in "call it rather Night
// Desk".
func unled(text string) string {
	first, rest, _ := strings.Cut(text, " ")
	if rest != "" && slices.Contains(known.Instead, first) {
		return rest
	}
	return text
}

// IsNameParameter reports whether a parameter, by the words of its name, is the name of something.
func IsNameParameter(parameter string) bool {
	words := strings.Fields(parameter)
	return len(words) > 0 && slices.Contains(known.Naming, words[len(words)-1])
}

// ParseSelection returns the words of "the US one", "o de Lisboa" that select one of several; false
// means that the message is no selection.
func ParseSelection(message string) (words string, ok bool) {
	return framed(plain(message), known.One)
}

// framed returns the text between the two parts of the longest matching frame.
func framed(text string, frames [][2]string) (words string, ok bool) {
	longest := 0
	for _, frame := range frames {
		rest, begins := after(text, frame[:1])
		if frame[1] != "" && begins {
			rest, begins = ending(rest, frame[1:])
		}
		if long := len(frame[0]) + len(frame[1]); begins && rest != "" && long > longest {
			words, longest = rest, long
		}
	}
	return words, longest > 0
}

// unfollowed cuts courtesies off the end of a text: "Bruno please".
func unfollowed(text string) string {
	for {
		rest, ok := ending(text, known.Behind)
		if rest = strings.TrimRight(rest, ", "); !ok || rest == "" {
			return text
		}
		text = rest
	}
}

// StripBeneficiary returns a value without the words that introduce it: "it's for Bruno"; false
// means that there are none.
func StripBeneficiary(message string) (string, bool) {
	text := unfollowed(plain(message))
	rest, ok := after(text, known.Aim)
	if !ok || rest == "" {
		return text, text != plain(message)
	}
	return rest, true
}

// ParseName returns the name in "call it Lunch Bot"; false means that the message has no such form.
func ParseName(message string) (string, bool) {
	name, ok := framed(unfollowed(plain(message)), known.Named)
	if inner, quoted := ParseQuoted(name); quoted {
		name = inner
	}
	return name, ok
}

// IsOtherOne reports whether a message asks for another object without naming it: "no, the other
// one".
func IsOtherOne(message string) bool {
	text := strings.ToLower(plain(message))
	if f, ok := ReadFragment(message); ok && f.Kind == FragmentCorrect && !slices.Contains(known.Other, text) {
		text = strings.ToLower(f.Rest)
	}
	return slices.Contains(known.Other, text)
}

// contrast reads "not A, B" and "not A but B" as B. A comma after the first word makes that an
// answer of its own: "no, 3 days, from Tuesday".
func contrast(text string) (Fragment, bool) {
	rest, ok := after(text, known.Not)
	if first, _, _ := strings.Cut(text, " "); !ok || strings.HasSuffix(first, ",") {
		return Fragment{}, false
	}
	if slices.Contains(known.Correct, strings.ToLower(strings.Fields(text)[0])) {
		if f, ok := begun(rest); ok { // "no wait, make it 3", but never "not only 3"
			return f, true
		}
	}
	for _, but := range known.But {
		if at := strings.Index(strings.ToLower(rest), " "+but+" "); at > 0 {
			return corrected(rest[at+len(but)+2:]), true
		}
	}
	_, instead, ok := strings.Cut(rest, ", ")
	if !ok {
		return Fragment{}, false
	}
	return corrected(instead), true
}

// corrected returns the fragment for a text that replaces an earlier one.
func corrected(text string) Fragment {
	text = strings.TrimSpace(text)
	if f, ok := begun(text); ok {
		return f
	}
	return Fragment{FragmentCorrect, text}
}

// ParseOrdinal reads "the second one" as 2, "the last" as -1; a bare number is no ordinal.
func ParseOrdinal(message string) (int, bool) {
	text := strings.ToLower(plain(message))
	for n, all := range known.Ordinals {
		if slices.Contains(all, text) {
			place, err := strconv.Atoi(n)
			return place, err == nil
		}
	}
	return 0, false
}

// TableOrder is a request about the last displayed table.
type TableOrder struct {
	// Sort is the column to sort by; Down sorts in descending order.
	Sort string
	Down bool
	// First limits the rows, Count only counts them, Filter keeps the rows that contain the text.
	First int
	Count bool
	// Place selects one row, from 1; -1 is the last.
	Place  int
	Filter string
}

// ReadTableOrder reads a message about the last table; false means that it is none.
func ReadTableOrder(message string) (TableOrder, bool) {
	text := plain(message)
	if place, ok := ParseOrdinal(message); ok {
		return TableOrder{Place: place}, true
	}
	if slices.Contains(known.Table.Count, strings.ToLower(text)) {
		return TableOrder{Count: true}, true
	}
	if column, ok := after(text, known.Table.Sort); ok && column != "" {
		o := TableOrder{Sort: column}
		o.Sort, o.Down = ending(column, known.Table.Down)
		if !o.Down {
			o.Sort, _ = ending(column, known.Table.Up)
		}
		return o, true
	}
	if word, ok := after(text, known.Table.Filter); ok && word != "" {
		return TableOrder{Filter: word}, true
	}
	if rest, ok := after(text, known.Table.First); ok {
		number, _, _ := strings.Cut(rest, " ")
		if n, err := strconv.Atoi(number); err == nil && n > 0 && len(strings.Fields(rest)) <= 2 {
			return TableOrder{First: n}, true
		}
	}
	return TableOrder{}, false
}

// ending cuts one of the phrases off the end of a text.
func ending(text string, all []string) (string, bool) {
	for _, phrase := range all {
		lower := strings.ToLower(text)
		if rest, ok := strings.CutSuffix(lower, " "+phrase); ok {
			return strings.TrimRight(text[:len(rest)], " ,"), true
		}
	}
	return text, false
}

// BareCode reports whether a message is only what may be the code of a gate.
func BareCode(message string) (string, bool) {
	text := strings.Trim(plain(message), "`")
	return strings.ToUpper(text), isCode(text) && (strings.ToUpper(text) == text || strings.ContainsAny(text, "23456789"))
}

// leading reads "show CODE", "undo 2" and "help approvals".
func leading(text string) (Command, bool) {
	if rest, ok := after(text, known.Leading[Show]); ok && isCode(rest) {
		return Command{Verb: Show, Codes: []string{strings.ToUpper(rest)}}, true
	}
	if rest, ok := after(text, known.Leading[Undo]); ok {
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return Command{Verb: Undo, Topic: rest}, true
		}
		if slices.Contains(known.Every, rest) {
			return Command{Verb: Undo, Topic: All}, true
		}
	}
	if rest, ok := after(text, known.Leading[Help]); ok && rest != "" && len(strings.Fields(rest)) <= 2 {
		return Command{Verb: Help, Topic: strings.ToLower(rest)}, true
	}
	return Command{}, false
}
