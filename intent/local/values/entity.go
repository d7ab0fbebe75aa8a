package values

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Kind is the type of a value.
type Kind string

// The kinds of values.
const (
	Number Kind = "number"
	Date   Kind = "date"
	Clock  Kind = "time"
	Email  Kind = "email"
	URL    Kind = "url"
	UUID   Kind = "uuid"
	Phone  Kind = "phone"

	// None is a phrase that looks like a value but is none: "por la mañana".
	None Kind = ""
)

// Entity is a typed value in a message.
type Entity struct {
	Kind Kind
	Span tokenize.Span
	// First and Last are its tokens.
	First, Last int
	// Number, Unit, Percent and Currency are set for numbers. Unit is the singular English unit of
	// time, or the stem of the word behind the number.
	Number   float64
	Unit     string
	Percent  bool
	Currency string
	// Money is set for a number with a currency symbol or code, Ordinal for one such as "3rd",
	// Spelled for a spelled-out one.
	Money   bool
	Ordinal bool
	Spelled bool
	// Time is set for dates and clock times. HasClock and HasZone are set if the text gives a time
	// of day and a zone.
	Time     time.Time
	HasClock bool
	HasZone  bool
	// Clock holds the first and last token of a time behind a date, Day the last token of the
	// date. They are zero if both are one token or there is no time.
	Clock [2]int
	Day   int
	// Distance is the number of days or years to a relative date, as in "in 3 days".
	Distance *Entity
	// Edge is set for the two ends of a period: "from the 3rd to the 5th".
	Edge Edge
	// Doubt is set for an ambiguous value, which must not be used without a question.
	Doubt bool
	// P is the probability of the reading.
	P float64

	// weekday, yearless and halves are set if the week, the year or the half of the day is not
	// given.
	weekday, yearless, halves bool
}

// Yearless reports whether the text gives no year for a date.
func (e Entity) Yearless() bool { return e.yearless }

// Before returns the last such day before the entity, whose week or year is not given.
func (e Entity) Before() Entity {
	if e.weekday {
		e.Time = e.Time.AddDate(0, 0, -7)
	} else {
		e.Time = e.Time.AddDate(-1, 0, 0)
	}
	return e
}

// Edge is an end of a period.
type Edge uint8

// The ends of a period.
const (
	Whole Edge = iota // no end of a period
	Start
	End
)

// Scanner extracts entities.
type Scanner struct {
	lex       *tokenize.Lexicon
	languages []*language
	starts    map[string]languageSet // languages by the first word of a value
	heads     map[string]languageSet // languages by the first letters of compounds
	units     map[string]string
	shorts    map[string]string
	measures  map[string]string
	codes     map[string]bool
}

// NewScanner returns a scanner for all languages.
func NewScanner(lex *tokenize.Lexicon) *Scanner {
	s := &Scanner{
		lex: lex, starts: map[string]languageSet{}, heads: map[string]languageSet{}, units: map[string]string{}, shorts: map[string]string{},
		measures: measureSigns(), codes: currencyCodes(),
	}
	for n := range lex.Languages {
		t, err := newLanguage(n, lex.Lexica)
		if err != nil {
			panic(err) //nolint:forbidigo // the files are part of the program, and a test reads them
		}
		s.languages = append(s.languages, t)
		t.startsOf(s)
	}
	return s
}

// startsOf registers the words that a value of a language can begin with.
func (t *language) startsOf(s *Scanner) {
	bit := languageSet(1) << t.index
	starts := func(w string) {
		w, _, _ = strings.Cut(w, " ")
		s.starts[w] |= bit
	}
	for w := range t.byWord {
		starts(w)
	}
	for _, names := range []map[string]time.Weekday{t.days, t.announced} {
		for w := range names {
			starts(w)
		}
	}
	for w := range t.months {
		starts(w)
	}
	for _, w := range t.num.Starts() {
		starts(w)
	}
	for w := range t.spans {
		starts(w)
	}
	for _, f := range slices.Concat(t.half, t.none) {
		words, _ := f.Starts()
		for _, w := range words {
			starts(w)
		}
	}
	for w, unit := range t.units {
		if len(t.andHalf) > 0 { // such as "dia e meio"
			starts(w)
		}
		s.units[w] = unit
	}
	maps.Copy(s.shorts, t.short)
	for _, h := range t.num.Heads() {
		s.heads[h] |= bit
	}
}

