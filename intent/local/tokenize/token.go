package tokenize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// MaxTokens limits how many tokens of a message are read. The rest is ignored, which bounds the
// cost of adversarial messages.
const MaxTokens = 4096

// Form is a bit set of orthographic features of a token.
type Form uint16

// The orthographic features.
const (
	FormDigits  Form = 1 << iota // only digits
	FormMixed                    // letters and digits
	FormCaps                     // at least two letters, all upper case
	FormTitle                    // begins with an upper-case letter
	FormSign                     // one character of a script without spaces
	FormFirst                    // the first token of a sentence
	FormQuoted                   // inside quotation marks
	FormTimed                    // part of a date or a time of day
	FormCounted                  // part of a large spelled-out number
)

// Token is a word, a number or one character of a script without spaces.
type Token struct {
	// Word is the comparable form with its classes: Fold without accents, Lower with accents.
	lexicon.Word
	// Start and End are byte offsets in the source.
	Start, End int
	// Stem is Fold without its English suffix.
	Stem string
	Form Form
	// Break is set if punctuation other than a hyphen or a quotation mark precedes the token,
	// Glued if only such a sign does.
	Break bool
	Glued bool
}

// Is reports whether the token has one of the forms.
func (t Token) Is(f Form) bool { return t.Form&f != 0 }

// Spelling implements lexicon.Spoken.
func (t Token) Spelling() lexicon.Word { return t.Word }

// Parted implements lexicon.Spoken.
func (t Token) Parted() bool { return t.Break }

// Votes implements lexicon.Detectable.
func (t Token) Votes() bool { return !t.Is(FormDigits|FormMixed|FormSign) && !t.Named() }

// Begins implements lexicon.Detectable.
func (t Token) Begins() bool { return t.Is(FormFirst) }

// Named reports whether the token is written as a name, an identifier or a quotation.
func (t Token) Named() bool {
	return t.Is(FormQuoted|FormMixed|FormCaps) || t.Is(FormTitle) && !t.Is(FormFirst)
}

// Tokens tokenizes a text. Invalid UTF-8 and control characters separate tokens.
func Tokens(src string) []Token {
	s := scanner{src: src, first: true, lower: hasLower(src)}
	s.scan()
	if mostlyTitle(s.out) {
		for i := range s.out {
			s.out[i].Form &^= FormTitle
		}
	}
	markQuotes(s.out, Quotes(src))
	return s.out
}

// scanner tokenizes the source in one pass.
type scanner struct {
	src   string
	out   []Token
	first bool // the next token begins a sentence
	brk   bool // punctuation since the last token
	space bool // white space since the last token
	lower bool // the text has lower-case letters, so capitals are significant
}

func (s *scanner) scan() {
	for i := 0; i < len(s.src) && len(s.out) < MaxTokens; {
		r, size := utf8.DecodeRuneInString(s.src[i:])
		switch {
		case ignorable(r):
			i += size
		case r == utf8.RuneError && size <= 1:
			s.space = true
			i++
		case unspaced(r):
			s.emit(i, i+size, FormSign)
			i += size
		case wordRune(r) && !apostrophe(r): // one of the apostrophes counts as a letter
			end := max(s.wordEnd(i), i+size)
			s.word(i, end)
			i = end
		default:
			s.separator(r)
			i += size
		}
	}
}

func (s *scanner) separator(r rune) {
	switch {
	case unicode.IsSpace(r):
		s.space = true
		if r == '\n' {
			s.brk, s.first = true, true
		}
	case r == '.' || r == '!' || r == '?' || r == '。' || r == '！' || r == '？':
		s.brk, s.first = true, true
	case r == '-' || r == '‐' || r == '‑' || r == '_' || apostrophe(r) || r == '/' || r == '&' || closingQuote(r) != 0:
	default:
		s.brk = true
	}
}

// wordEnd returns the end of a run of letters, digits and marks, including inner apostrophes.
func (s *scanner) wordEnd(i int) int {
	for i < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[i:])
		if apostrophe(r) {
			next, _ := utf8.DecodeRuneInString(s.src[i+size:])
			if !unicode.IsLetter(next) || unspaced(next) {
				return i
			}
		} else if !wordRune(r) && !ignorable(r) || unspaced(r) {
			return i
		}
		i += size
	}
	return i
}

