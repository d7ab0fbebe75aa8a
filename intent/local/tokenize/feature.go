package tokenize

import (
	"slices"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// Features are the hashed features of a text, each once, in rising order.
type Features struct {
	// Words are words and pairs of words.
	Words []uint32
	// Chars are runs of 3 to 5 characters inside padded words.
	Chars []uint32
	// Terms are single words only.
	Terms []uint32
}

// The classes that stand for what differs between sentences of one meaning:
// a number, an identifier, a name, a quotation.
const (
	classNumber = "#n"
	classIdent  = "#i"
	className   = "#p"
	classQuote  = "#q"
	classTime   = "#t"
)

// maxFeatureTokens bounds how many tokens of a text make features; a request
// says what it wants early.
const maxFeatureTokens = 512

// FeaturesOf hashes tokens. Capitalised words among values are known to differ
// between requests of one meaning and count only as what they are.
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
			continue // a run of names or of digits counts as one
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

// quotesAside reports whether there are words outside quotation marks, so that
// what stands inside is a value and no request.
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

// hash is FNV-1a over a kind and two strings.
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

// appendGrams adds the runs of 3 to 5 characters of a word with a space on
// each side.
func appendGrams(dst []uint32, word string) []uint32 {
	var buf [lexicon.MaxFold + 2]rune
	runes := append(buf[:0], ' ')
	for _, r := range word {
		runes = append(runes, r)
	}
	runes = append(runes, ' ')
	if len(runes) < 4 && runes[1] < utf8.RuneSelf {
		return dst // one ASCII letter says nothing
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

// mix adds a character to a hash, byte by byte up to its highest.
func mix(h uint32, r rune) uint32 {
	for r > 0 {
		h = (h ^ uint32(r&0xFF)) * fnvPrime
		r >>= 8
	}
	return h
}