// Ordinal reads a spelled-out ordinal at a token in any language: "fifth" is 5. It is no entity,
// since "the fifth" may be a date or a position in a list.
func (s *Scanner) Ordinal(d *Doc, i int) (n, width int, ok bool) {
	for _, t := range s.languages {
		if n, width, ok = t.num.Ordinal(d.fold, i); ok {
			return n, width, true
		}
	}
	return 0, 0, false
}

// languageSet is a bit set of languages.
type languageSet uint32

func (t languageSet) has(n int) bool { return t&(1<<n) != 0 }

// starting returns the languages in which a value can begin with a token. For digits these are the
// likely languages, and those of the next word.
func (s *Scanner) starting(d *Doc, i int) languageSet {
	t := &d.Tokens[i]
	out := s.starts[t.Fold]
	if len(t.Fold) > maxSimpleWord {
		out |= s.heads[NumberHead(t.Fold)]
	}
	if !t.Is(tokenize.FormDigits | tokenize.FormMixed) {
		return out
	}
	weights := d.Languages.At(i)
	for n := range s.languages {
		if weights.Likely(n) {
			out |= 1 << n
		}
	}
	return out | s.starts[d.fold(i+1)]
}

// maxSimpleWord is the maximum length of a word that is no compound.
const maxSimpleWord = 5

// Doc is a message with its tokens and chunks.
type Doc struct {
	Src    string
	Tokens []tokenize.Token
	Chunks []Chunk
	// Languages holds the detected language of each sentence.
	Languages lexicon.LanguageMix
	// spaced holds the tokens with the text before them.
	spaced []spacedToken
	// readers caches the readers of the last scan.
	readers []*reader
	// chunkOf holds the chunk index of each token.
	chunkOf []int
}

// spacedToken is a token with the text before it. The dot of an ordinal does not set parted.
type spacedToken struct {
	word   lexicon.Word
	gap    string
	parted bool
}

func (s spacedToken) Spelling() lexicon.Word { return s.word }
func (s spacedToken) Parted() bool           { return s.parted }
func (s spacedToken) Gap() string            { return s.gap }

// NewDoc returns a document for a message whose language is detected.
func NewDoc(src string, tokens []tokenize.Token) *Doc { return NewDocIn(src, tokens, nil) }

// NewDocIn returns a document for a message of a user with a language preference.
func NewDocIn(src string, tokens []tokenize.Token, prior lexicon.Weights) *Doc {
	d := &Doc{Src: src, Tokens: tokens, chunkOf: make([]int, len(tokens)), spaced: make([]spacedToken, len(tokens))}
	d.Languages = lexicon.DetectLanguages(lexicon.Shipped(), tokens, prior)
	d.respell()
	for i, t := range tokens {
		d.spaced[i] = spacedToken{word: t.Word, parted: t.Break}
		if i == 0 {
			continue
		}
		gap := src[tokens[i-1].End:t.Start]
		d.spaced[i].gap = gap
		if before := tokens[i-1]; t.Break && (strings.TrimSpace(gap) == "." || strings.TrimSpace(gap) == "°") && before.Is(tokenize.FormDigits) && before.End-before.Start <= 2 {
			d.spaced[i].parted = false
		}
	}
	d.Chunks = chunks(src, tokens)
	for i := range d.chunkOf {
		d.chunkOf[i] = -1
	}
	for c, ch := range d.Chunks {
		for i := ch.First; i <= ch.Last; i++ {
			d.chunkOf[i] = c
		}
	}
	return d
}

