package slots

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// weigher computes the features of a span or a number as the value of a parameter.
type weigher struct {
	*passage
	field *field
}

// weigh computes the features of a span.
func (f *weigher) weigh(p *param, s span) [evCount]float64 {
	var ev [evCount]float64
	ev[evBias] = 1
	switch {
	case len(s.items) > 0:
		ev[evList] = 1
		if s.bracketed {
			ev[evQuoted] = 1
		}
	case p.single == "":
		ev[evListOdd] = 1
	case f.field.besideLike(s):
		ev[evOneOf] = 1
	}
	if !p.required && len(f.only) == 0 {
		ev[evOptional] = 1
	}
	f.surroundings(p, s, &ev)
	f.alone(p, s, &ev)
	if s.quoted {
		ev[evQuoted] = 1
		if s.last-s.first >= minSpeechLength {
			ev[evSpeech] = -1
			if p.speaks(f.set.tools.cues) {
				ev[evSpeech] = 1
			}
		}
		return ev
	}
	if s.code || s.currency != "" && p.currency() {
		f.written(p, s, &ev)
		return ev
	}
	f.form(p, s, &ev)
	if !s.proper {
		f.lowercaseFeatures(s, &ev)
	} else if p.sense&SenseKind != 0 {
		ev[evKindProper] = 1
	}
	if f.field.endsRequest(s.last) {
		ev[evEnd] = 1
	}
	ev[evSevered] = float64(min(s.severed, 2))
	ev[evCut] = float64(min(s.cut, 2-min(s.severed, 2)))
	if s.bridged {
		ev[evBridged] = 1
	}
	f.inWords(p, s, &ev)
	f.before(p, s, &ev)
	return ev
}

// before sets the features for the token right before the span.
func (f *weigher) before(p *param, s span, ev *[evCount]float64) {
	i := s.first - 1
	if i < f.from || f.doc.Tokens[s.first].Break {
		return
	}
	switch t := f.doc.Tokens[i]; {
	case f.inEntity[i]:
		ev[evCounted] = 1
		ev[evCountedEnd] = -float64(p.direction())
	case t.Has(lexicon.Article):
		ev[evArticle] = 1
	case !s.proper && f.field.verbPlace(s.first):
		ev[evDone] = 1
	}
}

// inWords sets the features for known and unknown words and for digits.
func (f *weigher) inWords(p *param, s span, ev *[evCount]float64) {
	known, digits := 0.0, false
	for i := s.first; i <= s.last; i++ {
		digits = digits || f.doc.Tokens[i].Is(tokenize.FormDigits|tokenize.FormMixed)
		if f.field.known(i) && (!s.proper || s.last == s.first) && !s.calendar {
			known++
		}
	}
	all := float64(s.last - s.first + 1)
	ev[evKnown], ev[evNews] = known/all, min(all-known, 4)
	if known == 0 && !s.proper && f.field.unknownRuns == f.field.asked {
		ev[evEven] = 1
	}
	if digits {
		ev[evDigits] = 1
		if slices.ContainsFunc(p.words, func(w string) bool { return f.set.tools.cues.Code[w] }) {
			ev[evCode] = 1
		}
	}
}

// written sets the features for a code, by what the parameter takes.
func (f *weigher) written(p *param, s span, ev *[evCount]float64) {
	ev[evWritten], ev[evNews] = 1, 1
	switch {
	case s.currency != "" || f.takesCode(p, s.raw):
		ev[evWrittenFits] = 1
	case p.sense&SensePlace != 0 || slices.ContainsFunc(p.words, func(w string) bool { return f.set.tools.cues.Proper[w] }):
		ev[evWrittenOdd] = 1
	}
	if f.field.endsRequest(s.last) {
		ev[evEnd] = 1
	}
}

// endsRequest reports whether only polite phrases follow a token.
func (f *field) endsRequest(last int) bool {
	for i := last + 1; i < f.to; i++ {
		if !f.set.tools.Lexicon.Filler(f.doc.Tokens[i].Fold) {
			return false
		}
	}
	return true
}

// lowercaseFeatures sets the features for lower-case words.
func (f *weigher) lowercaseFeatures(s span, ev *[evCount]float64) {
	verbal := true
	for i := s.first; i <= s.last; i++ {
		verbal = verbal && f.field.verbal(i)
	}
	switch {
	case verbal:
		ev[evVerbal] = 1
	case f.field.participle(s.last):
		ev[evVerbalEnd] = 1
	}
}

// verbPlace reports whether a verb is expected at a token: behind "I", "who" or "to".
func (f *field) verbPlace(i int) bool {
	if i <= f.from || f.doc.Tokens[i].Break {
		return false
	}
	t := f.doc.Tokens[i-1]
	return t.Has(lexicon.Subject) || t.Has(lexicon.Relative) || t.Has(lexicon.BeforeVerb)
}

// participle reports whether a token looks like a past participle, such as "painted".
func (f *field) participle(i int) bool {
	t := f.doc.Tokens[i]
	return t.Has(lexicon.Participle) || f.verbal(i) && strings.HasSuffix(t.Fold, "ed")
}

// verbal reports whether a token looks like a participle or an adverb, such as "painted",
// "running" or "usually".
func (f *field) verbal(i int) bool {
	t := f.doc.Tokens[i]
	if t.Has(lexicon.Participle) {
		return true
	}
	return t.Stem != t.Fold && len(t.Fold) > 5 && (strings.HasSuffix(t.Fold, "ed") || strings.HasSuffix(t.Fold, "ing") || strings.HasSuffix(t.Fold, "ly"))
}

