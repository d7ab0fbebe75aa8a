package lexicon

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// file is a language as its file writes it. Lists are one string with spaces
// between the words, or several phrases in the notation of pattern.
type file struct {
	Code   string `toml:"code"`
	Name   string `toml:"name"`
	Proven bool   `toml:"proven"`

	Spelling struct {
		// Elided are small words before an apostrophe, Clitics endings behind one,
		// Respelled pairs such as "ä ae" for those who have no such key.
		Elided    string `toml:"elided"`
		Clitics   string `toml:"clitics"`
		Respelled string `toml:"respelled"`
		// Contracted are pairs of a preposition with an article in it and the one alone.
		Contracted string `toml:"contracted"`
		// Short are pairs of a word as people type it in a hurry and the whole one: "msgs
		// messages".
		Short       string `toml:"short"`
		Capitalises bool   `toml:"capitalises"`
		// Everyday are words that tell it from languages that capitalise otherwise.
		Everyday string `toml:"everyday"`
	} `toml:"spelling"`

	Grammar      map[string]string `toml:"grammar"`
	Restraint    map[string]string `toml:"restraint"`
	Request      map[string]string `toml:"request"`
	Slots        map[string]string `toml:"slots"`
	Names        map[string]string `toml:"names"`
	Prepositions map[string]string `toml:"prepositions"`

	// Verbs are stems by kind; Forms what may stand behind a stem.
	Verbs map[string]string `toml:"verbs"`
	Forms string            `toml:"forms"`
	// Infinitives, Gerunds and Suppositions are endings of verbs: "borrarla",
	// "deleting", "cancelaría".
	Infinitives  string `toml:"infinitives"`
	Gerunds      string `toml:"gerunds"`
	Suppositions string `toml:"suppositions"`
	// Pasts and Presents are endings that a verb has when it tells of somebody:
	// "cancelled", "canceló"; "cancels", "cancela".
	Pasts    string `toml:"pasts"`
	Presents string `toml:"presents"`

	Operators  map[Operator][]string   `toml:"operators"`
	Frames     map[Frame][]string      `toml:"frames"`
	Reasons    map[Reason][]string     `toml:"reasons"`
	Begins     map[Modality][]string   `toml:"begins"`
	Within     map[Modality][]string   `toml:"within"`
	Separators map[Connective][]string `toml:"separators"`
	Talk       map[Talk][]string       `toml:"talk"`

	Numbers Numbers `toml:"numbers"`
	Dates   Dates   `toml:"dates"`
	Times   Times   `toml:"times"`

	// Sample is a text of everyday requests, by which the language is known.
	Sample string `toml:"sample"`
}

// decode reads one file strictly: a key that nothing reads is an error.
func decode(raw []byte) (*file, error) {
	d := toml.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	f := &file{}
	if err := d.Decode(f); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			return nil, errors.New(strict.String())
		}
		return nil, err
	}
	if f.Code == "" || f.Name == "" {
		return nil, errors.New("code and name are missing")
	}
	return f, nil
}

// sections are the tables of words.
func (f *file) sections() map[string]map[string]string {
	return map[string]map[string]string{
		"grammar": f.Grammar, "restraint": f.Restraint, "request": f.Request, "slots": f.Slots, "names": f.Names, "prepositions": f.Prepositions,
	}
}

// compiler makes the lexica of files.
type compiler struct {
	lexica *Lexica
	files  []*file
	errs   []error
}

func compile(files []*file) (*Lexica, error) {
	c := &compiler{files: files, lexica: &Lexica{
		table: table{}, verbs: map[string][]verbStem{}, elided: map[string]bool{}, clitics: map[string]bool{}, phrased: map[string]bool{}, contracted: map[string]string{},
	}}
	c.lexica.Begins.over, c.lexica.Within.over = true, true
	for n, f := range files {
		c.spelling(f)
		l := &Language{Code: f.Code, Name: f.Name, Proven: f.Proven, Capitalises: f.Spelling.Capitalises, Everyday: strings.Fields(f.Spelling.Everyday), Respelled: strings.NewReplacer(strings.Fields(f.Spelling.Respelled)...), Numbers: f.Numbers, Dates: f.Dates, Times: f.Times, short: shorts(f.Spelling.Short)}
		c.lexica.Languages = append(c.lexica.Languages, l)
		c.words(n, f)
		c.values(n, f)
		c.verbs(n, f)
		c.phrases(n, f)
	}
	c.unaccented()
	c.listen()
	t := c.lexica.table
	c.lexica.Operators.seal(t)
	c.lexica.Frames.seal(t)
	c.lexica.Reasons.seal(t)
	c.lexica.Begins.seal(t)
	c.lexica.Within.seal(t)
	c.lexica.Separators.seal(t)
	c.lexica.Talk.seal(t)
	return c.lexica, errors.Join(c.errs...)
}

