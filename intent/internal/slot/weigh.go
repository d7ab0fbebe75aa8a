package slot

import (
	"slices"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// The evidence for a span as the value of a parameter.
const (
	evBias = iota
	evOptional
	evProper         // written as a name
	evProperExpected // and the parameter takes names
	evProperOdd      // but the parameter takes ordinary words
	evPlainExpected  // ordinary words, and the parameter takes them
	evPlainOdd       // ordinary words, but the parameter takes names
	evPrepFits       // the preposition announces what the parameter is about
	evPrepOther      // it announces something else
	evPrepTaken      // it announces what another parameter is about
	evPrepAny        // it announces nothing in particular
	evBare           // a content word stands right before
	evNameBefore     // the parameter's own name stands before
	evNameAfter      // or right behind
	evNameInside     // or is part of a name, as in "Harbour Hotel"
	evOwnWord        // a word of its description stands beside
	evOtherName      // the name of another parameter stands beside
	evKnown          // share of its words that the request knows
	evCut            // content words that it leaves out
	evBridged        // it goes on over "of"
	evDigits         // it has digits
	evCode           // digits where a code is expected
	evLearned        // a word that stood before values in the examples
	evCalendarOdd    // the same where none is
	evCalendar       // a month or a day of the week where a time is expected
	evStart          // it begins the sentence
	evApposition     // a comma stands before
	evNews           // words that the request does not know, and that it explains
	evSole           // nothing else is asked for
	evSoleProper     // as many names as are asked for
	evModifies       // a word of the description stands right behind
	evQuoted         // it stands in quotation marks
	evSpeech         // several words in quotation marks: 1 where the parameter holds what somebody says, else -1
	evList           // it is a list, and the parameter takes one
	evListOdd        // it is no list, but the parameter takes one
	evCount
)

// weights are log-odds against leaving the parameter empty.
type weights [evCount]float64

// weigh collects the evidence for a span as the value of a parameter.
func (f *field) weigh(p *param, s span) [evCount]float64 {
	var ev [evCount]float64
	ev[evBias] = 1
	switch {
	case len(s.items) > 0:
		ev[evList] = 1
	case p.single == "":
		ev[evListOdd] = 1
	}
	if !p.required && len(f.only) == 0 {
		ev[evOptional] = 1
	}
	f.surroundings(p, s, &ev)
	f.alone(p, s, &ev)
	if s.quoted {
		ev[evQuoted] = 1
		if s.last-s.first >= severalWords {
			ev[evSpeech] = -1
			if p.speaks(f.set.tools.cues) {
				ev[evSpeech] = 1
			}
		}
		return ev
	}
	f.form(p, s, &ev)
	known, digits := 0.0, false
	for i := s.first; i <= s.last; i++ {
		t := f.doc.Tokens[i]
		digits = digits || t.Is(text.FormDigits|text.FormMixed)
		if f.known(i) && (!s.proper || s.last == s.first) && !s.calendar {
			known++
		}
	}
	ev[evKnown] = known / float64(s.last-s.first+1)
	ev[evCut] = float64(min(s.cut, 2))
	ev[evNews] = min(float64(s.last-s.first+1)-known, 4)
	if s.bridged {
		ev[evBridged] = 1
	}
	if digits {
		ev[evDigits] = 1
		if slices.ContainsFunc(p.words, func(w string) bool { return f.set.tools.cues.code[w] }) {
			ev[evCode] = 1
		}
	}
	return ev
}

// alone tells that there is little choice: one parameter, one name.
func (f *field) alone(p *param, s span, ev *[evCount]float64) {
	if f.asked == 1 && p.required {
		ev[evSole] = 1
	}
	if s.proper && p.required && f.names == f.asked && len(s.items) == 0 && ev[evPrepTaken] == 0 && ev[evPrepOther] == 0 {
		ev[evSoleProper] = 1
	}
}

// form compares how the span is written with how values of the parameter are.
func (f *field) form(p *param, s span, ev *[evCount]float64) {
	c := f.set.tools.cues
	named := p.written.capitals() || p.written.proper == 0 && p.written.plain == 0 && slices.ContainsFunc(p.words, func(w string) bool { return c.proper[w] })
	switch {
	case s.proper && named:
		ev[evProper], ev[evProperExpected] = 1, 1
	case s.proper && p.written.letters():
		ev[evProper], ev[evProperOdd] = 1, 1
	case s.proper:
		ev[evProper] = 1
	case named:
		ev[evPlainOdd] = 1
	case p.written.letters():
		ev[evPlainExpected] = 1
	}
	switch timed := s.calendar || c.calendar[f.doc.Tokens[s.last].Fold]; {
	case timed && p.sense&senseTime != 0:
		ev[evCalendar] = 1
	case timed:
		ev[evCalendarOdd] = 1
	}
}

// surroundings looks at the words around the span.
func (f *field) surroundings(p *param, s span, ev *[evCount]float64) {
	if s.proper && s.last > s.first {
		f.inside(p, s, ev)
	}
	f.governance(p, s, ev)
	if f.namesBefore(p, s.first) {
		ev[evNameBefore] = 1
	}
	f.behind(p, s, ev)
	left := f.stemAt(s.governor)
	switch {
	case s.prep != "":
		if s.governor > f.from && p.own[f.stemAt(s.governor-1)] {
			ev[evOwnWord] = 1
		}
	case ev[evNameBefore] != 0:
	case p.own[left]:
		ev[evOwnWord] = 1
	case f.namesOther(p, left):
		ev[evOtherName] = 1
	}
	if f.expects(p.lefts, s.first-1) || s.governor >= f.from && f.expects(p.lefts, s.governor) {
		ev[evLearned] = 1
	}
	switch {
	case f.doc.Tokens[s.first].Is(text.FormFirst):
		ev[evStart] = 1
	case s.first > f.from && f.doc.Tokens[s.first].Break && ev[evNameBefore] == 0:
		ev[evApposition] = 1
	}
}

// inside looks for names of parameters in a name: "Harbour Hotel" is a hotel and
// no city, whatever stands before it.
func (f *field) inside(p *param, s span, ev *[evCount]float64) {
	for i := s.first; i <= s.last; i++ {
		stem := f.doc.Tokens[i].Stem
		switch {
		case slices.Contains(p.words, stem):
			ev[evNameInside] = 1
		case f.namesOther(p, stem):
			ev[evOtherName] = 1
		}
	}
}

// governance compares what the preposition announces with what the parameter is
// about. Where it announces a time beside something else, it does so only for a
// parameter that is a time.
func (f *field) governance(p *param, s span, ev *[evCount]float64) {
	announced := f.set.tools.cues.preps[s.prep]
	if p.sense&senseTime == 0 {
		announced &^= senseTime
	}
	switch {
	case s.prep != "" && p.sense&announced != 0:
		ev[evPrepFits] = 1
	case s.prep != "" && p.sense != 0 && announced != 0:
		ev[evPrepOther] = 1
	case s.prep != "" && ev[evNameInside] == 0 && f.announcesOther(p, announced, s.proper):
		ev[evPrepTaken] = 1
	case s.prep != "":
		ev[evPrepAny] = 1
	case s.first > f.from && !f.doc.Tokens[s.first].Break && s.governor == s.first-1 && f.content(s.first-1):
		ev[evBare] = 1
	}
}

// behind looks at the word right behind the span.
func (f *field) behind(p *param, s span, ev *[evCount]float64) {
	right := s.last + 1
	if right >= f.to || f.doc.Tokens[right].Break {
		return
	}
	t := f.doc.Tokens[right]
	switch {
	case slices.Contains(p.words, t.Stem):
		ev[evNameAfter] = 1
	case p.own[t.Stem]:
		ev[evOwnWord] = 1
	case f.namesOther(p, t.Stem):
		ev[evOtherName] = 1
	case p.desc[t.Stem] && f.content(right):
		ev[evModifies] = 1
	}
}

// announcesOther tells whether a preposition announces what another parameter
// is about. A name behind "in" is a place, other words may be anything.
func (f *field) announcesOther(p *param, announced sense, proper bool) bool {
	if !proper && announced&(sensePlace|senseTime) != 0 {
		return false
	}
	return announced != 0 && slices.ContainsFunc(f.set.params, func(q *param) bool { return q != p && q.free() && q.sense&announced != 0 })
}

// namesBefore tells whether the name of the parameter stands before a place,
// with nothing but words such as "is", an article or a comma between.
func (f *field) namesBefore(p *param, i int) bool {
	for j := i - 1; j >= f.from && j >= i-3; j-- {
		t := f.doc.Tokens[j]
		if slices.Contains(p.words, t.Stem) && !f.set.tools.Lexicon.Light(t.Fold) {
			return true
		}
		if !links(t.Fold) && !f.set.tools.cues.article(t.Fold) {
			return false
		}
	}
	return false
}

func (c *cues) article(fold string) bool {
	switch fold {
	case "the", "a", "an", "of", "o", "os", "as", "um", "uma", "el", "la", "los", "las", "der", "die", "das", "dem", "den", "ein", "eine", "le", "les", "is", "e", "ist", "est":
		return true
	}
	return false
}

func (f *field) namesOther(p *param, stem string) bool {
	if f.set.tools.Lexicon.Light(stem) {
		return false
	}
	return slices.ContainsFunc(f.set.params, func(q *param) bool {
		return q != p && slices.Contains(q.words, stem) && !slices.Contains(p.words, stem)
	})
}

// shippedWeights come with the program.
func shippedWeights() weights {
	return weights{
		evBias: -1.3, evOptional: -2.4, evProper: 0.7, evProperExpected: 0.8, evProperOdd: -1.2, evPlainExpected: 0.2, evPlainOdd: -1.9,
		evPrepFits: 2.4, evPrepOther: -0.5, evPrepTaken: -0.9, evPrepAny: 0.6, evBare: 0, evNameBefore: 1.8, evNameAfter: 1.9, evNameInside: 1.5, evOwnWord: 0.6, evOtherName: -1,
		evKnown: -3.3, evCut: -1.1, evBridged: 0.3, evDigits: 0, evCode: 1.7, evLearned: 1.2, evCalendar: 2, evCalendarOdd: -2, evStart: -2, evApposition: -1.2,
		evNews: 0.3, evSole: -0.2, evSoleProper: 1.8, evModifies: 1.1,
		evQuoted: 2.5, evSpeech: 1, evList: 0.5, evListOdd: -2,
	}
}
