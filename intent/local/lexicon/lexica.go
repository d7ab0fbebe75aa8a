package lexicon

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Language is what one file says beside its words and phrases.
type Language struct {
	// Code is that of ISO 639-1, Name the English name.
	Code, Name string
	// Proven tells that tests of values and of restraint hold for it. Without them
	// what has an effect is asked about.
	Proven bool
	// Capitalises tells that every noun has a capital, so that one says little of a
	// name.
	Capitalises bool
	// Everyday are words by which a text is known to be in a language that does, or
	// in one that does not; those that are parts of names elsewhere are left out.
	Everyday []string
	// Respelled writes a word for those who have no key for a letter: "ä" as "ae".
	Respelled *strings.Replacer
	// Numbers, Dates and Times are what values are read by.
	Numbers Numbers
	Dates   Dates
	Times   Times
	words   [classes][]string
	short   map[string][]string
}

// Words are the words of a class in the order of the file, as it spells them.
func (l *Language) Words(c Class) []string { return l.words[c] }

// InFull gives the words, without their accents, that one is typed for in a hurry: "messages"
// for "msgs".
func (l *Language) InFull(fold string) []string { return l.short[fold] }

// Lexica are the languages together. They are made once and never change.
type Lexica struct {
	// Languages are in the order of their codes, English first: hints and answers fall
	// back to it.
	Languages []*Language

	Operators  Book[Operator]
	Frames     Book[Frame]      // courtesy around a command
	Reasons    Book[Reason]     // what is behind says why
	Begins     Book[Modality]   // how a request begins that is none
	Within     Book[Modality]   // the same at any place
	Separators Book[Connective] // between requests
	Talk       Book[Talk]       // what asks for nothing that is done

	table                              table
	verbs                              map[string][]verbStem
	forms                              []map[string]bool // by language
	infinitives, gerunds, suppositions []string
	pasts, presents                    [][]string // by language
	elided                             map[string]bool
	clitics                            map[string]bool
	phrased                            map[string]bool // words of phrases
	contracted                         map[string]string
	sounds                             []sound // by language
}

// Word is a word of a message as the lexica know it.
type Word struct {
	// Lower is the word in small letters, Fold also without its accents.
	Lower, Fold string
	entry       *entry
}

// entry is what the files say of one spelling.
type entry struct {
	any marks
	in  []marks // by language
	// own tells that a file spells it so; else it is a word without its accents.
	own bool
}

// Has reports whether the word is of a class in any language.
func (w Word) Has(c Class) bool { return w.entry != nil && w.entry.any.has(c) }

// In reports whether the word is of a class in one of the languages.
func (w Word) In(language int, c Class) bool {
	return w.entry != nil && language < len(w.entry.in) && w.entry.in[language].has(c)
}

// KnownIn reports whether a language has the word at all.
func (w Word) KnownIn(language int) bool {
	return w.entry != nil && language < len(w.entry.in) && w.entry.in[language] != (marks{})
}

// Known reports whether any language has the word.
func (w Word) Known() bool { return w.entry != nil }

// Phrased tells a word, without its accents, that stands in a phrase of any language.
func (l *Lexica) Phrased(fold string) bool { return l.phrased[fold] }

// Exact tells that a file spells a word exactly so.
func (w Word) Exact() bool { return w.entry != nil && w.entry.own }

// Preposition gives the preposition that a word in small letters is with an article in it:
// "de" of "da".
func (l *Lexica) Preposition(lower string) (string, bool) {
	alone, ok := l.contracted[lower]
	return alone, ok
}

// Word looks a word up by its spelling in a message.
func (l *Lexica) Word(raw string) Word {
	fold := Fold(raw)
	lower := fold
	if len(fold) != len(raw) || !ascii(raw) {
		lower = Lower(raw)
	}
	return l.find(lower, fold)
}

// Folded looks up a word of which only the folded form is known.
func (l *Lexica) Folded(fold string) Word { return l.find(fold, fold) }

func (l *Lexica) find(lower, fold string) Word {
	e, ok := l.table[lower]
	if !ok && lower != fold {
		e = l.table[fold]
	}
	return Word{Lower: lower, Fold: fold, entry: e}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Words are the words of a class in all languages, as the files spell them.
func (l *Lexica) Words(c Class) []string {
	var out []string
	for _, language := range l.Languages {
		out = append(out, language.words[c]...)
	}
	return out
}

// Language finds a language by its code, -1 if there is none.
func (l *Lexica) Language(code string) int {
	return slices.IndexFunc(l.Languages, func(x *Language) bool { return x.Code == code })
}

// Elided tells the small words that lost their vowel before another word: the "l"
// of "l'alerte".
func (l *Lexica) Elided(lower string) bool { return l.elided[lower] }

// Clitic tells the endings that are words of their own: the "ll" of "we'll".
func (l *Lexica) Clitic(lower string) bool { return l.clitics[lower] }

// table holds the words of all languages by their spelling.
type table map[string]*entry

func (t table) put(spelling string, own bool, language, languages int, c Class) {
	e := t[spelling]
	if e == nil {
		e = &entry{in: make([]marks, languages)}
		t[spelling] = e
	}
	e.own = e.own || own
	e.any.add(c)
	e.in[language].add(c)
}

// other reports whether a word without its accents is one that a file spells so.
func (t table) other(lower, fold string) bool {
	e := t[fold]
	return lower != fold && e != nil && e.own
}

// Shipped are the languages that come with the program.
var Shipped = sync.OnceValue(func() *Lexica { //nolint:gochecknoglobals // decoded once, never changed
	l, err := Load(shippedFiles)
	if err != nil {
		panic(err) //nolint:forbidigo // the files are part of the program, and a test reads them
	}
	return l
})

//go:embed lexica/*.toml
var shippedFiles embed.FS

// Load reads the files lexica/*.toml, English first.
func Load(files fs.FS) (*Lexica, error) {
	names, err := fs.Glob(files, "lexica/*.toml")
	if err != nil {
		return nil, err
	}
	var read []*file
	for _, name := range names {
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		f, err := decode(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if name != "lexica/"+f.Code+".toml" {
			return nil, fmt.Errorf("%s: holds the language %q", name, f.Code)
		}
		read = append(read, f)
	}
	slices.SortStableFunc(read, func(a, b *file) int {
		return strings.Compare(first(a.Code), first(b.Code))
	})
	return compile(read)
}

// first sorts English before all.
func first(code string) string {
	if code == "en" {
		return ""
	}
	return code
}