func (c *compiler) fail(f *file, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: "+format, append([]any{f.Code}, args...)...))
}

// words files the closed classes.
func (c *compiler) words(n int, f *file) {
	known := map[string]Class{}
	for class, name := range classNames() {
		known[name] = Class(class)
	}
	for section, lists := range f.sections() {
		for _, key := range slices.Sorted(maps.Keys(lists)) {
			class, ok := known[section+"."+key]
			if !ok {
				c.fail(f, "[%s] has a list %q that nothing reads", section, key)
				continue
			}
			for w := range strings.FieldsSeq(lists[key]) {
				c.lexica.Languages[n].words[class] = append(c.lexica.Languages[n].words[class], w)
				if section != "names" { // what parameters are called is no word of a message
					c.lexica.table.put(Lower(w), true, n, len(c.files), class)
				}
			}
		}
	}
}

// unaccented lets people leave the accents out, and write "ae" for "ä", where that
// is no other word.
func (c *compiler) unaccented() {
	t := c.lexica.table
	for n := range c.files {
		respelled := c.lexica.Languages[n].Respelled
		for class, words := range c.lexica.Languages[n].words {
			if strings.HasPrefix(Class(class).String(), "names.") {
				continue
			}
			for _, w := range words {
				for _, other := range []string{Fold(w), respelled.Replace(Lower(w))} {
					if e := t[other]; e == nil || !e.own {
						t.put(other, false, n, len(c.files), Class(class))
					}
				}
			}
		}
	}
}

// shorts are the whole words by those that people type for them, without their accents.
func shorts(pairs string) map[string][]string {
	words, out := strings.Fields(pairs), map[string][]string{}
	for k := 0; k+1 < len(words); k += 2 {
		out[Fold(words[k])] = append(out[Fold(words[k])], Fold(words[k+1]))
	}
	return out
}

func (c *compiler) spelling(f *file) {
	for w := range strings.FieldsSeq(f.Spelling.Elided) {
		c.lexica.elided[w] = true
	}
	for w := range strings.FieldsSeq(f.Spelling.Clitics) {
		c.lexica.clitics[w] = true
	}
	pairs := strings.Fields(f.Spelling.Contracted)
	if len(pairs)%2 != 0 {
		c.fail(f, "spelling.contracted is a list of pairs")
	}
	for k := 0; k+1 < len(pairs); k += 2 {
		c.lexica.contracted[Lower(pairs[k])] = Lower(pairs[k+1])
	}
	if len(strings.Fields(f.Spelling.Short))%2 != 0 {
		c.fail(f, "spelling.short is a list of pairs")
	}
	if len(strings.Fields(f.Spelling.Respelled))%2 != 0 {
		c.fail(f, "spelling.respelled is a list of pairs")
		f.Spelling.Respelled = ""
	}
}

// phrases files what has several words.
func (c *compiler) phrases(n int, f *file) {
	x := c.lexica
	fileTable(c, n, f, "operators", &x.Operators, f.Operators, operators())
	fileTable(c, n, f, "frames", &x.Frames, f.Frames, []Frame{FrameBefore, FrameBehind, FrameWhole, FrameOrders, FrameNames, FrameAmid, FrameReplaced})
	fileTable(c, n, f, "reasons", &x.Reasons, f.Reasons, []Reason{ReasonWhy, ReasonFor, ReasonSo})
	fileTable(c, n, f, "begins", &x.Begins, f.Begins, modalities())
	fileTable(c, n, f, "within", &x.Within, f.Within, modalities())
	fileTable(c, n, f, "separators", &x.Separators, f.Separators, connectives())
	fileTable(c, n, f, "talk", &x.Talk, f.Talk, talks())
}

// fileTable adds the phrases of one table, in the order of the known keys.
func fileTable[V ~string](c *compiler, n int, f *file, section string, book *Book[V], table map[V][]string, known []V) {
	for key := range table {
		if !slices.Contains(known, key) {
			c.fail(f, "[%s] has a list %q that nothing reads", section, key)
		}
	}
	for _, key := range known {
		for _, say := range table[key] {
			if err := book.add(n, say, key); err != nil {
				c.fail(f, "[%s] %s: %w", section, key, err)
			}
			for w := range strings.FieldsFuncSeq(say, func(r rune) bool { return strings.ContainsRune(" |?!^,", r) }) {
				c.lexica.phrased[Fold(w)] = true
			}
		}
	}
}
