package modality

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// SegmentKind is the function of a segment.
type SegmentKind uint8

// The kinds. Open is a command or a part of one.
const (
	Open      SegmentKind = iota
	Courtesy              // "thanks a lot"
	Reason                // behind "because"
	Past                  // past narrative: "she told me yesterday"
	Statement             // any other clause without a command: "my back hurts"
)

// Silent reports whether a kind asks for nothing.
func (k SegmentKind) Silent() bool { return k != Open }

// Segment is a range of tokens, [From, To), between two possible clause boundaries.
type Segment struct {
	From, To int
	Kind     SegmentKind
	// Filters is set for a relative clause that says which of the things before it are meant.
	Filters bool
	// starts is set if the segment begins a sentence.
	starts bool
}

// Message is a message split into clauses. It is immutable.
type Message struct {
	Src      string
	Tokens   []tokenize.Token
	Segments []Segment

	lex       *lexicon.Lexica
	languages lexicon.LanguageMix
	entities  []values.Entity
	inEntity  []bool       // by token: part of a typed value
	code      []bool       // by token: part of an identifier such as "J-5"
	frame     []bool       // by token: part of a courtesy phrase
	numbers   map[int]bool // tokens that number list items
	ordered   []bool       // by token: part of a statement that a later request refers to
	language  int          // index of the language with the most function words
	bids      func(int) bool
	plain     func(from, to int) bool
}

// Segmented splits a message into clauses. bids reports whether a token begins a request of the
// catalog; mooded reports whether the first words of a run indicate that it is no plain request.
func Segmented(lex *lexicon.Lexica, src string, tokens []tokenize.Token, entities []values.Entity, bids func(int) bool, mooded func(from, to int) bool) *Message {
	m := &Message{
		Src: src, Tokens: tokens, lex: lex, languages: lexicon.DetectLanguages(lex, tokens, nil), entities: entities, bids: bids, plain: func(from, to int) bool { return !mooded(from, to) },
		inEntity: make([]bool, len(tokens)), code: make([]bool, len(tokens)), frame: make([]bool, len(tokens)), ordered: make([]bool, len(tokens)),
	}
	for _, e := range entities {
		for i := e.First; i <= e.Last && i < len(tokens); i++ {
			m.inEntity[i] = true
		}
	}
	for i := 1; i < len(tokens); i++ {
		if t := tokens[i]; t.Glued && strings.Trim(src[tokens[i-1].End:t.Start], "-_./#:") == "" && (t.Is(tokenize.FormDigits|tokenize.FormMixed) || tokens[i-1].Is(tokenize.FormDigits|tokenize.FormMixed)) {
			m.code[i-1], m.code[i] = true, true
		}
	}
	m.numbers = tokenize.Numbered(src, tokens, func(i int) bool {
		return slices.ContainsFunc(entities, func(e values.Entity) bool { return e.First < e.Last && e.First <= i && i <= e.Last })
	})
	for i := range m.numbers {
		m.frame[i] = true
	}
	m.language = m.guess()
	m.cut()
	return m
}

// guess returns the language with the most function words; on a tie the one that language
// detection prefers ("peso do mês"), or else the first.
func (m *Message) guess() int {
	best, most, sounds := 0, 0, m.languages.At(0).Best()
	for l := range m.lex.Languages {
		n := 0
		for i := range m.Tokens {
			w := m.Tokens[i].Word
			if !m.Tokens[i].Is(tokenize.FormQuoted) && !m.code[i] && (w.In(l, lexicon.Function) || w.In(l, lexicon.Filler) || w.In(l, lexicon.Pronoun)) {
				n++
			}
		}
		if n > most || n == most && n > 0 && l == sounds {
			best, most = l, n
		}
	}
	return best
}

// headFirst reports whether nouns precede their modifiers in the language of the message.
func (m *Message) headFirst() bool {
	return slices.Contains([]string{"pt", "es", "fr", "it"}, m.lex.Languages[m.language].Code)
}

