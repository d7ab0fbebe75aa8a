package modality

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// reach is the maximum distance in tokens between a subject and its verb.
const reach = 6

// Reports reports whether a run says what somebody did, does or will do: a subject with a verb in
// a form that is no command ("Ana has cancelled …"), or such a form alone ("booked two days").
// covered marks the tokens of values.
func (m *Message) Reports(from, to int, covered []bool) bool {
	for k, s := range m.Segments {
		if m.Ordered(s.From, s.To) {
			continue
		}
		if s.From >= from && s.To <= to && k > 0 && quoted(m, m.Segments[k-1], s) {
			return true
		}
		r := report{m: m, from: max(s.From, from), to: min(s.To, to), covered: covered[max(0, min(s.From-from, len(covered))):]}
		if s.From < from {
			r.covered = covered
		}
		if r.from < r.to && r.told() {
			return true
		}
	}
	return false
}

// quoted reports whether a clause is reported speech of the clause before: "Ana said, we should
// cancel it".
func quoted(m *Message, before, s Segment) bool {
	if s.starts || !m.is(s.From, lexicon.Subject) || m.is(s.From, lexicon.Article) || !m.is(s.From+1, lexicon.Finite) {
		return false
	}
	for i := before.From; i < before.To; i++ {
		if m.is(i, lexicon.Reports) {
			return true
		}
	}
	return false
}

// report detects a report in one segment.
type report struct {
	m        *Message
	from, to int
	covered  []bool // by token, relative to from
	possible lexicon.Weights
}

func (r *report) told() bool {
	r.skip()
	if r.from >= r.to {
		return false
	}
	r.possible = lexicon.DetectLanguages(r.m.lex, r.m.Tokens[r.from:r.to], nil).At(0)
	past := func(l int) bool {
		return r.m.lex.ToldOf(l, r.m.Tokens[r.from].Word) || r.m.Tokens[r.from].In(l, lexicon.Did)
	}
	commands := r.m.lex.TellsOf(r.m.language, r.m.Tokens[r.from].Word) && !past(r.m.language) // "crea" is an imperative in Spanish
	if !r.m.named(r.from) && !commands && r.in(past) {
		return true
	}
	if end := r.names(); end > r.from {
		return r.verb(end, true)
	}
	switch {
	case r.is(r.from, lexicon.Others):
		// In "they set an alert" the subject does it, whatever the verb form.
		return r.verb(r.from+1, true) || r.from+1 < r.to && r.m.kin(r.from+1) != 0 && !r.m.named(r.from+1) && !r.is(r.from+1, lexicon.Want)
	case r.is(r.from, lexicon.Subject) && !r.is(r.from, lexicon.Article):
		return r.verb(r.from+1, false)
	case r.is(r.from, lexicon.Article), r.is(r.from, lexicon.Pronoun):
		return r.hasLongSubject()
	}
	return false
}

// skip removes the words before the subject: "then", "apparently", a date.
func (r *report) skip() {
	cut := func(n int) {
		r.from += n
		r.covered = r.covered[min(n, len(r.covered)):]
	}
	for r.from < r.to {
		i := r.from
		switch {
		case r.m.frame[i], r.m.isCoordinating(i), r.m.then(i), r.m.has(i, lexicon.Opening), adverbial(r.m.Tokens[i].Fold):
			cut(1)
		case r.day(i) > 0:
			cut(r.day(i))
		case isBeforePastVerb(r.m, i):
			cut(1)
		default:
			return
		}
	}
}

// isBeforePastVerb reports whether a token is a function word right before a verb in the past: "ya
// encargué".
func isBeforePastVerb(m *Message, i int) bool {
	t := m.Tokens[i]
	if !m.is(i, lexicon.Function) || i+1 >= len(m.Tokens) || m.Tokens[i+1].Break || m.is(i, lexicon.Article, lexicon.Pronoun, lexicon.Subject, lexicon.Finite, lexicon.Listing) {
		return false
	}
	for c := lexicon.PrepPlaceTime; c <= lexicon.PrepOther; c++ {
		if t.Has(c) {
			return false
		}
	}
	return m.lex.ToldOf(m.language, m.Tokens[i+1].Word)
}

