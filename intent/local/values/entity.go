package values

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Kind says what a value is.
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

	// None is what looks like a value and is none: "por la mañana".
	None Kind = ""
)

// Entity is one typed value in a message.
type Entity struct {
	Kind Kind
	Span tokenize.Span
	// First and Last are the tokens that it covers.
	First, Last int
	// Number, Unit, Percent and Currency belong to numbers. Unit is the singular
	// English unit of time, or the stem of the word after the number.
	Number   float64
	Unit     string
	Percent  bool
	Currency string
	// Money tells a number with a sign or a code of a currency, Ordinal one such
	// as 3rd, Spelled one that is written as words.
	Money   bool
	Ordinal bool
	Spelled bool
	// Time belongs to dates and clock times; HasClock and HasZone say how much
	// of it was written.
	Time     time.Time
	HasClock bool
	HasZone  bool
	// Clock are the first and the last token of a time behind a date, Day the last one of
	// the date; zero where both are one token or there is no time.
	Clock [2]int
	Day   int
	// Distance is the number of days or years that a date is away, as in "in 3 days".
	Distance *Entity
	// Edge tells the ends of a period that is said as a whole: "from the 3rd to the
	// 5th".
	Edge Edge
	// Doubt marks a value with two readings; it must not be used unasked.
	Doubt bool
	// P is how probable the reading is.
	P float64

	// weekday, yearless and halves tell what was left open: which week, which year,
	// which half of the day.
	weekday, yearless, halves bool
}

// Yearless tells a date of which nobody said the year.
func (e Entity) Yearless() bool { return e.yearless }

// Edge is an end of a period.
type Edge uint8

// The ends.
const (
	Whole Edge = iota // no end, a day of its own
	Start
	End
)

// Scanner reads entities. Now and its location resolve relative dates; the
// zero time leaves them unread.
type Scanner struct {
	lex      *tokenize.Lexicon
	tongues  []*tongue
	starts   map[string]tongues // the words that a value can begin with
	heads    map[string]tongues // the first letters of compounds
	units    map[string]string
	shorts   map[string]string
	measures map[string]string
	codes    map[string]bool
}

// NewScanner prepares the tables of all languages.
func NewScanner(lex *tokenize.Lexicon) *Scanner {
	s := &Scanner{
		lex: lex, starts: map[string]tongues{}, heads: map[string]tongues{}, units: map[string]string{}, shorts: map[string]string{},
		measures: measureSigns(), codes: currencyCodes(),
	}
	for n := range lex.Languages {
		t, err := newTongue(n, lex.Lexica)
		if err != nil {
			panic(err) //nolint:forbidigo // the files are part of the program, and a test reads them
		}
		s.tongues = append(s.tongues, t)
		t.startsOf(s)
	}
	return s
}

// startsOf notes the words that a value of a language can begin with.
func (t *tongue) startsOf(s *Scanner) {
	bit := tongues(1) << t.index
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
		if len(t.andHalf) > 0 { // "dia e meio"
			starts(w)
		}
		s.units[w] = unit
	}
	maps.Copy(s.shorts, t.short)
	for _, h := range t.num.Heads() {
		s.heads[h] |= bit
	}
}

// Ordinal reads an ordinal that is said in words at a token, in any language: "fifth"
// is 5. By itself it is no value: "the fifth" may be a day or a place in a list.
func (s *Scanner) Ordinal(d *Doc, i int) (n, width int, ok bool) {
	for _, t := range s.tongues {
		if n, width, ok = t.num.Ordinal(d.fold, i); ok {
			return n, width, true
		}
	}
	return 0, 0, false
}

// tongues is a set of languages, one bit each.
type tongues uint32

func (t tongues) has(n int) bool { return t&(1<<n) != 0 }