func (m *Message) has(i int, classes ...lexicon.Class) bool {
	return m.word(i) && slices.ContainsFunc(classes, m.Tokens[i].Has)
}

// is reports whether a token has one of the classes in the language of the message: "will" is a
// verb of wanting only in German.
func (m *Message) is(i int, classes ...lexicon.Class) bool {
	return m.word(i) && slices.ContainsFunc(classes, func(c lexicon.Class) bool { return m.Tokens[i].In(m.language, c) })
}

// Says reports whether a token has a class in the language of the message.
func (m *Message) Says(i int, c lexicon.Class) bool { return m.is(i, c) }

// May reports whether a token has a class in any likely language. In "¿y cuántas le quedan?" the
// token "le" is also French.
func (m *Message) May(i int, c lexicon.Class) bool {
	for l := range m.lex.Languages {
		if m.languages.At(i).Likely(l) && m.word(i) && m.Tokens[i].In(l, c) {
			return true
		}
	}
	return false
}

// word reports whether a token is neither quoted nor part of an identifier.
func (m *Message) word(i int) bool {
	return i >= 0 && i < len(m.Tokens) && !m.Tokens[i].Is(tokenize.FormQuoted) && !m.code[i]
}

// connective returns the connective at a token, such as "and" or "then".
func (m *Message) connective(i int) (lexicon.Connective, bool) {
	hit, ok := lexicon.Find(&m.lex.Separators, m.Tokens, i)
	return hit.Value, ok
}

// isCoordinating reports whether a token is a coordinating word such as "and" or "but".
func (m *Message) isCoordinating(i int) bool {
	connective, ok := m.connective(i)
	return ok && (connective == lexicon.ConnectiveAnd || connective == lexicon.ConnectiveContrast)
}

// isFunctionWord reports whether a token is a function word, courtesy or reference.
func (m *Message) isFunctionWord(i int) bool {
	return m.has(i, lexicon.Function, lexicon.Filler, lexicon.Pronoun, lexicon.Article, lexicon.Courteous, lexicon.Opening, lexicon.Subject, lexicon.Finite)
}

// small is like light, but false for a name that is a function word only in other languages:
// "Mia".
func (m *Message) small(i int) bool {
	return m.isFunctionWord(i) && (!m.Tokens[i].Named() || m.is(i, lexicon.Function, lexicon.Filler, lexicon.Pronoun, lexicon.Article, lexicon.Courteous, lexicon.Opening, lexicon.Subject, lexicon.Finite))
}

// kin returns the verb kinds of a token.
func (m *Message) kin(i int) lexicon.Kinds { return m.lex.Kin(m.Tokens[i].Fold) }

// cut splits the message into segments and classifies them.
func (m *Message) cut() {
	from, starts := 0, true
	for i := 1; i <= len(m.Tokens); i++ {
		end := i == len(m.Tokens)
		sentence := !end && m.sentence(i)
		if !end && !sentence && !m.parts(i) {
			continue
		}
		m.Segments = append(m.Segments, Segment{From: from, To: i, starts: starts})
		from, starts = i, sentence
	}
	for k := range m.Segments {
		s := &m.Segments[k]
		s.Kind = m.kindOf(s)
		if k > 0 && s.Kind == Open && !s.starts && m.depends(s) && m.Segments[k-1].Kind != Courtesy {
			m.Segments[k-1].Kind = Open // "it is forbidden, …" governs what follows
		}
		if k > 1 && s.Kind == Open && s.To == len(m.Tokens) && m.Segments[k-1].Kind == Courtesy && isSignature(m, s) {
			s.Kind = Courtesy
		}
	}
	markConclusions(m)
	order(m)
}

// longestSignature is the maximum length of the name that ends a letter in words.
const longestSignature = 3

// isSignature reports whether a segment is only a name, behind a closing formula: "Cheers, Tom".
func isSignature(m *Message, s *Segment) bool {
	for i := s.From; i < s.To; i++ {
		if !m.Tokens[i].Is(tokenize.FormTitle) || m.isFunctionWord(i) || m.bids(i) || m.inEntity[i] || !m.word(i) {
			return false
		}
	}
	return s.To-s.From <= longestSignature
}

