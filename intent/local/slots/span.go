package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// maxSpans limits how many candidate spans of a request are weighed.
const maxSpans = 40

// span is a candidate run of tokens with its context.
type span struct {
	first, last int
	// proper is set if the span is written as a name.
	proper bool
	// prep is the preposition that governs the span, or ""; governor is its index, or that of the
	// token before the span.
	prep     string
	governor int
	// cut is the number of adjacent content words that the span leaves out. bridged is set if it
	// contains a word such as "of".
	cut     int
	severed int // cost of names left out behind a particle
	bridged bool
	quoted  bool
	// comma is set for two names separated by a comma: "Porto, Portugal".
	comma bool
	// calendar is set for a time in words, such as "next month".
	calendar bool
	// code is set for a path, a version or an address; raw is its text with punctuation.
	code bool
	raw  string
	// currency is the code of a named currency.
	currency string
	// bracketed is set for a list in brackets.
	bracketed bool
	// items are the items of a list.
	items []span
}

// field holds the tokens of a request that no value covers yet, and the candidate spans among
// them.
type field struct {
	*passage
	taken []bool // by token, relative to from
	spans []span
	// asked is the number of open required parameters, places the number of parameters that are
	// places, names the number of names in the text.
	asked, places, names int
	// unknownRuns is the number of runs of words outside the request vocabulary.
	unknownRuns int
	// entityAt holds the typed values by token.
	entityAt map[int]values.Entity
	// numberAt holds the tokens of numbers.
	numberAt map[int]bool
	// english is set for an English text, in which "a" is no preposition.
	english bool
	// uncapitalised is set for a text without capitals, in which lower case indicates nothing.
	uncapitalised bool
	// takesMoney is set if an open parameter is a currency, speech if one holds speech.
	takesMoney, speech bool
	// takesList is set if an open parameter takes only lists.
	takesList bool
	// innerCost holds the cost of beginning a span at a token inside a longer name.
	innerCost map[int]int
}

// content reports whether a token may belong to a value.
func (f *field) content(i int) bool {
	if i < f.from || i >= f.to || f.taken[i-f.from] {
		return false
	}
	t := f.doc.Tokens[i]
	if t.Is(tokenize.FormQuoted) || t.Fold == "s" && t.Glued || f.spelling.Honours(i) {
		return false
	}
	if f.opensName(i) || f.speech && f.set.tools.Lexicon.Filler(t.Fold) && !f.set.tools.Lexicon.FunctionWord(t.Fold) && i > f.from && !f.endsRequest(i-1) {
		return true
	}
	if f.light(i) {
		// "The Who" and "Los Angeles" contain a stop word that is part of the name.
		return t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst) && (f.besideName(i, i+1) || f.besideName(i-1, i))
	}
	return true
}

// opensName reports whether a token begins a name in a text without capitals: "são paulo".
func (f *field) opensName(i int) bool {
	next := i + 1
	return f.uncapitalised && f.english && f.set.tools.cues.Openers[f.doc.Tokens[i].Fold] && next < f.to && !f.doc.Tokens[next].Break &&
		!f.light(next) && !f.known(next) && !f.taken[next-f.from]
}

// besideName reports whether one of two adjacent tokens is a name by itself.
func (f *field) besideName(i, j int) bool {
	if i < f.from || j >= f.to || f.doc.Tokens[j].Break {
		return false
	}
	k := j
	if f.light(j) {
		k = i
	}
	return !f.light(k) && !f.taken[k-f.from] && f.capital(k)
}

// light reports whether a token is a function word that carries no value.
func (f *field) light(i int) bool {
	t := f.doc.Tokens[i]
	if t.Is(tokenize.FormCaps) || f.isLetter(i) {
		return false
	}
	_, prep := f.set.tools.cues.Preps[t.Fold]
	return prep || t.Has(lexicon.Subject) || f.set.tools.Lexicon.StopWord(t.Fold) || f.set.tools.cues.Deictic[t.Fold] || f.set.tools.cues.Unsaid[t.Fold] || f.set.tools.cues.Verbal[t.Fold]
}

// capital reports whether a token is written as a name. A capital at the start of a sentence does
// not count.
func (f *field) capital(i int) bool {
	t := f.doc.Tokens[i]
	switch {
	case t.Is(tokenize.FormMixed):
		return true
	case t.Is(tokenize.FormCaps) && !f.set.tools.cues.Code[t.Stem]:
		return !f.known(i) || i > f.from && f.doc.Tokens[i-1].Is(tokenize.FormTitle)
	case f.set.tools.cues.Code[t.Stem]:
		return false // "ID" and "No" introduce a code
	case f.isLetter(i):
		return true
	}
	return t.Is(tokenize.FormTitle) && (!t.Is(tokenize.FormFirst) || f.spelling.BeginsName(i))
}

// isLetter reports whether a token is a single capital that may be (part of) a name, such as "C" in
// "vitamin C".
func (f *field) isLetter(i int) bool {
	t := f.doc.Tokens[i]
	if t.End-t.Start != 1 || t.Is(tokenize.FormFirst) || t.Fold == "i" {
		return false
	}
	c := f.doc.Src[t.Start]
	return c >= 'A' && c <= 'Z'
}

