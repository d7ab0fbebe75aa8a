package slots

import (
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Tools holds the lexicon, scanner and weights that all sets share.
type Tools struct {
	Lexicon *tokenize.Lexicon
	Scanner *values.Scanner

	cues    *Cues
	weights weights
	prior   weights
	// known holds the tokens of texts that were read before; nil if they are not kept.
	known *sync.Map
}

// WithTokenCache returns the same tools, which keep the tokens of texts: for the folds of a
// calibration, whose indexes have most texts in common.
func (t *Tools) WithTokenCache() *Tools {
	out := *t
	out.known = new(sync.Map)
	return &out
}

// Tokens returns the tokens of a manifest text, which nobody may change.
func (t *Tools) Tokens(text string, now time.Time) []tokenize.Token {
	if t.known == nil {
		return t.Read(text, now).Tokens
	}
	if known, ok := t.known.Load(text); ok {
		tokens, _ := known.([]tokenize.Token)
		return tokens
	}
	tokens := t.Read(text, now).Tokens
	t.known.Store(text, tokens)
	return tokens
}

// english holds function words that indicate English; shared holds prepositions of other languages
// that are other words in English.
const (
	english = "the an is are was were of to for with from what how who where which and my me you i please find get show give can could would need want at by this that it in"
	shared  = "a no do as um am on per des du en em au aux par pour con des bei"
)

// NewTools returns the tools with the shipped weights.
func NewTools() *Tools {
	lex := tokenize.NewLexicon()
	return &Tools{Lexicon: lex, Scanner: values.NewScanner(lex), cues: NewCues(lex.Lexica, english, shared), weights: shippedWeights(), prior: priorWeights()}
}

// Set is the compiled slot filler of one capability. It is compiled once per catalog snapshot and
// immutable.
type Set struct {
	tools    *Tools
	params   []*param
	view     *contracts.SchemaView
	required Requirements
	// phrases holds the known values by their first folded word.
	phrases map[string][]phrase
	// spoken deduplicates known values during compilation.
	spoken map[spokenValue]bool
	// fuzzy holds the known values of one long word.
	fuzzy []phrase
	// vocabulary holds the stems of the request words.
	vocabulary map[string]bool
	// kinds are the kinds of the request verbs.
	kinds lexicon.Kinds
	// long holds the request words of five letters or more, sorted.
	long []string
	// known is the request vocabulary without values.
	known KnownWords
	// writes reports whether the capability has side effects.
	writes bool
	// counted holds the parameters whose values follow a number in the examples: "40 boxes".
	counted []*param
	// aliased holds the folded words of the aliases, except function words.
	aliased map[string]bool
	// informing is the boolean parameter that reports whether to notify somebody, informed
	// the stems of the recipient.
	informing *param
	informed  []string
	// verbatim is the parameter that takes the request verbatim, "" for none.
	verbatim string
}

// Compile compiles the schema, the parameter specs and the examples of a capability. family adds
// values from other capabilities of its domain; it may be nil.
func Compile(tools *Tools, entry *contracts.CapabilityEntry, domainTitle string, family *Family) *Set {
	c := entry.Capability
	s := &Set{tools: tools, phrases: map[string][]phrase{}, vocabulary: map[string]bool{}}
	s.writes = c.Metadata.SideEffectClass.Writes()
	s.compileParams(c)
	s.compilePhrases(c, family)
	s.know(tokenize.SplitName(c.Name), c.Description, tokenize.SplitName(entry.Domain), domainTitle)
	for _, p := range s.params {
		s.know(tokenize.SplitName(p.single), tokenize.SplitName(p.list))
	}
	if h := c.Metadata.IntentHints; h != nil {
		s.know(h.Keywords...)
		for _, example := range h.Examples {
			s.learn(example)
		}
	}
	slices.Sort(s.long)
	s.long = slices.Compact(s.long)
	collect(s, entry, domainTitle)
	return s
}

// know adds the words of manifest texts to the vocabulary.
func (s *Set) know(texts ...string) {
	for _, t := range texts {
		for _, token := range tokenize.Tokens(t) {
			s.knowToken(token)
		}
	}
}

func (s *Set) knowToken(t tokenize.Token) {
	s.vocabulary[t.Stem] = true
	s.kinds |= s.tools.Lexicon.Kin(t.Fold).Asked()
	if len(t.Fold) >= 5 {
		s.long = append(s.long, t.Fold)
	}
}

// Knows reports whether a token is a request word and no value.
func (s *Set) Knows(t tokenize.Token) bool { return s.vocabulary[t.Stem] }

// learn aligns an example sentence with the values in it, and records the words before and after
// them.
func (s *Set) learn(example string) {
	doc := values.NewDoc(example, tokenize.Tokens(example))
	r := &reading{passage: newPassage(scope{
		set: s, doc: doc, from: 0, to: len(doc.Tokens),
		entities: s.entities(&Message{Doc: doc, Entities: s.tools.Scanner.Scan(doc, exampleDay())}), quotes: tokenize.Quotes(example), now: exampleDay(), learning: true,
	})}
	r.collect()
	covered, found := make([]bool, len(doc.Tokens)), r.solver().solve()
	if m, ok := unlistedValue(r, found); ok {
		found = append(found, m)
		addUnlistedValue(s, r, m)
	}
	for _, m := range found {
		for i := m.first; i <= m.last; i++ {
			covered[i] = true
		}
	}
	learnCounted(s, doc, found)
	learnLacking(s, doc, covered)
	for _, m := range found {
		if m.item {
			continue // the neighbour is another list item
		}
		// An adjacent value is no context word.
		if m.first == 0 || !covered[m.first-1] {
			m.param.leftContext[r.wording.LeftAt(m.first-1)]++
		}
		if m.last+1 == len(covered) || !covered[m.last+1] {
			m.param.rightContext[r.wording.LeftAt(m.last+1)]++
		}
	}
	for i, t := range doc.Tokens {
		if !covered[i] && !t.Is(tokenize.FormDigits|tokenize.FormMixed) {
			s.knowToken(t)
			s.known.Add(t)
		}
	}
}

// exampleDay is the reference date for examples, in which only the positions of dates matter.
func exampleDay() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// Range is a range of tokens, [From, To).
type Range struct{ From, To int }

// Filled is the result of slot filling.
type Filled struct {
	Values   map[string]any
	Evidence map[string]contracts.Evidence
	// Missing lists the parameters to ask for: required ones without a value, and ambiguous ones.
	Missing []string
	// Contested is the number of parameters with two conflicting values.
	Contested int
	// Several holds coordinated values, such as "C-1 and C-2", for a single-value parameter.
	Several map[string][]Mention
	// unclear lists the ambiguous parameters.
	unclear []string
	// Covered marks the tokens of the range that belong to a value.
	Covered []bool
}

// Whole reports whether nothing is missing, or only a parameter with several coordinated values,
// each of which becomes a separate request.
func (f *Filled) Whole() bool {
	switch len(f.Missing) {
	case 0:
		return true
	case 1:
		return len(f.Several) == 1 && len(f.Several[f.Missing[0]]) > 1
	}
	return false
}

// Message is a text with the entities that all capabilities share.
type Message struct {
	*values.Doc

	Entities []values.Entity
	// Quotes are the quoted spans without quotation marks.
	Quotes []tokenize.Span
	// Now is the reference for relative dates; zero leaves them unread.
	Now time.Time
}

// large is the minimum of a spelled-out number that is treated like one in digits.
const large = 20

// Read tokenizes a text and finds its typed values.
func (t *Tools) Read(src string, now time.Time) *Message {
	doc := values.NewDoc(src, tokenize.Tokens(src))
	m := &Message{Doc: doc, Entities: t.Scanner.Scan(doc, now), Quotes: tokenize.Quotes(src), Now: now}
	for _, e := range m.Entities {
		form := tokenize.Form(0)
		switch {
		case e.Kind == values.Date, e.Kind == values.Clock:
			form = tokenize.FormTimed
		case e.Kind == values.Number && e.Spelled && e.Number >= large:
			form = tokenize.FormCounted
		}
		for i := e.First; i <= e.Last && form != 0; i++ {
			m.Tokens[i].Form |= form
		}
	}
	for k, e := range m.Entities { // the dot of "5. Februar" ends no sentence, nor do those of "vom 5. bis 8. Februar"
		last := e.Last
		if e.Edge == values.Start && k+1 < len(m.Entities) && m.Entities[k+1].Edge == values.End {
			last = m.Entities[k+1].Last
		}
		for i := e.First + 1; i <= last; i++ {
			m.Tokens[i].Form &^= tokenize.FormFirst
			m.Tokens[i].Break = m.Tokens[i].Break && i <= e.Last
		}
	}
	for i := 1; i < len(m.Tokens); i++ { // nor does that of "Dr. Brandt"
		if m.Tokens[i-1].Has(lexicon.Title) && src[m.Tokens[i-1].End:m.Tokens[i].Start] == ". " {
			m.Tokens[i].Form &^= tokenize.FormFirst
			m.Tokens[i].Break = false
		}
	}
	for i := 1; i+1 < len(m.Tokens); i++ {
		if ordinal(src, m.Tokens[i-1:i+2]) {
			m.Tokens[i+1].Form &^= tokenize.FormFirst
			m.Tokens[i+1].Break = false
		}
	}
	return m
}

// ordinal reports whether a number with a dot is an ordinal between a function word and a noun, as
// in "im 4. Stock", so that the dot ends no sentence.
func ordinal(src string, around []tokenize.Token) bool {
	before, number, noun := around[0], around[1], around[2]
	return number.Is(tokenize.FormDigits) && number.End-number.Start <= 2 && src[number.End:noun.Start] == ". " &&
		before.Has(lexicon.Function) && noun.Is(tokenize.FormTitle) && !noun.Has(lexicon.Function) && !noun.Has(lexicon.Opening)
}

// Fill fills the parameters from a range of a message. If only is not empty, it limits the
// parameters.
func (s *Set) Fill(m *Message, part Range, only []string) Filled {
	r := &reading{passage: s.passage(m, part, only)}
	r.collect()
	v := r.solver()
	return v.result(v.solve())
}

func (s *Set) passage(m *Message, part Range, only []string) *passage {
	return newPassage(scope{set: s, doc: m.Doc, from: part.From, to: part.To, entities: s.entities(m), quotes: m.Quotes, now: m.Now, only: only})
}

// entities returns the typed values of a message for this capability. It splits dates from times
// if the capability takes them in separate parameters, and reads "in 5 years" as a number if it
// takes no dates.
func (s *Set) entities(m *Message) []values.Entity {
	if timed(s) {
		return splitDateTimes(m.Doc, m.Entities)
	}
	if slices.ContainsFunc(s.params, (*param).temporal) || !slices.ContainsFunc(m.Entities, distant) {
		return m.Entities
	}
	out := slices.Clone(m.Entities)
	for i, e := range out {
		if distant(e) {
			out[i] = *e.Distance
		}
	}
	return out
}

// timed reports whether a capability takes a date and a time in separate parameters.
func timed(s *Set) bool {
	return slices.ContainsFunc(s.params, func(p *param) bool { return p.format == "date" }) && slices.ContainsFunc(s.params, (*param).takesClock)
}

// splitDateTimes splits each date with a time into two entities.
func splitDateTimes(d *values.Doc, entities []values.Entity) []values.Entity {
	out := make([]values.Entity, 0, len(entities)+1)
	for _, e := range entities {
		day, clock, two := e.Apart(d)
		if out = append(out, day); two {
			out = append(out, clock)
		}
	}
	return out
}

func distant(e values.Entity) bool { return e.Distance != nil }

// Answer fills the parameters of a question from its answer. If the question was about one
// parameter and no value was found, the whole answer may be the value.
func (s *Set) Answer(m *Message, only []string) Filled {
	all := Range{To: len(m.Tokens)}
	f := s.Fill(m, all, only)
	if len(only) != 1 {
		f = s.Complete(m, all, only, f)
	}
	if len(only) != 1 || len(f.Values) > 0 || f.Contested > 0 || all.To == 0 {
		return f
	}
	p := s.byName(only[0])
	if p == nil || refuses(s, m) && p.kind != "boolean" {
		return f
	}
	first := behindAnnouncement(s, p, m)
	span := tokenize.Span{Start: m.Tokens[first].Start, End: m.Tokens[all.To-1].End}
	values, ok := s.parseMany(p, m.Src[span.Start:span.End], false, m.Now)
	if !ok {
		return f
	}
	v := &solver{passage: newPassage(scope{set: s, doc: m.Doc, to: all.To})}
	var mentions []mention
	for _, v := range values {
		mentions = append(mentions, mention{param: p, first: first, last: all.To - 1, value: v, kind: kindAnswer, p: 0.8})
	}
	return v.result(mentions)
}

// behindAnnouncement returns the first token of an answer behind a preposition that fits the
// parameter, as in "in Lisbon".
func behindAnnouncement(s *Set, p *param, m *Message) int {
	if len(m.Tokens) > 1 && s.tools.cues.Preps[m.Tokens[0].Fold]&p.sense != 0 {
		return 1
	}
	return 0
}

// refuses reports whether an answer is only a refusal or refers to something else.
func refuses(s *Set, m *Message) bool {
	for _, t := range m.Tokens {
		if !s.tools.Lexicon.StopWord(t.Fold) && !IsNegation(t.Fold) && t.Fold != "mind" && t.Fold != "cancel" {
			return false
		}
	}
	return true
}

// ParameterTexts returns the texts of the parameters of a capability: names, descriptions, enum
// members and aliases.
func ParameterTexts(c *contracts.Capability) []string {
	var out []string
	for _, pr := range fieldsOf(contracts.ViewSchema(c.Schema)) {
		out = append(out, tokenize.SplitName(pr.leaf()), pr.view.Description)
		for i, v := range pr.view.Enum {
			if word, ok := v.(string); ok {
				out = append(out, tokenize.SplitName(word))
			}
			if label := pr.view.Label(i); label != "" {
				out = append(out, label)
			}
		}
		out = append(out, sortedKeys(c.Metadata.ParameterSpecs[pr.name].Aliases)...)
	}
	return out
}

// NearlyKnows reports whether a word differs from a request word by one letter or by its
// inflection.
func (s *Set) NearlyKnows(fold string) bool {
	for _, w := range s.long {
		if NearSpelling(fold, w) || SameInflection(fold, w) {
			return true
		}
	}
	return false
}