// depends reports whether a segment depends on the one before: its verb is an infinitive, as in ",
// den Alarm zu löschen", or it begins with a word such as "dass".
func (m *Message) depends(s *Segment) bool {
	if m.is(s.From, lexicon.Bidding) && !m.is(s.From, lexicon.Subject) {
		return true // such as "…, dass wir es löschen"
	}
	last := s.To - 1
	if !m.lex.Languages[m.language].Capitalises || last <= s.From {
		return false
	}
	fold := m.Tokens[last].Fold
	return m.is(last-1, lexicon.BeforeVerb) || slices.ContainsFunc(m.lex.Languages[m.language].Words(lexicon.BeforeVerb), func(w string) bool {
		at := strings.Index(fold, w)
		return at > 1 && at+len(w)+3 < len(fold) && m.kin(last) == 0
	})
}

func (m *Message) gap(i int) string { return m.Src[m.Tokens[i-1].End:m.Tokens[i].Start] }

// sentence reports whether a sentence or a line begins at a token.
func (m *Message) sentence(i int) bool {
	return m.numbers[i] || m.Tokens[i].Is(tokenize.FormFirst) && !m.Tokens[i].Glued || strings.ContainsAny(m.gap(i), "\n;")
}

// parts reports whether a segment begins at a token inside a sentence.
func (m *Message) parts(i int) bool {
	t := m.Tokens[i]
	if t.Is(tokenize.FormQuoted) && m.Tokens[i-1].Is(tokenize.FormQuoted) || m.joined(i) || naming(m, i) {
		return false
	}
	if gap := m.gap(i); strings.ContainsAny(gap, ",:()—–，、…") || strings.Contains(gap, " - ") || strings.Contains(gap, " + ") || strings.Contains(gap, "...") {
		return true
	}
	if m.reason(i) {
		return true
	}
	if !m.isCoordinating(i) {
		return false
	}
	next := i + 1
	return next < len(m.Tokens) && (m.bids(next) && !m.named(next) || m.is(next, lexicon.Light, lexicon.Want) || m.is(next, lexicon.Subject) && !m.is(next, lexicon.Article))
}

// joined reports whether a token is inside a typed value.
func (m *Message) joined(i int) bool {
	return slices.ContainsFunc(m.entities, func(e values.Entity) bool { return e.First < i && i <= e.Last })
}

// kindOf classifies a segment and marks its courtesy phrases.
func (m *Message) kindOf(s *Segment) SegmentKind {
	from := m.courtesy(s)
	switch {
	case from >= s.To:
		return Courtesy
	case m.reason(from):
		return Reason
	case m.isConditional(from):
		return Open
	case isDictated(m, s):
		return Open
	case isFilter(m, from, s):
		s.Filters = true
		return Open
	case isRelative(m, from, s), isNoLonger(m, from, s):
		return Statement
	case isNarrative(m, from, s):
		if m.past(from, s.To) {
			return Past
		}
		return Statement
	case isExplanation(m, from, s):
		if m.past(from, s.To) {
			return Past
		}
		return Statement
	case m.commands(from, s.To):
		return Open
	}
	return m.classifyFinite(from, s)
}

// isConditional reports whether a token is a word such as "if", whose clause may change the request.
func (m *Message) isConditional(i int) bool {
	hit, ok := lexicon.Find(&m.lex.Operators, m.Tokens, i)
	return m.has(i, lexicon.Condition) || ok && (hit.Value == lexicon.Provided || hit.Value == lexicon.Unless)
}

