package values

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// atom is a number word: its value, and whether it multiplies.
type atom struct {
	value    float64
	multiply bool
}

// NumberWords holds the number words of one language.
type NumberWords struct {
	// atoms is keyed by folded words; two words are joined by a space. pairs holds the first words
	// of two-word names.
	atoms map[string]atom
	pairs map[string]bool
	// alone holds the multipliers that can begin a number, article the words for one before a
	// unit, joiners the words between number words such as "and".
	alone, article, joiners map[string]bool
	joinFrom                float64
	teensAfter              map[float64]bool
	// compounds, elided, unitsFirst and halfEnding describe compound number words.
	compounds  bool
	elided     map[string]float64
	unitsFirst string
	halfEnding string
	heads      map[string]bool // first letters of the atoms
	ordinals   map[string]int
	// Endings are the endings of ordinals in digits.
	Endings    []string
	compounded []string // endings of ordinals in words
}

// firstLetters is the length of the prefix by which compounds are looked up.
const firstLetters = 2

// NewNumberWords compiles the number words of a language file.
func NewNumberWords(l *lexicon.Language) (*NumberWords, error) {
	n := &l.Numbers
	pairs := func(list string, yield func(string, float64)) error { return NumberPairs(l, list, yield) }
	x := &NumberWords{
		atoms: map[string]atom{}, pairs: map[string]bool{}, alone: folded(n.Alone), article: folded(n.Article), joiners: folded(n.Joiners), joinFrom: max(n.JoinFrom, 20),
		teensAfter: map[float64]bool{}, compounds: n.Compounds, elided: map[string]float64{}, unitsFirst: n.UnitsFirst, halfEnding: n.HalfEnding,
		heads: map[string]bool{}, ordinals: map[string]int{}, Endings: strings.Fields(n.OrdinalEndings), compounded: strings.Fields(n.OrdinalCompounds),
	}
	add := func(word string, a atom) {
		x.atoms[word] = a
		x.Pair(word)
		x.heads[NumberHead(word)] = true
	}
	if err := pairs(n.Add, func(w string, v float64) { add(w, atom{v, false}) }); err != nil {
		return nil, err
	}
	if err := pairs(n.Multiply, func(w string, v float64) { add(w, atom{v, true}) }); err != nil {
		return nil, err
	}
	if err := pairs(n.Elided, func(w string, v float64) { x.elided[w] = v; x.heads[NumberHead(w)] = true }); err != nil {
		return nil, err
	}
	for ten := range strings.FieldsSeq(n.TeensAfter) {
		v, err := strconv.ParseFloat(ten, 64)
		if err != nil {
			return nil, fmt.Errorf("teens_after: %q is no number", ten)
		}
		x.teensAfter[v] = true
	}
	err := pairs(n.Ordinals, func(w string, v float64) { x.ordinals[w] = int(v); x.Pair(w) })
	return x, err
}

// Pair registers the first word of a two-word name.
func (n *NumberWords) Pair(name string) {
	if first, _, two := strings.Cut(name, " "); two {
		n.pairs[first] = true
	}
}

// NumberHead returns the prefix of a word by which compounds are looked up.
func NumberHead(word string) string { return word[:min(len(word), firstLetters)] }

// folded returns the set of the folded words of a list.
func folded(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[lexicon.Fold(w)] = true
	}
	return out
}

// NumberPairs parses "one 1 two 2"; "_" joins the words of one name.
func NumberPairs(l *lexicon.Language, list string, yield func(word string, v float64)) error {
	fields := strings.Fields(list)
	if len(fields)%2 != 0 {
		return fmt.Errorf("%.40q … is no list of pairs", list)
	}
	for i := 0; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i+1], 64)
		if err != nil {
			return fmt.Errorf("%q is no number", fields[i+1])
		}
		for _, w := range NumberSpellings(l, fields[i]) {
			yield(w, v)
		}
	}
	return nil
}

// NumberSpellings folds a name of words joined by "_" or "-", in all its spellings.
func NumberSpellings(l *lexicon.Language, name string) []string {
	plain, respelled := foldAll(name), foldAll(l.Respelled.Replace(name))
	if plain == respelled {
		return []string{plain}
	}
	return []string{plain, respelled}
}