// alone sets the features for a single open parameter and for as many names as open parameters.
func (f *weigher) alone(p *param, s span, ev *[evCount]float64) {
	if f.field.asked == 1 && p.required {
		ev[evSole] = 1
	}
	if s.proper && p.required && f.field.names == f.field.asked && len(s.items) == 0 && ev[evPrepTaken] == 0 && ev[evPrepOther] == 0 {
		ev[evSoleProper] = 1
	}
}

// form sets the features for how the span and the values of the parameter are written.
func (f *weigher) form(p *param, s span, ev *[evCount]float64) {
	c := f.set.tools.cues
	named := p.written.Capitals() || p.written.Proper == 0 && p.written.Plain == 0 && slices.ContainsFunc(p.words, func(w string) bool { return c.Proper[w] })
	switch {
	case s.proper && named:
		ev[evProper], ev[evProperExpected] = 1, 1
	case s.proper && p.written.Letters():
		ev[evProper], ev[evProperOdd] = 1, 1
	case s.proper:
		ev[evProper] = 1
	case named && f.field.uncapitalised:
		ev[evSmall] = 1
	case named:
		ev[evPlainOdd] = 1
	case p.written.Letters():
		ev[evPlainExpected] = 1
	}
	switch timed := s.calendar || c.Calendar[f.doc.Tokens[s.last].Fold]; {
	case timed && p.sense&SenseTime != 0:
		ev[evCalendar] = 1
	case timed:
		ev[evCalendarOdd] = 1
	}
}

// surroundings sets the features for the words around the span.
func (f *weigher) surroundings(p *param, s span, ev *[evCount]float64) {
	if s.proper && s.last > s.first {
		f.inside(p, s, ev)
	}
	f.governance(p, s, ev)
	if f.namesBefore(p, s.first) {
		ev[evNameBefore] = 1
	}
	f.behind(p, s, ev)
	left := f.wording.StemAt(s.governor)
	switch {
	case s.prep != "":
		if s.governor > f.from && p.own[f.wording.StemAt(s.governor-1)] {
			ev[evOwnWord] = 1
		}
	case ev[evNameBefore] != 0:
	case p.own[left]:
		ev[evOwnWord] = 1
	case f.namesOther(p, left):
		ev[evOtherName] = 1
	}
	if f.near.expects(p.leftContext, s.first-1) || s.governor >= f.from && f.near.expects(p.leftContext, s.governor) {
		ev[evLearned] = 1
	}
	switch {
	case f.doc.Tokens[s.first].Is(tokenize.FormFirst):
		if !s.proper || !f.spelling.BeginsName(s.first) {
			ev[evStart] = 1
		}
	case s.first > f.from && strings.ContainsAny(f.wording.Gap(s.first-1, s.first), ",;:(") && ev[evNameBefore] == 0:
		ev[evApposition] = 1
	}
}

// inside sets the features for parameter names inside a name: "Harbour Hotel" is a hotel and no
// city, whatever precedes it.
func (f *weigher) inside(p *param, s span, ev *[evCount]float64) {
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

// governance sets the features for the role that the preposition announces. A preposition that
// also announces a time does so only for a parameter that is a time.
func (f *weigher) governance(p *param, s span, ev *[evCount]float64) {
	announced := f.set.tools.cues.Preps[s.prep]
	if p.sense&SenseTime == 0 {
		announced &^= SenseTime
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
	case s.first > f.from && !f.doc.Tokens[s.first].Break && s.governor == s.first-1 && f.field.content(s.first-1):
		ev[evBare] = 1
	}
}

// behind sets the features for the token right behind the span.
func (f *weigher) behind(p *param, s span, ev *[evCount]float64) {
	right := s.last + 1
	if right >= f.to || f.doc.Tokens[right].Break || f.field.taken[right-f.from] {
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
	case p.desc[t.Stem] && f.field.content(right):
		ev[evModifies] = 1
	case !f.field.known(right) || !f.field.content(right):
	case p.sense&SenseKind != 0:
		ev[evKind] = 1
	default:
		ev[evHead] = 1
	}
}

// announcesOther reports whether a preposition announces the role of another parameter. Only a
// name behind "in" is surely a place.
func (f *weigher) announcesOther(p *param, announced Sense, proper bool) bool {
	if !proper && announced&(SensePlace|SenseTime) != 0 {
		return false
	}
	return announced != 0 && slices.ContainsFunc(f.set.params, func(q *param) bool { return q != p && q.free() && q.sense&announced != 0 })
}

// namesBefore reports whether the parameter name precedes a token, with only linking words,
// articles or a comma in between.
func (f *weigher) namesBefore(p *param, i int) bool {
	for j := i - 1; j >= f.from && j >= i-3; j-- {
		t := f.doc.Tokens[j]
		if slices.Contains(p.words, t.Stem) && !f.set.tools.Lexicon.StopWord(t.Fold) {
			return true
		}
		if !LinksName(t.Fold) && !IsArticle(t.Fold) {
			return false
		}
	}
	return false
}

func (f *weigher) namesOther(p *param, stem string) bool {
	if f.set.tools.Lexicon.StopWord(stem) {
		return false
	}
	return slices.ContainsFunc(f.set.params, func(q *param) bool {
		return q != p && slices.Contains(q.words, stem) && !slices.Contains(p.words, stem)
	})
}