// courtesy marks the courtesy phrases at both ends of a segment and returns where the rest begins.
// A phrase that begins a question about an action is no courtesy.
func (m *Message) courtesy(s *Segment) int {
	from := joinedAt(m, s)
	m.politely(from, s.To)
	if hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens[:s.To], from); ok && m.word(from) && from+hit.Tokens >= s.To && m.plain(from, s.To) {
		return m.mark(from, s.To)
	}
	if m.plain(from, s.To) {
		for from < s.To {
			hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens[:s.To], from)
			if ok && hit.Value == lexicon.FrameWhole && from+hit.Tokens >= s.To {
				return m.mark(from, s.To) // such as "so go ahead"
			}
			if !ok || hit.Value != lexicon.FrameBefore || touches(m, from, from+hit.Tokens) {
				break
			}
			from = m.mark(from, from+hit.Tokens)
		}
	}
	for to := s.To; ; {
		cut := m.behind(from, to)
		if cut == to {
			break
		}
		m.mark(cut, to)
		to = cut
		if to <= from {
			return s.To
		}
	}
	for i := from; i < s.To; i++ {
		if !m.frame[i] && !m.has(i, lexicon.Courteous, lexicon.Opening) && (!m.has(i, lexicon.Filler) || m.is(i, lexicon.Light)) {
			return from
		}
	}
	return m.mark(from, s.To)
}

// joinedAt returns the first token of a segment behind words such as "and" and the number of a
// list item.
func joinedAt(m *Message, s *Segment) int {
	from := s.From
	for from < s.To && (m.isCoordinating(from) || m.numbers[from]) {
		from++
	}
	return from
}

// politely marks courtesy phrases in any position ("cancel, per favore, the leave"), and phrases
// that only say when something takes effect.
func (m *Message) politely(from, to int) {
	for i := from; i < to; i++ {
		hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens[:to], i)
		if ok && !touches(m, i, i+hit.Tokens) && (hit.Value == lexicon.FrameAmid || hit.Value == lexicon.FrameReplaced || slices.ContainsFunc(m.Tokens[i:i+hit.Tokens], func(t tokenize.Token) bool { return t.Has(lexicon.Courteous) })) {
			i = m.mark(i, i+hit.Tokens) - 1
		}
	}
}

// behind returns the start of a courtesy phrase that ends at a token, or the token.
func (m *Message) behind(from, to int) int {
	for i := from; i < to; i++ {
		hit, ok := lexicon.Find(&m.lex.Frames, m.Tokens[:to], i)
		if ok && i+hit.Tokens == to && (hit.Value == lexicon.FrameBehind || hit.Value == lexicon.FrameOrders || hit.Value == lexicon.FrameWhole && m.Tokens[i].Break) && !touches(m, i, to) {
			return i
		}
	}
	return to
}

// touches reports whether a run contains a typed value or a name, which no courtesy phrase does.
func touches(m *Message, from, to int) bool {
	for i := from; i < to; i++ {
		if m.inEntity[i] && m.Tokens[i].Is(tokenize.FormDigits|tokenize.FormMixed) || m.Tokens[i].Is(tokenize.FormQuoted|tokenize.FormMixed) {
			return true
		}
	}
	return false
}

func (m *Message) mark(from, to int) int {
	for i := from; i < to; i++ {
		m.frame[i] = true
	}
	return to
}

// commands reports whether a run contains a request verb that is not reported as done.
func (m *Message) commands(from, to int) bool {
	for i := from; i < to; i++ {
		if m.frame[i] || !m.word(i) || !m.bids(i) || m.named(i) || m.kin(i) == 0 && (m.is(i, lexicon.Article) || m.has(i, lexicon.Asks) && !m.is(i, lexicon.Asks)) {
			continue
		}
		if m.kin(i) == 0 && i > from && m.is(i-1, lexicon.Subject) && !m.is(i-1, lexicon.Article) && !m.Tokens[i].Break {
			continue // "I keep missing it" is no command
		}
		if !m.perfect(from, i) {
			return true
		}
	}
	return m.wants(from, to)
}