func foldAll(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' })
	for i := range parts {
		parts[i] = lexicon.Fold(parts[i])
	}
	return strings.Join(parts, " ")
}

// sum is the state of reading a number: complete groups, and the current group below a thousand.
type sum struct {
	total, group float64
	// last is the multiplier before the group; the next one must be smaller.
	last float64
	any  bool
	// closed is set if no further word can be added: a dozen, one and a half.
	closed bool
}

func (s sum) value() float64 { return s.total + s.group }

// with adds a word.
func (n *NumberWords) with(s sum, a atom) (sum, bool) {
	if s.closed {
		return s, false
	}
	if a.multiply {
		return multiplied(s, a.value)
	}
	if s.any && !n.adds(s.group, s.total, a.value) {
		return s, false
	}
	s.group += a.value
	s.any, s.closed = true, a.value != math.Trunc(a.value) || a.value == 0
	return s, true
}

// Multipliers with special rules.
const (
	Dozen    = 12
	hundred  = 100
	thousand = 1000
)

func multiplied(s sum, by float64) (sum, bool) {
	switch {
	case by == Dozen:
		s.group, s.closed = max(s.group, 1)*Dozen, true
	case by == hundred:
		if s.group >= hundred {
			return s, false
		}
		s.group = max(s.group, 1) * hundred
	case s.last > 0 && by >= s.last:
		return s, false
	default:
		s.total, s.group, s.last = s.total+max(s.group, 1)*by, 0, by
	}
	s.any = true
	return s, true
}

// adds reports whether a word continues the ones before: twenty + five.
func (n *NumberWords) adds(group, total, v float64) bool {
	tens := math.Mod(group, hundred)
	switch {
	case v == 0, v != math.Trunc(v):
		return false
	case group == 0:
		return total > 0
	case v < 10:
		return math.Mod(group, 10) == 0 && tens != 10
	case v < 20 && n.teensAfter[tens]:
		return true
	case v < hundred:
		return tens == 0
	}
	return false
}

// Read reads a spelled-out number that begins at a token: "two hundred and five". It ends before
// end and before the next gap.
func (n *NumberWords) Read(fold func(int) string, parted func(int) bool, i, end int) (v float64, last int, ok bool) {
	var s sum
	last, j := -1, i
	if n.article[fold(i)] && !parted(i+1) { // "a hundred"
		if a, _, ok := n.at(fold, i+1); ok && a.multiply {
			s, j = sum{group: 1, any: true}, i+1
		}
	}
	for j < end && (j == i || !parted(j)) {
		if next, width, ok := n.take(fold, j, s); ok {
			s, j, last = next, j+width, j+width-1
			continue
		}
		joins := n.joiners[fold(j)] && last == j-1 && (s.group >= n.joinFrom || s.group == 0 && s.total > 0) && !parted(j+1)
		if next, width, ok := n.take(fold, j+1, s); joins && ok {
			s, j, last = next, j+1+width, j+width
			continue
		}
		break
	}
	return s.value(), last, last >= 0 && (last > i || !n.article[fold(i)])
}

// Article reports whether a word stands for one before a unit.
func (n *NumberWords) Article(fold string) bool { return n.article[fold] }

// Counts reports whether a word is a number by itself.
func (n *NumberWords) Counts(fold string) bool {
	_, ok := n.atoms[fold]
	return ok && !n.article[fold]
}

// Large returns the multiplier of a word behind digits: a dozen, or a thousand and more.
func (n *NumberWords) Large(fold string) (float64, bool) {
	a, ok := n.atoms[fold]
	return a.value, ok && a.multiply && (a.value >= thousand || a.value == Dozen)
}

// Paired reports whether a word begins a two-word name.
func (n *NumberWords) Paired(fold string) bool { return n.pairs[fold] }

// Starts returns the words that a number or an ordinal can begin with.
func (n *NumberWords) Starts() []string {
	return slices.Concat(slices.Collect(maps.Keys(n.atoms)), slices.Collect(maps.Keys(n.article)), slices.Collect(maps.Keys(n.ordinals)))
}