// day returns the length in tokens of a date at a token, or 0.
func (r *report) day(i int) int {
	for _, e := range r.m.entities {
		if e.First == i && e.Kind == values.Date {
			return e.Last + 1 - i
		}
	}
	return 0
}

// names returns the end of the names that the segment begins with.
func (r *report) names() int {
	end := r.from
	for i := r.from; i < r.to; i++ {
		t := r.m.Tokens[i]
		taken := i-r.from < len(r.covered) && r.covered[i-r.from] && !r.m.inEntity[i]
		switch {
		case i > r.from && t.Break, t.Is(tokenize.FormQuoted):
			return end
		case r.m.code[i], taken, t.Is(tokenize.FormTitle|tokenize.FormCaps|tokenize.FormMixed) && !r.m.isFunctionWord(i) && (i > r.from || r.m.kin(i) == 0 && !r.m.bids(i)):
			end = i + 1
		case end > r.from && r.m.isCoordinating(i): // coordinated names: "Ana and Bruno"
		default:
			return end
		}
	}
	return end
}

// verb reports whether a reporting verb follows a token, behind function words. The present tense
// counts only for a third person; in the first person it may be a request.
func (r *report) verb(at int, present bool) bool {
	for i := at; i < min(r.to, at+reach); i++ {
		t := r.m.Tokens[i]
		switch {
		case i > at && t.Break || at == i && t.Break, !r.m.word(i), r.is(i, lexicon.Want), r.is(i, lexicon.Needing):
			return false
		case r.in(func(l int) bool { return r.past(l, i) }):
			return true
		case r.isAuxiliary(i):
			return true
		case present && !r.m.isFunctionWord(i) && r.in(func(l int) bool { return r.m.lex.TellsOf(l, t.Word) }):
			return r.m.language != 0 || r.object(i+1)
		case !r.m.isFunctionWord(i) && !adverbial(t.Fold):
			return false
		}
	}
	return false
}

// past reports whether a token is a verb in the past tense. Unknown verbs count only in the
// language of the message.
func (r *report) past(language, i int) bool {
	t := r.m.Tokens[i]
	if t.In(language, lexicon.Did) || t.In(language, lexicon.Reports) || r.m.lex.ToldOf(language, t.Word) {
		return true
	}
	strange := language == r.m.language && r.m.kin(i) == 0 && !t.Exact() && !r.m.inEntity[i]
	return strange && !t.Is(tokenize.FormTitle|tokenize.FormCaps|tokenize.FormMixed|tokenize.FormDigits|tokenize.FormQuoted) && r.m.lex.EndsInPast(language, t.Word)
}

// isAuxiliary reports whether a token is an auxiliary with a main verb: "has … cancelled", "hat …
// storniert".
func (r *report) isAuxiliary(i int) bool {
	for l := range r.m.lex.Languages {
		if !r.possible.Possible(l) || !r.m.Tokens[i].In(l, lexicon.Helps) {
			continue
		}
		for k := i + 1; k < r.to && !r.m.Tokens[k].In(l, lexicon.Want); k++ {
			if r.m.word(k) && (k > i+1 || !r.m.Tokens[k].In(l, lexicon.BeforeVerb)) && r.m.lex.Rooted(l, r.m.Tokens[k].Fold) && !r.m.named(k) {
				return true
			}
		}
	}
	return false
}

// object reports whether an object follows a verb: "deletes her alerts". A noun is followed by a
// preposition: "alerts for Apple".
func (r *report) object(i int) bool {
	return i < r.to && (!r.m.isFunctionWord(i) || r.m.has(i, lexicon.Article, lexicon.Pronoun))
}

