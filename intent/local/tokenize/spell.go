package tokenize

import (
	"cmp"
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// spelledLetters is the minimum length for spelling correction, since too many shorter words
// differ by one letter.
const spelledLetters = 5

// Speller finds the known words within one edit of a word: an insertion, a deletion, a
// substitution or a transposition, except in the first letter.
type Speller struct {
	words []string
	// variants holds the hashes of the words and of their variants without one letter, with the
	// word index, in ascending order.
	variants []variant
}

type variant struct{ hash, word uint32 }

// Spellable reports whether a token qualifies for spelling correction.
func Spellable(t Token) bool {
	if len(t.Fold) < spelledLetters || len(t.Fold) > 32 || t.Named() {
		return false
	}
	for i := range len(t.Fold) {
		if t.Fold[i] < 'a' || t.Fold[i] > 'z' {
			return false
		}
	}
	return true
}

// NewSpeller returns a speller for folded words. It keeps the slice.
func NewSpeller(words []string) *Speller {
	slices.Sort(words)
	s := &Speller{words: slices.Compact(words)}
	for n, w := range s.words {
		eachVariant(w, func(h uint32) { s.variants = append(s.variants, variant{h, uint32(n)}) }) //nolint:gosec // words are counted from 0
	}
	slices.SortFunc(s.variants, func(a, b variant) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.word, b.word)) })
	return s
}

// eachVariant yields the hashes of a word and of its variants without one letter other than the
// first.
func eachVariant(w string, yield func(hash uint32)) {
	yield(hash('v', w, ""))
	for i := 1; i < len(w); i++ {
		if w[i] != w[i-1] {
			yield(hashWithout(w, i))
		}
	}
}

// hashWithout returns the hash of a word without one letter.
func hashWithout(w string, skip int) uint32 {
	h := uint32(fnvOffset)
	h = (h ^ 'v') * fnvPrime
	for i := range len(w) {
		if i != skip {
			h = (h ^ uint32(w[i])) * fnvPrime
		}
	}
	return (h ^ 0xFF) * fnvPrime
}

// Near returns the known words within one edit, in ascending order.
func (s *Speller) Near(fold string) []string {
	var out []string
	eachVariant(fold, func(h uint32) {
		at, _ := slices.BinarySearchFunc(s.variants, h, func(v variant, h uint32) int { return cmp.Compare(v.hash, h) })
		for ; at < len(s.variants) && s.variants[at].hash == h; at++ {
			if w := s.words[s.variants[at].word]; OneSlip(fold, w) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	})
	slices.Sort(out)
	return out
}

// OneSlip reports whether two different words are one edit apart.
func OneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || a == b || a[0] != b[0] {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// Doubled reports whether two different words differ only in doubled letters.
func Doubled(a, b string) bool { return a != b && singly(a) == singly(b) }

// singly returns a word with doubled letters collapsed.
func singly(w string) string {
	out := make([]byte, 0, len(w))
	for i := range len(w) {
		if i == 0 || w[i] != w[i-1] {
			out = append(out, w[i])
		}
	}
	return string(out)
}

// WordFeature returns the feature of a single word by its stem.
func WordFeature(stem string) uint32 { return hash('w', stem, "") }

// Respelled returns the token with another word.
func (t Token) Respelled(fold string) Token {
	t.Word, t.Stem = lexicon.Shipped().Folded(fold), stem(fold)
	return t
}