// word emits one word, with an English clitic such as 's or a French elision such as l' as a token
// of its own.
func (s *scanner) word(start, end int) {
	if elided, next := s.elision(s.src[start:end]); elided > 0 {
		s.emit(start, start+elided, 0)
		s.space, start = true, start+next // two words that are written as one
	}
	if cut := cliticStart(s.src[start:end]); cut > 0 {
		s.emit(start, start+cut, 0)
		s.space, s.brk = false, false
		s.emit(start+cut, end, 0)
		return
	}
	s.emit(start, end, 0)
}

func (s *scanner) emit(start, end int, form Form) {
	raw := s.src[start:end]
	word := lexicon.Shipped().Word(raw)
	if word.Fold == "" {
		return
	}
	form |= s.form(raw)
	if s.first {
		form |= FormFirst
	}
	glued := len(s.out) > 0 && !s.space
	// "PETR4.SA" and "Dr.Who" contain no sentence end.
	if glued && s.first && s.out[len(s.out)-1].Form&FormSign == 0 {
		form &^= FormFirst
	}
	s.out = append(s.out, Token{Word: word, Start: start, End: end, Stem: stem(word.Fold), Form: form, Break: s.brk, Glued: glued})
	s.first, s.brk, s.space = false, false, false
}

func (s *scanner) form(raw string) Form {
	var letters, digits, upper int
	title := false
	for _, r := range raw {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			if unicode.IsUpper(r) {
				title = title || letters == 0
				upper++
			}
			letters++
		}
	}
	var form Form
	switch {
	case digits > 0 && letters == 0:
		form = FormDigits
	case digits > 0:
		form = FormMixed
	}
	if !s.lower {
		return form
	}
	if letters >= 2 && upper == letters {
		form |= FormCaps
	}
	if title && letters >= 2 {
		form |= FormTitle
	}
	return form
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

func apostrophe(r rune) bool { return lexicon.Apostrophe(r) }

func ignorable(r rune) bool { return lexicon.Shapeless(r) }

// unspaced reports whether a script is written without spaces between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func hasLower(src string) bool { return strings.IndexFunc(src, unicode.IsLower) >= 0 }

// cliticStart returns the position of the apostrophe of a clitic such as 's, 'll or 're, or 0.
func cliticStart(raw string) int {
	cut := strings.LastIndexAny(raw, "'’ʼ")
	if cut <= 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(raw[cut:])
	if lexicon.Shipped().Clitic(strings.ToLower(raw[cut+size:])) {
		return cut
	}
	return 0
}

// elision returns the length of an elided word before another one, as in "l'alerte" or "qu'Ana",
// and where the other word begins; 0 if there is none. Names such as "D'Angelo" are one word.
func (s *scanner) elision(raw string) (length, next int) {
	cut := strings.IndexAny(raw, "'’ʼ")
	if cut <= 0 {
		return 0, 0
	}
	if !lexicon.Shipped().Elided(strings.ToLower(raw[:cut])) {
		return 0, 0
	}
	_, size := utf8.DecodeRuneInString(raw[cut:])
	after, _ := utf8.DecodeRuneInString(raw[cut+size:])
	first, _ := utf8.DecodeRuneInString(raw)
	if !strings.ContainsRune("aeiouhy", unaccented(after)) || s.lower && unicode.IsUpper(first) && unicode.IsUpper(after) {
		return 0, 0
	}
	return cut, cut + size
}

// mostlyTitle reports whether a text is written in title case, so that capitals are not
// significant.
func mostlyTitle(tokens []Token) bool {
	letters, title := 0, 0
	for _, t := range tokens {
		if t.Is(FormDigits | FormMixed | FormSign) {
			continue
		}
		letters++
		if t.Is(FormTitle) {
			title++
		}
	}
	return letters >= 5 && title*10 >= letters*9
}

func markQuotes(tokens []Token, quotes []Span) {
	q := 0
	for i := range tokens {
		for q < len(quotes) && quotes[q].End <= tokens[i].Start {
			q++
		}
		if q < len(quotes) && quotes[q].Start <= tokens[i].Start {
			tokens[i].Form |= FormQuoted
		}
	}
}
