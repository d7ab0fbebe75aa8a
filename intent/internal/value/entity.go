package value

import (
	"time"

	"github.com/manifold-run/manifold/intent/internal/text"
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
)

// Entity is one typed value in a message.
type Entity struct {
	Kind Kind
	Span text.Span
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
	// Distance is the number of days or years that a date is away, as in "in 3 days".
	Distance *Entity
	// Doubt marks a value with two readings; it must not be used unasked.
	Doubt bool
	// P is how probable the reading is.
	P float64
}

// Scanner reads entities. Now and its location resolve relative dates; the
// zero time leaves them unread.
type Scanner struct {
	words  *vocabulary
	lex    *text.Lexicon
	months map[string]time.Month
	days   map[string]time.Weekday
}

// NewScanner prepares the tables.
func NewScanner(lex *text.Lexicon) *Scanner {
	return &Scanner{words: newVocabulary(), lex: lex, months: monthNames(), days: weekdayNames()}
}

// Doc is a message with its tokens and chunks.
type Doc struct {
	Src    string
	Tokens []text.Token
	Chunks []Chunk
	// chunkOf gives the chunk of each token.
	chunkOf []int
}

// NewDoc cuts a message.
func NewDoc(src string, tokens []text.Token) *Doc {
	d := &Doc{Src: src, Tokens: tokens, chunkOf: make([]int, len(tokens))}
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
	for i := 0; i < len(d.Tokens); {
		e, ok := s.at(d, i, now)
		if !ok {
			i++
			continue
		}
		e.Span = text.Span{Start: d.Tokens[e.First].Start, End: d.Tokens[e.Last].End}
		out = append(out, e)
		i = e.Last + 1
	}
	return out
}

func (s *Scanner) at(d *Doc, i int, now time.Time) (Entity, bool) {
	if c, ok := d.ChunkAt(i); ok {
		if e, ok := address(c); ok {
			return e, true
		}
	}
	if e, ok := phone(d, i); ok {
		return e, true
	}
	if e, ok := s.date(d, i, now); ok {
		return s.withClock(d, e), true
	}
	if e, ok := clock(d, i); ok {
		return e, true
	}
	return s.number(d, i)
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