// follows reports whether token i continues the run of token i-1.
func (f *field) follows(i int) bool {
	if _, _, code := f.codeAt(i); code {
		return false
	}
	return f.content(i) && (!f.doc.Tokens[i].Break || f.doc.Tokens[i].Glued || f.afterTitle(i))
}

// afterTitle reports whether only the dot of a title such as "Dr." precedes a token.
func (f *field) afterTitle(i int) bool {
	return i > f.from && f.set.tools.cues.Titles[f.doc.Tokens[i-1].Fold] && f.wording.Gap(i-1, i) == ". "
}

// find collects the candidate spans from left to right.
func (f *field) find() {
	var items []span
	for i := f.from; i < f.to; {
		end := i
		if last, ok := f.relativeTime(i); ok {
			f.add(span{first: i, last: last, calendar: true})
		}
		if last, ok := f.currencyAt(i); ok {
			end = last
		}
		raw, last, code := f.codeAt(i)
		if whole, to, is := values.FormulaAt(f.doc, i, f.to); is && to >= last && !slices.Contains(f.taken[i-f.from:to+1-f.from], true) {
			raw, last, code = whole, to, true
		}
		switch {
		case code:
			end = last
			items = append(items, f.add(span{first: i, last: end, code: true, raw: raw}))
		case f.doc.Tokens[i].Is(tokenize.FormQuoted) && !f.taken[i-f.from]:
			for end+1 < f.to && f.doc.Tokens[end+1].Is(tokenize.FormQuoted) && !ClosesQuote(f.wording.Gap(end, end+1)) {
				end++
			}
			if i > f.from || end < f.to-1 {
				items = append(items, f.add(span{first: i, last: end, quoted: true}))
			}
		case f.content(i):
			for end+1 < f.to && f.follows(end+1) {
				end++
			}
			items = append(items, f.chunk(i, end))
		}
		i = end + 1
	}
	f.countNames(items)
	f.lists(items)
}

// countNames counts the names, and adds two names separated by a comma as one span.
func (f *field) countNames(items []span) {
	for k, s := range items {
		listed := f.takesList && k > 0 && f.listed(items[k-1], s)
		if s.proper && f.innerCost[s.first] == 0 && !listed {
			f.names++
		}
		if !listed && !s.proper && !f.knownRun(s) {
			f.unknownRuns++
		}
		if k > 0 && s.proper && items[k-1].proper && s.first == items[k-1].last+1 && strings.TrimSpace(f.wording.Gap(s.first-1, s.first)) == "," {
			f.add(span{first: items[k-1].first, last: s.last, proper: true, comma: true})
			if f.places == 1 {
				f.names--
			}
		}
	}
}

// knownRun reports whether a span consists of request words.
func (f *field) knownRun(s span) bool {
	for i := s.first; i <= s.last; i++ {
		if !f.known(i) && !f.verbal(i) {
			return false
		}
	}
	return true
}

// relativeTime matches expressions such as "next month" and "this weekend".
func (f *field) relativeTime(i int) (last int, ok bool) {
	c := f.set.tools.cues
	if !c.Deictic[f.doc.Tokens[i].Fold] || i+1 >= f.to || f.taken[i-f.from] || f.taken[i+1-f.from] || f.doc.Tokens[i+1].Break {
		return 0, false
	}
	fold := f.doc.Tokens[i+1].Fold
	return i + 1, c.Calendar[fold] || c.Names[f.doc.Tokens[i+1].Stem]&SenseTime != 0 || fold == "week" || fold == "quarter"
}

func (f *field) add(s span) span {
	s.governor, s.prep = f.governed(s.first)
	if len(f.spans) >= maxSpans || s.last < s.first || s.last-s.first >= MaxNameTokens && !s.quoted {
		return s
	}
	for _, o := range f.spans {
		if o.first == s.first && o.last == s.last {
			return o
		}
	}
	f.spans = append(f.spans, s)
	return s
}

// governed returns the governor of a span: the preposition before it, skipping articles, or the
// token right before it. Behind "and" it is the governor of the coordinated span.
func (f *field) governed(first int) (int, string) {
	for j := first - 1; j >= f.from && j >= first-4; j-- {
		t := f.doc.Tokens[j]
		if f.doc.Tokens[j+1].Break && !f.doc.Tokens[j+1].Glued || IsCoordination(t.Fold) && t.Fold != "to" && t.Fold != "with" {
			return f.neighbour(j, first)
		}
		if _, ok := f.set.tools.cues.Preposition(t.Fold, f.english); ok {
			return j, t.Fold
		}
		if f.content(j) || f.taken[j-f.from] {
			return j, ""
		}
	}
	return first - 1, ""
}

// neighbour returns the governor of the span before a comma or "and".
func (f *field) neighbour(j, first int) (int, string) {
	for _, o := range slices.Backward(f.spans) {
		if o.last < first && o.last >= j-1 {
			return o.governor, o.prep
		}
	}
	return first - 1, ""
}