// Heads returns the prefixes of compound number words, or nil for a language without them.
func (n *NumberWords) Heads() []string {
	if !n.compounds {
		return nil
	}
	return slices.Collect(maps.Keys(n.heads))
}

// MayBegin reports whether a number may begin with a word.
func (n *NumberWords) MayBegin(fold string) bool {
	if len(fold) < firstLetters {
		return n.article[fold]
	}
	return n.heads[NumberHead(fold)] || n.article[fold] || n.ordinals[fold] > 0
}

// compound parses a compound number word.
func (n *NumberWords) compound(word string, s sum) (sum, bool) {
	if word == "" {
		return s, s.any
	}
	if word == n.halfEnding && s.any && !s.closed {
		s.group, s.closed = s.group+0.5, true
		return s, true
	}
	if !n.heads[NumberHead(word)] {
		return s, false
	}
	for end := len(word); end > 0; end-- {
		if next, rest, ok := n.piece(word, end, s); ok {
			if out, ok := n.compound(word[rest:], next); ok {
				return out, true
			}
		}
	}
	return s, false
}

// piece parses a prefix of a compound as a number word, and returns where the rest begins.
func (n *NumberWords) piece(word string, end int, s sum) (next sum, rest int, ok bool) {
	a, known := n.atoms[word[:end]]
	if !known {
		v, cut := n.elided[word[:end]]
		if !cut || end == len(word) || !strings.ContainsRune("aeiou", rune(word[end])) {
			return s, 0, false
		}
		a = atom{value: v}
	}
	if a.multiply && !s.any && !n.alone[word[:end]] {
		return s, 0, false
	}
	if behind, found := strings.CutPrefix(word[end:], n.unitsFirst); found && n.unitsFirst != "" && !a.multiply && a.value >= 1 && a.value < 10 {
		for cut := len(behind); cut > 0; cut-- {
			if ten, ok := n.atoms[behind[:cut]]; ok && !ten.multiply && ten.value >= 20 && ten.value < hundred {
				next, ok := n.with(s, atom{value: a.value + ten.value})
				return next, end + len(n.unitsFirst) + cut, ok
			}
		}
	}
	next, ok = n.with(s, a)
	return next, end, ok
}

// at reads one number word, or two that are one, at a token: "quatre vingt".
func (n *NumberWords) at(fold func(int) string, i int) (a atom, width int, ok bool) {
	if n.pairs[fold(i)] {
		if a, ok := n.atoms[fold(i)+" "+fold(i+1)]; ok {
			return a, 2, true
		}
	}
	a, ok = n.atoms[fold(i)]
	return a, 1, ok
}

// take adds the word at a token to a sum.
func (n *NumberWords) take(fold func(int) string, i int, s sum) (next sum, width int, ok bool) {
	if a, width, found := n.at(fold, i); found {
		if a.multiply && !s.any && !n.alone[fold(i)] {
			return s, 0, false
		}
		next, ok = n.with(s, a)
		if ok || width == 1 {
			return next, width, ok
		}
		if a, single := n.atoms[fold(i)]; single {
			next, ok = n.with(s, a)
			return next, 1, ok
		}
	}
	if n.compounds && len(fold(i)) > 5 {
		next, ok = n.compound(fold(i), s)
		return next, 1, ok
	}
	return s, 0, false
}

// Ordinal reads a spelled-out ordinal: "third", "einundzwanzigsten".
func (n *NumberWords) Ordinal(fold func(int) string, i int) (v, width int, ok bool) {
	if n.pairs[fold(i)] {
		if v, ok := n.ordinals[fold(i)+" "+fold(i+1)]; ok {
			return v, 2, true
		}
	}
	if v, ok := n.ordinals[fold(i)]; ok {
		return v, 1, true
	}
	for _, ending := range n.compounded {
		if stem, found := strings.CutSuffix(fold(i), ending); found && len(stem) > 2 {
			if s, ok := n.compound(stem, sum{}); ok && s.value() >= 1 && s.value() <= 31 {
				return int(s.value()), 1, true
			}
		}
	}
	return 0, 0, false
}