// named reports whether a verb is used as a noun: "the book", "her request", "of no use".
func (m *Message) named(i int) bool {
	if i == 0 || m.Tokens[i].Break {
		return false
	}
	noun := m.lex.Languages[m.language].Capitalises && m.Tokens[i].Is(tokenize.FormTitle) && !m.Tokens[i].Is(tokenize.FormFirst)
	elided := strings.ContainsAny(m.gap(i), "'’") && !m.lex.Infinitive(m.Tokens[i].Fold) // elision such as "d'avis"
	return noun || elided || m.is(i-1, lexicon.Article) || m.is(i-1, lexicon.Denial) && m.is(i-2, lexicon.PrepOther) || m.has(i-1, lexicon.Pronoun) && !m.is(i-1, lexicon.Subject)
}

// perfect reports whether a verb reports the past: "I cancelled", "was moved", "ich habe …
// storniert".
func (m *Message) perfect(from, i int) bool {
	fold := m.Tokens[i].Fold
	if i > from && (strings.HasSuffix(fold, "ed") || m.is(i, lexicon.Reports) || m.is(i-1, lexicon.Helps) && m.headFirst()) {
		return true // such as "lo ha pedido"
	}
	for k := max(from, i-3); k < i; k++ {
		if m.is(k, lexicon.Past) && !m.is(k, lexicon.Subject) {
			return true
		}
	}
	return false
}

// wants reports whether a run contains a verb of wanting with an object that is not negated: "she
// needs two days".
func (m *Message) wants(from, to int) bool {
	for i := from; i < min(to, from+5); i++ {
		if m.is(i, lexicon.Want) {
			return i+1 < to && !denied(m, from, to) && !m.past(from, i)
		}
	}
	return false
}

// Wants reports whether a run says what somebody wants or needs, and contains no command: "Ana
// needs tomorrow off".
func (m *Message) Wants(from, to int) bool {
	if m.Ordered(from, to) {
		return true
	}
	wanted := false
	for i := from; i < to; i++ {
		switch {
		case m.is(i, lexicon.Want):
			wanted = true
		case m.word(i) && m.kin(i) != 0 && m.bids(i) && !m.named(i) && (i == from || wanted):
			return false // "she wants to cancel it", "cancel what she needs"
		}
	}
	return wanted && m.wants(from, to)
}

// Framed reports whether a courtesy phrase precedes a token.
func (m *Message) Framed(i int) bool {
	if i >= len(m.Tokens) || m.Tokens[i].Is(tokenize.FormFirst) {
		return false
	}
	for i > 0 && m.isCoordinating(i-1) {
		i--
	}
	if k := slices.IndexFunc(m.Segments, func(s Segment) bool { return s.From == i }); k > 1 && m.Segments[k-1].Kind == Reason && m.Segments[k-2].Kind == Courtesy && !m.Segments[k].starts {
		return true // such as "could you, since she is away, book …"
	}
	return i > 0 && m.frame[i-1]
}

// Amid reports whether a token is courtesy in the middle of a command, whose parts belong
// together.
func (m *Message) Amid(i int) bool {
	k := slices.IndexFunc(m.Segments, func(s Segment) bool { return s.From <= i && i < s.To && s.Kind == Open })
	if k < 0 || !m.frame[i] {
		return false
	}
	s := m.Segments[k]
	return slices.Contains(m.frame[s.From:i], false) && slices.Contains(m.frame[i:s.To], false)
}

// Asking returns the tokens, which begin at index from of the message, without courtesy in the
// middle of a command, as in "öffne bitte das Tor". A nil message returns all.
func (m *Message) Asking(tokens []tokenize.Token, from int) []tokenize.Token {
	if m == nil {
		return tokens
	}
	out := make([]tokenize.Token, 0, len(tokens))
	for i, t := range tokens {
		if !m.Amid(from + i) {
			out = append(out, t)
		}
	}
	return out
}

// Silent marks the tokens that ask for nothing: courtesy and statements. If that applies to all
// tokens, it marks none.
func (m *Message) Silent() []bool {
	out := slices.Clone(m.frame)
	for _, s := range m.Segments {
		for i := s.From; i < s.To && s.Kind.Silent(); i++ {
			out[i] = true
		}
	}
	if !slices.Contains(out, false) {
		clear(out)
	}
	return out
}