// starting gives the languages in which a value can begin with a token. Digits may
// begin one in any that is likely, and in those of the word behind them.
func (s *Scanner) starting(d *Doc, i int) tongues {
	t := &d.Tokens[i]
	out := s.starts[t.Fold]
	if len(t.Fold) > shortestCompound {
		out |= s.heads[NumberHead(t.Fold)]
	}
	if !t.Is(tokenize.FormDigits | tokenize.FormMixed) {
		return out
	}
	weights := d.Languages.At(i)
	for n := range s.tongues {
		if weights.Likely(n) {
			out |= 1 << n
		}
	}
	return out | s.starts[d.fold(i+1)]
}

// shortestCompound is how many letters a word has at most that is no compound.
const shortestCompound = 5

// Doc is a message with its tokens and chunks.
type Doc struct {
	Src    string
	Tokens []tokenize.Token
	Chunks []Chunk
	// Languages tells the language of each sentence.
	Languages lexicon.LanguageMix
	// said are the tokens, with what stands between them.
	said []said
	// readers are those that read it last.
	readers []*reader
	// chunkOf gives the chunk of each token.
	chunkOf []int
}

// said is a token with what stands before it. The dot of an ordinal parts nothing.
type said struct {
	word   lexicon.Word
	gap    string
	parted bool
}

func (s said) Spelling() lexicon.Word { return s.word }
func (s said) Parted() bool           { return s.parted }
func (s said) Gap() string            { return s.gap }

// NewDoc cuts a message. Of its language nothing is known but what it says.
func NewDoc(src string, tokens []tokenize.Token) *Doc { return NewDocIn(src, tokens, nil) }

// NewDocIn cuts a message of somebody who has set a language.
func NewDocIn(src string, tokens []tokenize.Token, prior lexicon.Weights) *Doc {
	d := &Doc{Src: src, Tokens: tokens, chunkOf: make([]int, len(tokens)), said: make([]said, len(tokens))}
	d.Languages = lexicon.DetectLanguages(lexicon.Shipped(), tokens, prior)
	d.respell()
	for i, t := range tokens {
		d.said[i] = said{word: t.Word, parted: t.Break}
		if i == 0 {
			continue
		}
		gap := src[tokens[i-1].End:t.Start]
		d.said[i].gap = gap
		if before := tokens[i-1]; t.Break && (strings.TrimSpace(gap) == "." || strings.TrimSpace(gap) == "°") && before.Is(tokenize.FormDigits) && before.End-before.Start <= 2 {
			d.said[i].parted = false
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

// ChunkAt gives the chunk that begins with token i.
func (d *Doc) ChunkAt(i int) (Chunk, bool) {
	if i >= len(d.Tokens) || d.chunkOf[i] < 0 {
		return Chunk{}, false
	}
	c := d.Chunks[d.chunkOf[i]]
	return c, c.First == i
}

// ChunkOf gives the chunk that token i belongs to.
func (d *Doc) ChunkOf(i int) (Chunk, bool) {
	if i >= len(d.Tokens) || d.chunkOf[i] < 0 {
		return Chunk{}, false
	}
	return d.Chunks[d.chunkOf[i]], true
}

// fold gives the folded token i, "" outside.
func (d *Doc) fold(i int) string {
	if i < 0 || i >= len(d.Tokens) {
		return ""
	}
	return d.Tokens[i].Fold
}

// Scan reads every entity, from left to right, the longest reading first.
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

// readers are one for each language.
func (s *Scanner) readers(d *Doc, now time.Time) []*reader {
	if len(d.readers) > 0 && d.readers[0].now.Equal(now) && d.readers[0].now.Location() == now.Location() {
		return d.readers
	}
	room := make([]reader, len(s.tongues))
	d.readers = make([]*reader, len(s.tongues))
	for n, t := range s.tongues {
		room[n] = reader{s: s, tongue: t, d: d, now: now, today: dayStart(now)}
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
		dates = nil // nobody knows of which year
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

// address reads e-mail addresses, links and UUIDs.
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