// ChunkAt returns the chunk that begins with token i.
func (d *Doc) ChunkAt(i int) (Chunk, bool) {
	if i >= len(d.Tokens) || d.chunkOf[i] < 0 {
		return Chunk{}, false
	}
	c := d.Chunks[d.chunkOf[i]]
	return c, c.First == i
}

// ChunkOf returns the chunk that contains token i.
func (d *Doc) ChunkOf(i int) (Chunk, bool) {
	if i >= len(d.Tokens) || d.chunkOf[i] < 0 {
		return Chunk{}, false
	}
	return d.Chunks[d.chunkOf[i]], true
}

// fold returns the folded token i, or "" outside of the message.
func (d *Doc) fold(i int) string {
	if i < 0 || i >= len(d.Tokens) {
		return ""
	}
	return d.Tokens[i].Fold
}

// Scan returns all entities from left to right. At each token it prefers the longest one. now and
// its location resolve relative dates; the zero time leaves them unread.
func (s *Scanner) Scan(d *Doc, now time.Time) []Entity {
	var out []Entity
	readers := s.readers(d, now)
	for i := 0; i < len(d.Tokens); {
		found := s.at(d, readers, i, now)
		if len(found) == 0 {
			i++
			continue
		}
		for _, e := range found {
			e.Span = tokenize.Span{Start: d.Tokens[e.First].Start, End: d.Tokens[e.Last].End}
			out = append(out, e)
		}
		i = max(i, found[len(found)-1].Last) + 1
	}
	return slices.DeleteFunc(out, func(e Entity) bool { return e.Kind == None })
}

// readers returns one reader per language.
func (s *Scanner) readers(d *Doc, now time.Time) []*reader {
	if len(d.readers) > 0 && d.readers[0].now.Equal(now) && d.readers[0].now.Location() == now.Location() {
		return d.readers
	}
	room := make([]reader, len(s.languages))
	d.readers = make([]*reader, len(s.languages))
	for n, t := range s.languages {
		room[n] = reader{s: s, language: t, d: d, now: now, today: dayStart(now)}
		d.readers[n] = &room[n]
	}
	return d.readers
}

func (s *Scanner) at(d *Doc, readers []*reader, i int, now time.Time) []Entity {
	chunk, begins := d.ChunkAt(i)
	if begins {
		if e, ok := address(chunk); ok {
			return []Entity{e}
		}
	}
	if e, ok := phone(d, i); ok {
		return []Entity{e}
	}
	starting := s.starting(d, i)
	if starting == 0 && !d.Tokens[i].Is(tokenize.FormDigits|tokenize.FormMixed) {
		if e, ok := s.signed(d, readers, i); ok {
			return []Entity{e}
		}
		return nil
	}
	dates := s.days(d, readers, i, starting)
	if len(dates) == 1 && dates[0].yearless && now.IsZero() {
		dates = nil // the year is unknown
	}
	if begins && len(dates) == 0 {
		if e, ok := s.numericDate(d, readers, i, chunk, now); ok {
			return []Entity{s.withClock(d, readers, e)}
		}
	}
	number, counted := s.number(d, readers, i, starting)
	if len(dates) > 0 && (!counted || number.Last <= dates[len(dates)-1].Last) {
		if len(dates) == 1 && dates[0].Kind == Date {
			dates[0] = s.withClock(d, readers, dates[0])
		}
		return dates
	}
	if e, ok := s.clock(d, readers, i); ok && (!counted || e.Last >= number.Last) {
		return []Entity{e}
	}
	if counted {
		return []Entity{number}
	}
	return nil
}

// address reads an e-mail address, a URL or a UUID.
func address(c Chunk) (Entity, bool) {
	e := Entity{First: c.First, Last: c.Last, P: 0.97}
	switch {
	case isEmail(c.Text):
		e.Kind = Email
	case isURL(c.Text):
		e.Kind = URL
	case isUUID(c.Text):
		e.Kind = UUID
	default:
		return Entity{}, false
	}
	return e, true
}
