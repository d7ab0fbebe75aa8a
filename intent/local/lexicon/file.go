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

// file is the schema of a language file. A list is one string of space-separated words, or several
// phrases in the notation of pattern.
type file struct {
	Code   string `toml:"code"`
	Name   string `toml:"name"`
	Proven bool   `toml:"proven"`

	Spelling struct {
		// Elided holds elided words before an apostrophe, Clitics endings behind one, Respelled
		// pairs such as "ä ae" for keyboards without such keys.
		Elided    string `toml:"elided"`
		Clitics   string `toml:"clitics"`
		Respelled string `toml:"respelled"`
		// Contracted holds pairs of a contracted preposition and the plain one.
		Contracted string `toml:"contracted"`
		// Short holds pairs of an abbreviation and the full word: "msgs messages".
		Short       string `toml:"short"`
		Capitalises bool   `toml:"capitalises"`
		// Everyday holds words that distinguish it from languages with other capitalisation rules.
		Everyday string `toml:"everyday"`
	} `toml:"spelling"`

	Grammar      map[string]string `toml:"grammar"`
	Restraint    map[string]string `toml:"restraint"`
	Request      map[string]string `toml:"request"`
	Slots        map[string]string `toml:"slots"`
	Names        map[string]string `toml:"names"`
	Prepositions map[string]string `toml:"prepositions"`

	// Verbs holds stems by kind, Forms the endings of a stem.
	Verbs map[string]string `toml:"verbs"`
	Forms string            `toml:"forms"`
	// Infinitives, Gerunds and Suppositions are verb endings: "borrarla", "deleting",
	// "cancelaría".
	Infinitives  string `toml:"infinitives"`
	Gerunds      string `toml:"gerunds"`
	Suppositions string `toml:"suppositions"`
	// Pasts and Presents are endings of finite verbs in statements: "cancelled", "canceló";
	// "cancels", "cancela".
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

	// Sample is a text of common requests, for language detection.
	Sample string `toml:"sample"`
}

// decode decodes a file strictly: an unknown key is an error.
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

// sections returns the tables of word classes.
func (f *file) sections() map[string]map[string]string {
	return map[string]map[string]string{
		"grammar": f.Grammar, "restraint": f.Restraint, "request": f.Request, "slots": f.Slots, "names": f.Names, "prepositions": f.Prepositions,
	}
}

// compiler builds the lexica from files.
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

// words adds the closed word classes.
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
				if section != "names" { // parameter names are no words of a message
					c.lexica.table.put(Lower(w), true, n, len(c.files), class)
				}
			}
		}
	}
}

// unaccented adds spellings without accents, and "ae" for "ä", unless that is another word.
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

// shorts returns the full words by their folded abbreviations.
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

// phrases adds the phrases.
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
