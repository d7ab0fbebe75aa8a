package tokenize

import (
	"slices"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Features are the distinct hashed features of a text in ascending order.
type Features struct {
	// Words holds words and word pairs.
	Words []uint32
	// Chars holds n-grams of 3 to 5 characters of padded words.
	Chars []uint32
	// Terms holds single words only.
	Terms []uint32
}

// The placeholders of tokens that vary between sentences with one meaning: numbers, identifiers,
// names, quotations and times.
const (
	classNumber = "#n"
	classIdent  = "#i"
	className   = "#p"
	classQuote  = "#q"
	classTime   = "#t"
)

// maxFeatureTokens limits how many tokens of a text produce features.
const maxFeatureTokens = 512

// FeaturesOf hashes tokens. Capitalised words in values are replaced by placeholders.
func FeaturesOf(tokens []Token, values map[string]bool) Features {
	if len(tokens) > maxFeatureTokens {
		tokens = tokens[:maxFeatureTokens]
	}
	unquoted := quotesAside(tokens)
	var f Features
	prev := ""
	for i, t := range tokens {
		unit := t.Stem
		class := classOf(t)
		if class == classQuote && !unquoted {
			class = ""
		}
		if class != "" {
			unit = class
		}
		named := (class == className) && !values[t.Fold]
		if named {
			f.Words = append(f.Words, hash('w', t.Stem, ""))
			f.Terms = append(f.Terms, hash('w', t.Stem, ""))
		}
		if class == "" || named {
			f.Chars = appendGrams(f.Chars, t.Fold)
		}
		if class != "" && prev == class {
			continue // a run of names or digits counts once
		}
		f.Words = append(f.Words, hash('w', unit, ""))
		f.Terms = append(f.Terms, hash('w', unit, ""))
		if i > 0 && prev != "" {
			f.Words = append(f.Words, hash('b', prev, unit))
		}
		prev = unit
	}
	f.Words, f.Chars, f.Terms = unique(f.Words), unique(f.Chars), unique(f.Terms)
	return f
}

// quotesAside reports whether there are words outside of quotation marks, so that quotations are
// values.
func quotesAside(tokens []Token) bool {
	return slices.ContainsFunc(tokens, func(t Token) bool { return !t.Is(FormQuoted) })
}

func classOf(t Token) string {
	switch {
	case t.Is(FormQuoted):
		return classQuote
	case t.Is(FormTimed):
		return classTime
	case t.Is(FormDigits | FormCounted):
		return classNumber
	case t.Is(FormMixed):
		return classIdent
	case t.Is(FormCaps), t.Is(FormTitle) && !t.Is(FormFirst):
		return className
	default:
		return ""
	}
}

func unique(ids []uint32) []uint32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

const (
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// hash is FNV-1a over a prefix byte and two strings.
func hash(kind byte, a, b string) uint32 {
	h := uint32(fnvOffset)
	h = (h ^ uint32(kind)) * fnvPrime
	for i := range len(a) {
		h = (h ^ uint32(a[i])) * fnvPrime
	}
	h = (h ^ 0xFF) * fnvPrime
	for i := range len(b) {
		h = (h ^ uint32(b[i])) * fnvPrime
	}
	return h
}

// appendGrams appends the n-grams of 3 to 5 characters of a padded word.
func appendGrams(dst []uint32, word string) []uint32 {
	var buf [lexicon.MaxFold + 2]rune
	runes := append(buf[:0], ' ')
	for _, r := range word {
		runes = append(runes, r)
	}
	runes = append(runes, ' ')
	if len(runes) < 4 && runes[1] < utf8.RuneSelf {
		return dst // a single ASCII letter is no feature
	}
	for i := range runes {
		h := uint32(fnvOffset)
		h = (h ^ 'c') * fnvPrime
		for n := 1; n <= 5 && i+n <= len(runes); n++ {
			h = mix(h, runes[i+n-1])
			if n >= 3 {
				dst = append(dst, (h^uint32(n))*fnvPrime)
			}
		}
	}
	return dst
}

// mix adds the bytes of a character to a hash.
func mix(h uint32, r rune) uint32 {
	for r > 0 {
		h = (h ^ uint32(r&0xFF)) * fnvPrime
		r >>= 8
	}
	return h
}
