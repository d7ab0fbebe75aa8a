package lexicon

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Language is one language file without its word classes and phrases.
type Language struct {
	// Code is the ISO 639-1 code, Name the English name.
	Code, Name string
	// Proven is set if the language is covered by tests of values and restraint. Otherwise writes
	// need a confirmation.
	Proven bool
	// Capitalises is set if the language capitalises all nouns.
	Capitalises bool
	// Everyday holds words that distinguish languages with and without capitalised nouns, except
	// parts of names.
	Everyday []string
	// Respelled replaces letters that some keyboards lack: "ä" with "ae".
	Respelled *strings.Replacer
	// Numbers, Dates and Times define how values are read.
	Numbers Numbers
	Dates   Dates
	Times   Times
	words   [classes][]string
	short   map[string][]string
}

// Words returns the words of a class in the order and spelling of the file.
func (l *Language) Words(c Class) []string { return l.words[c] }

// InFull returns the folded full words of an abbreviation: "messages" for "msgs".
func (l *Language) InFull(fold string) []string { return l.short[fold] }

// Lexica are all languages together. They are immutable.
type Lexica struct {
	// Languages are ordered by code, with English first as the fallback for hints and answers.
	Languages []*Language

	Operators  Book[Operator]
	Frames     Book[Frame]      // courtesy around a command
	Reasons    Book[Reason]     // introduces a reason
	Begins     Book[Modality]   // beginnings that are no plain request
	Within     Book[Modality]   // the same at any place
	Separators Book[Connective] // between requests
	Talk       Book[Talk]       // small talk

	table                              table
	verbs                              map[string][]verbStem
	forms                              []map[string]bool // by language
	infinitives, gerunds, suppositions []string
	pasts, presents                    [][]string // by language
	elided                             map[string]bool
	clitics                            map[string]bool
	phrased                            map[string]bool // words in phrases
	contracted                         map[string]string
	sounds                             []sound // by language
}

// Word is a word with its lexicon entry.
type Word struct {
	// Lower is the word in lower case, Fold also without accents.
	Lower, Fold string
	entry       *entry
}

// entry holds the classes of one spelling.
type entry struct {
	any marks
	in  []marks // by language
	// own is set if a file has this spelling; else it is a form without accents.
	own bool
}

// Has reports whether the word has a class in any language.
func (w Word) Has(c Class) bool { return w.entry != nil && w.entry.any.has(c) }

// In reports whether the word has a class in a language.
func (w Word) In(language int, c Class) bool {
	return w.entry != nil && language < len(w.entry.in) && w.entry.in[language].has(c)
}

// KnownIn reports whether a language has the word at all.
func (w Word) KnownIn(language int) bool {
	return w.entry != nil && language < len(w.entry.in) && w.entry.in[language] != (marks{})
}

// Known reports whether any language has the word.
func (w Word) Known() bool { return w.entry != nil }

// Phrased reports whether a folded word occurs in a phrase of any language.
func (l *Lexica) Phrased(fold string) bool { return l.phrased[fold] }

// Exact reports whether a file has exactly this spelling.
func (w Word) Exact() bool { return w.entry != nil && w.entry.own }

// Preposition returns the preposition of a contraction: "de" for "da".
func (l *Lexica) Preposition(lower string) (string, bool) {
	alone, ok := l.contracted[lower]
	return alone, ok
}

// Word looks up a word by its spelling in a message.
func (l *Lexica) Word(raw string) Word {
	fold := Fold(raw)
	lower := fold
	if len(fold) != len(raw) || !ascii(raw) {
		lower = Lower(raw)
	}
	return l.find(lower, fold)
}

// Folded looks up a word by its folded form.
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

// Words returns the words of a class in all languages, in the spelling of the files.
func (l *Lexica) Words(c Class) []string {
	var out []string
	for _, language := range l.Languages {
		out = append(out, language.words[c]...)
	}
	return out
}

// Language returns the index of a language by its code, or -1.
func (l *Lexica) Language(code string) int {
	return slices.IndexFunc(l.Languages, func(x *Language) bool { return x.Code == code })
}

// Elided reports whether a word is an elided function word: "l" in "l'alerte".
func (l *Lexica) Elided(lower string) bool { return l.elided[lower] }

// Clitic reports whether a text is a clitic behind an apostrophe: "ll" in "we'll".
func (l *Lexica) Clitic(lower string) bool { return l.clitics[lower] }

// table maps the spellings of all languages to their entries.
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

// other reports whether the form of a word without accents is another word.
func (t table) other(lower, fold string) bool {
	e := t[fold]
	return lower != fold && e != nil && e.own
}

// Shipped returns the embedded languages.
var Shipped = sync.OnceValue(func() *Lexica { //nolint:gochecknoglobals // decoded once, never changed
	l, err := Load(shippedFiles)
	if err != nil {
		panic(err) //nolint:forbidigo // the files are part of the program, and a test reads them
	}
	return l
})

//go:embed lexica/*.toml
var shippedFiles embed.FS

// Load loads the files lexica/*.toml, English first.
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

// first is the sort key of a code, with English first.
func first(code string) string {
	if code == "en" {
		return ""
	}
	return code
}
