package slots

import (
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Tools are what all sets share.
type Tools struct {
	Lexicon *tokenize.Lexicon
	Scanner *values.Scanner

	cues    *Cues
	weights weights
	prior   weights
}

// english tells English from the others; shared are prepositions of others that are
// words of another kind in English.
const (
	english = "the an is are was were of to for with from what how who where which and my me you i please find get show give can could would need want at by this that it in"
	shared  = "a no do as um am on per des du en em au aux par pour con des bei"
)

// NewTools prepares the tables of words.
func NewTools() *Tools {
	lex := tokenize.NewLexicon()
	return &Tools{Lexicon: lex, Scanner: values.NewScanner(lex), cues: NewCues(lex.Lexica, english, shared), weights: shippedWeights(), prior: priorWeights()}
}

// Set is everything that helps to fill the parameters of one capability. It is
// made once for each snapshot and never changed after.
type Set struct {
	tools    *Tools
	params   []*param
	view     *contracts.SchemaView
	required Requirements
	// phrases are the known values, by their first folded word.
	phrases map[string][]phrase
	// spoken are those that were collected, while the set is made.
	spoken map[spokenValue]bool
	// fuzzy are the known values of one long word.
	fuzzy []phrase
	// vocabulary are the stems that belong to the request itself.
	vocabulary map[string]bool
	// kinds are those of its verbs.
	kinds lexicon.Kinds
	// long are its words of five letters or more as they are written, sorted.
	long []string
	// known are the words that the capability is asked for with.
	known KnownWords
	// writes tells that the capability has an effect.
	writes bool
	// counted are parameters whose values stand behind a number in the examples: "40 boxes".
	counted []*param
	// aliased are the folded words of its aliases, but for those of grammar.
	aliased map[string]bool
	// informing is the switch that says whether somebody is told, informed who it is.
	informing *param
	informed  []string
	// verbatim is the parameter that takes the request in its own words, "" for none.
	verbatim string
}

// Compile reads the schema, the specs and the examples of a capability, and what those of
// its domain have in common with it; nil for none.
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

// know adds the words of the author's texts to the vocabulary.
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

// Knows reports whether a token belongs to the request itself, not to a value.
func (s *Set) Knows(t tokenize.Token) bool { return s.vocabulary[t.Stem] }

// learn aligns one example sentence with the values that it holds, and keeps
// the words that stand before and after them.
func (s *Set) learn(example string) {
	doc := values.NewDoc(example, tokenize.Tokens(example))
	r := &reading{passage: newPassage(scope{
		set: s, doc: doc, from: 0, to: len(doc.Tokens),
		entities: s.entities(&Message{Doc: doc, Entities: s.tools.Scanner.Scan(doc, exampleDay())}), quotes: tokenize.Quotes(example), now: exampleDay(), learning: true,
	})}
	r.collect()
	covered, found := make([]bool, len(doc.Tokens)), r.solver().solve()
	if m, ok := untold(r, found); ok {
		found = append(found, m)
		addUntold(s, r, m)
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
			continue // its neighbour is another item
		}
		// Another value beside it announces nothing.
		if m.first == 0 || !covered[m.first-1] {
			m.param.lefts[r.wording.LeftAt(m.first-1)]++
		}
		if m.last+1 == len(covered) || !covered[m.last+1] {
			m.param.rights[r.wording.LeftAt(m.last+1)]++
		}
	}
	for i, t := range doc.Tokens {
		if !covered[i] && !t.Is(tokenize.FormDigits|tokenize.FormMixed) {
			s.knowToken(t)
			s.known.Add(t)
		}
	}
}

// exampleDay stands for today in example sentences; only the places of dates
// matter there.
func exampleDay() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// Range is a run of tokens, [From, To).
type Range struct{ From, To int }

// Filled is the result of slot filling.
type Filled struct {
	Values   map[string]any
	Evidence map[string]contracts.Evidence
	// Missing are the parameters that somebody must be asked for: required ones
	// without a value, and any whose value could be read in two ways.
	Missing []string
	// Contested is the number of parameters that the text gives two values.
	Contested int
	// Several are values that stand beside each other, such as "C-1 and C-2", for a
	// parameter that takes one.
	Several map[string][]Mention
	// unclear are the parameters whose value could be read in two ways.
	unclear []string
	// Covered tells for each token of the range whether it belongs to a value.
	Covered []bool
}

// Whole tells that nothing that is needed is missing, where each of several values in a row
// becomes a request of its own.
func (f *Filled) Whole() bool {
	switch len(f.Missing) {
	case 0:
		return true
	case 1:
		return len(f.Several) == 1 && len(f.Several[f.Missing[0]]) > 1
	}
	return false
}

// Message is a text with what was read in it once for all capabilities.
type Message struct {
	*values.Doc

	Entities []values.Entity
	// Quotes are the quoted parts, without their marks.
	Quotes []tokenize.Span
	// Now resolves relative dates; zero leaves them unread.
	Now time.Time
}

// large is the least number that says in words no more than in digits.
const large = 20

// Read cuts a text and finds its typed values.
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
	for i := 1; i < len(m.Tokens); i++ { // nor that of "Dr. Brandt"
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

// ordinal tells a number with a dot between a word of grammar and a noun, as in "im 4.
// Stock": its dot ends no sentence.
func ordinal(src string, around []tokenize.Token) bool {
	before, number, noun := around[0], around[1], around[2]
	return number.Is(tokenize.FormDigits) && number.End-number.Start <= 2 && src[number.End:noun.Start] == ". " &&
		before.Has(lexicon.Function) && noun.Is(tokenize.FormTitle) && !noun.Has(lexicon.Function) && !noun.Has(lexicon.Opening)
}

// Fill reads values from a part of a message. A non-empty only limits the
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

// entities are the typed values of a message. Where a capability takes a day and a time
// each by itself they are two, and where it takes no days, "in 5 years" is a number of
// years.
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

// timed tells a capability that takes a day in one parameter and a time in another.
func timed(s *Set) bool {
	return slices.ContainsFunc(s.params, func(p *param) bool { return p.format == "date" }) && slices.ContainsFunc(s.params, (*param).takesClock)
}

// splitDateTimes cuts each date that has a time behind it.
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

// Answer reads the answer to a question about some parameters. If it was about
// one and nothing in the answer stands out, the whole answer may be its value.
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

// behindAnnouncement gives the first token of an answer behind a preposition
// that only announces it, as in "in Lisbon".
func behindAnnouncement(s *Set, p *param, m *Message) int {
	if len(m.Tokens) > 1 && s.tools.cues.Preps[m.Tokens[0].Fold]&p.sense != 0 {
		return 1
	}
	return 0
}

// refuses tells an answer that only says no, or that refers to something else.
func refuses(s *Set, m *Message) bool {
	for _, t := range m.Tokens {
		if !s.tools.Lexicon.StopWord(t.Fold) && !IsNegation(t.Fold) && t.Fold != "mind" && t.Fold != "cancel" {
			return false
		}
	}
	return true
}

// ParameterTexts gives the texts that the parameters add to what a capability is about:
// names, descriptions, members of enums and aliases.
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

// NearlyKnows reports whether a word differs by one letter from one that belongs
// to the request, or only by its ending, as the forms of a verb do.
func (s *Set) NearlyKnows(fold string) bool {
	for _, w := range s.long {
		if NearSpelling(fold, w) || SameInflection(fold, w) {
			return true
		}
	}
	return false
}