// hasLongSubject reports whether a verb in the past follows a longer subject: "the assistant of
// Ana".
func (r *report) hasLongSubject() bool {
	for i := r.from + 1; i < min(r.to, r.from+2+reach); i++ {
		t := r.m.Tokens[i]
		switch {
		case t.Break || r.is(i, lexicon.Want):
			return false
		case r.m.word(i) && i > r.from+1 && r.in(func(l int) bool { return t.In(l, lexicon.Did) || r.m.lex.ToldOf(l, t.Word) }), r.isAuxiliary(i):
			return true
		}
	}
	return false
}

// is reports whether a token has a class in a language that is not ruled out.
func (r *report) is(i int, c lexicon.Class) bool {
	return r.m.word(i) && r.in(func(l int) bool { return r.m.Tokens[i].In(l, c) })
}

func (r *report) in(is func(language int) bool) bool {
	for l := range r.m.lex.Languages {
		if r.possible.Possible(l) && is(l) {
			return true
		}
	}
	return false
}

// then reports whether a word only puts statements in order.
func (m *Message) then(i int) bool {
	connective, ok := m.connective(i)
	return ok && (connective == lexicon.ConnectiveThen || connective == lexicon.ConnectiveContrast)
}

// adverbial reports whether a word is an adverb such as "quickly" or "rapidamente".
func adverbial(fold string) bool {
	for _, ending := range []string{"ly", "mente", "ment"} {
		if len(fold) > len(ending)+3 && strings.HasSuffix(fold, ending) {
			return true
		}
	}
	return false
}

// reason reports whether a word such as "because" begins at a token. "Since Monday" and "since v4"
// do not count, nor does a noun that is such a word in another language, as French "car".
func (m *Message) reason(i int) bool {
	hit, ok := lexicon.Find(&m.lex.Reasons, m.Tokens, i)
	next := i + hit.Tokens
	if !ok || hit.Value == lexicon.ReasonSo || !m.word(i) || next >= len(m.Tokens) || hit.Language != m.language && m.foreign(i, hit) || isModalParticle(m, i) {
		return false
	}
	ends := next+1 == len(m.Tokens) || m.Tokens[next+1].Break
	return !m.inEntity[i] && !m.inEntity[next] && (!ends || !m.Tokens[next].Is(tokenize.FormDigits|tokenize.FormMixed)) && (!m.is(i, lexicon.Starts) || clauseAt(m, next))
}

// clauseAt reports whether a clause with a subject or a finite verb begins at a token: "since she is
// away" gives a reason, "since October" a time.
func clauseAt(m *Message, from int) bool {
	to := from + 1
	for to < len(m.Tokens) && !m.Tokens[to].Break {
		to++
	}
	for i := from; i < to; i++ {
		if m.is(i, lexicon.Subject, lexicon.Finite, lexicon.Helps, lexicon.Past, lexicon.Did, lexicon.Want, lexicon.Needing) || i > from && isPastVerb(m, i, to) {
			return true
		}
	}
	return false
}

// isModalParticle reports whether a word such as German "denn" is a modal particle in a question:
// "was gab es denn zuletzt".
func isModalParticle(m *Message, i int) bool {
	if !m.is(i, lexicon.Stress) || m.Tokens[i].Break {
		return false
	}
	for k := i - 1; k >= 0; k-- {
		if m.has(k, lexicon.Asks) {
			return true
		}
		if m.Tokens[k].Break {
			break
		}
	}
	return false
}

// foreign reports whether a word of another language is a noun here: it follows an article, or
// nothing else is in that language.
func (m *Message) foreign(i int, hit lexicon.Hit[lexicon.Reason]) bool {
	if m.is(i-1, lexicon.Article) || m.is(i-1, lexicon.Pronoun) && !m.is(i-1, lexicon.Subject) {
		return true
	}
	for k, t := range m.Tokens {
		if (k < i || k >= i+hit.Tokens) && m.word(k) && t.In(hit.Language, lexicon.Function) && !m.inEntity[k] {
			return false
		}
	}
	return true
}
