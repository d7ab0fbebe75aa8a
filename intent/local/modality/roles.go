package modality

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Vocabulary answers which words a capability is asked for with.
type Vocabulary interface {
	// Head reports whether a token is a word of the name, the keywords, the examples, the known
	// values or the parameter names.
	Head(t tokenize.Token) bool
	// Describes reports whether a token occurs in the description of the capability or of a
	// parameter.
	Describes(t tokenize.Token) bool
	// Verbs returns the stems that its examples begin with.
	Verbs() []string
	// Like reports whether a token is a near-synonym of a head word. It is not read, but not
	// binding either.
	Like(t tokenize.Token) bool
	// Labels reports whether a token is a near-synonym of a parameter name, followed by its value.
	Labels(t tokenize.Token, parameter string) bool
	// Measures reports whether a parameter is measured in a unit.
	Measures(parameter, unit string) bool
	// Says reports whether an example contains a sequence of folded words.
	Says(folds []string) bool
}

// RoleValue is a value of a request with its tokens.
type RoleValue struct {
	First, Last int
	Parameter   string
	// Up is 1 if the number is a lower bound ("above"), -1 if it is an upper bound ("below"), else
	// 0.
	Up int
	// Start and End are set if the parameter is that end of a period.
	Start, End bool
	// Loose is set if the words were taken verbatim, as for a name. It contains no word such as
	// "except".
	Loose bool
	// Stated is set if a statement gives the value.
	Stated bool
	// List is set for several values with the words between them.
	List bool
}

// RoleRequest is one reading of a range of a message, whose token roles are to be classified.
type RoleRequest struct {
	// From and To bound its tokens, [From, To).
	From, To int
	Values   []RoleValue
	Knows    Vocabulary
	// Reads is set for a capability without side effects, for which every verb of showing and
	// finding is a request verb.
	Reads bool
	// Gives is set for a capability for which "needs" is a request verb.
	Gives bool
	// Kinds is set for a capability with an open enum parameter that a statement may select ("Ana
	// is ill").
	Kinds bool
	// Takes marks the tokens that an open parameter could take.
	Takes []bool
	// Open lists the nouns of boolean parameters without a value. They are never filler.
	Open []string
	// Others are the token ranges of the other requests of the message.
	Others [][2]int
}

// Roles holds the role of each token in a request.
type Roles struct {
	Classes    []contracts.WordClass
	Parameters []string // by token, for tokens of values
	// Misused lists the parameters whose value follows a word such as "except".
	Misused []string
	// Operated is set if an operator is binding: it would change the action.
	Operated bool
	// Excepted is set if an operator excludes something, such as "except".
	Excepted bool
	// Retracted is set for words such as "just kidding".
	Retracted bool
	// Unknown is set if a command has words that the capability does not know, though they change
	// nothing.
	Unknown bool
}

// roleReading is a classification in progress.
type roleReading struct {
	m *Message
	RoleRequest
	Roles

	kinds   lexicon.Kinds
	command int  // first token of the command
	ordered bool // a verb of the capability was found
}

// RolesOf classifies the role of each token in a request.
func (m *Message) RolesOf(r RoleRequest) Roles {
	a := &roleReading{m: m, RoleRequest: r}
	a.Classes, a.Parameters = make([]contracts.WordClass, len(m.Tokens)), make([]string, len(m.Tokens))
	for _, stem := range r.Knows.Verbs() {
		a.kinds |= m.lex.Kin(stem).Asked()
	}
	if r.Reads {
		a.kinds |= lexicon.KindOf("show") | lexicon.KindOf("find") | lexicon.KindOf("fetch") | lexicon.KindOf("compute")
	}
	a.command = len(m.Tokens)
	for _, s := range m.Segments {
		if s.Kind == Open && s.To > r.From && s.From < r.To {
			a.command = min(a.command, max(s.From, r.From))
		}
	}
	a.values()
	for _, s := range m.Segments {
		a.segment(s)
	}
	a.Retracted = a.Retracted || isOnlyNegation(m, a.command)
	for i := range a.Classes { // the rest is between requests
		if a.Classes[i] == "" {
			a.Classes[i] = contracts.WordCommand
			if !a.inside(i) {
				a.Classes[i] = contracts.WordOther
			}
		}
	}
	return a.Roles
}

// ToldClause returns the statement behind the command of a request, without a word such as
// "because". It returns false if there is none or several, if a token of it is binding, or if it
// only says who asked.
func ToldClause(m *Message, from, to int, classes []contracts.WordClass) (first, last int, ok bool) {
	command := false
	for _, s := range m.Segments {
		if s.To <= from || s.From >= to || s.Kind == Courtesy {
			continue
		}
		if !s.Kind.Silent() {
			if ok {
				return 0, 0, false // ambiguous with two statements
			}
			command = true
			continue
		}
		unread := func(c contracts.WordClass) bool {
			return c == contracts.WordIrrelevant || c == contracts.WordUnused || c == contracts.WordCourtesy
		}
		if !command || slices.ContainsFunc(classes[s.From:s.To], func(c contracts.WordClass) bool { return !unread(c) }) || isReportedSpeech(m, s) {
			return 0, 0, false
		}
		if start := behindReason(m, s); !ok {
			first, ok = start, start < s.To
		}
		last = s.To - 1
	}
	return first, last, ok
}

// isOnlyNegation reports whether a segment behind a command is only a negation: "cancel it, no, …".
func isOnlyNegation(m *Message, command int) bool {
	return slices.ContainsFunc(m.Segments, func(s Segment) bool {
		for i := s.From; i < s.To; i++ {
			if !m.has(i, lexicon.Denial) && !m.is(i, lexicon.Faint) {
				return false
			}
		}
		return s.From > command
	})
}

// behindReason returns the first token of a statement behind a word such as "because".
func behindReason(m *Message, s Segment) int {
	hit, ok := lexicon.Find(&m.lex.Reasons, m.Tokens, s.From)
	if ok && s.Kind == Reason {
		return s.From + hit.Tokens
	}
	return s.From
}

// isReportedSpeech reports whether a segment passes on what somebody else said.
func isReportedSpeech(m *Message, s Segment) bool {
	for i := s.From; i < s.To; i++ {
		if m.is(i, lexicon.Reports, lexicon.Others) {
			return true
		}
	}
	return false
}

func (a *roleReading) inside(i int) bool { return i >= a.From && i < a.To }

func (a *roleReading) set(from, to int, c contracts.WordClass) {
	for i := from; i < to; i++ {
		if a.Classes[i] == "" {
			a.Classes[i] = c
		}
	}
}

// values marks the tokens of values, and units behind their numbers.
func (a *roleReading) values() {
	for _, v := range a.Values {
		if (v.Loose || v.List) && a.excludes(v) || a.excepted(v) {
			a.Misused = append(a.Misused, v.Parameter)
			continue
		}
		last := v.Last
		for _, e := range a.m.entities {
			if e.First < v.First || e.First > last || e.Last <= last || e.Last >= len(a.Classes) {
				continue
			}
			for last < e.Last && !a.valued(last+1, last+1) {
				last++ // include "at" between a date and a time of separate parameters
			}
		}
		for i := max(v.First, 0); i <= last && i < len(a.Classes); i++ {
			a.Classes[i], a.Parameters[i] = contracts.WordValue, v.Parameter
		}
		measured(a, v, last+1)
	}
}

// measured marks the unit of its parameter right behind a number: "kilos".
func measured(a *roleReading, v RoleValue, i int) {
	if i >= len(a.Classes) || a.Classes[i] != "" || a.m.Tokens[i].Break || a.m.isFunctionWord(i) {
		return
	}
	if slices.ContainsFunc(a.m.entities, func(e values.Entity) bool {
		return e.Kind == values.Number && e.Last+1 == i && e.First >= v.First && a.Knows.Measures(v.Parameter, e.Unit)
	}) {
		a.Classes[i] = contracts.WordCommand
	}
}

// excludes reports whether a value contains a word such as "except": "everybody except Ana" is no
// name, and "everybody on Helena's team but Ana" are not these two.
func (a *roleReading) excludes(v RoleValue) bool {
	for i := range min(v.Last+1, len(a.Classes)) {
		hit, ok := a.operator(i, len(a.Classes))
		if end := i + hit.Tokens - 1; ok && v.First <= end && end <= v.Last && slices.Contains([]lexicon.Operator{lexicon.Except, lexicon.Unless, lexicon.Instead}, hit.Value) {
			return true
		}
	}
	return false
}

// excepted reports whether a value follows a word such as "but", with at most an article in
// between, in the same clause. Such a value is excluded.
func (a *roleReading) excepted(v RoleValue) bool {
	i := v.First - 1
	for i > a.From && a.m.is(i, lexicon.Article) {
		i--
	}
	connective, ok := a.m.connective(max(i, 0))
	out := ok && i > a.From && connective == lexicon.ConnectiveContrast && !a.m.Tokens[i].Break
	a.Operated, a.Excepted = a.Operated || out, a.Excepted || out
	return out
}

func (a *roleReading) valued(first, last int) bool {
	return slices.ContainsFunc(a.Values, func(v RoleValue) bool { return v.First <= last && first <= v.Last })
}

// segment classifies the tokens of a segment.
func (a *roleReading) segment(s Segment) {
	markReplaced(a, s)
	for i := s.From; i < s.To; i++ {
		if a.m.frame[i] && a.Classes[i] == "" {
			a.Classes[i] = contracts.WordCourtesy
		}
	}
	for _, o := range a.Others {
		a.set(max(s.From, o[0]), min(s.To, o[1]), contracts.WordOther)
	}
	if a.states(s) {
		s.Kind = Statement // whatever its form, its value was read
	}
	switch {
	case s.Kind == Courtesy:
		a.set(s.From, s.To, contracts.WordCourtesy)
	case s.Kind.Silent() && (!a.Reads || a.command < len(a.Classes)): // in "que carros estão livres" nothing is stated
		a.statement(s)
	case s.To > a.From && s.From < a.To:
		a.open(max(s.From, a.From), min(s.To, a.To))
	}
}

// statement classifies the tokens of a statement. Its operators and conditions may still be
// binding.
func (a *roleReading) statement(s Segment) {
	for i := s.From; i < s.To; i++ {
		if hit, ok := a.operator(i, s.To); ok && hit.Value == lexicon.NotMeant {
			a.Retracted = true
			a.set(i, i+hit.Tokens, contracts.WordUnresolved)
		}
	}
	if s.Kind == Statement {
		a.binds(s)
	}
	for i := s.From; i < s.To && s.Kind == Past; i++ {
		if i < len(a.Takes) && a.Takes[i] && a.m.Tokens[i].Is(tokenize.FormQuoted) {
			a.set(i, i+1, contracts.WordUnresolved) // "it says …" may give the content of the object
		}
	}
	if a.Kinds && !a.Reads && s.Kind == Statement && isAboutValue(a, s) {
		a.set(s.From, s.To, contracts.WordUnresolved)
	}
	class := contracts.WordUnused
	if s.Kind != Statement || s.From < a.command || a.states(s) {
		class = contracts.WordIrrelevant
	}
	a.set(s.From, s.To, class)
}

// states reports whether the value of a segment was read from its statement.
func (a *roleReading) states(s Segment) bool {
	return a.valueLike(func(v RoleValue) bool { return v.Stated && v.First >= s.From && v.Last < s.To })
}

// isAboutValue reports whether a statement is about a value of the request, in words that the
// capability does not know.
func isAboutValue(a *roleReading, s Segment) bool {
	about, strange := false, false
	for i := s.From; i < s.To; i++ {
		about = about || a.Classes[i] == contracts.WordValue && !a.valueLike(func(v RoleValue) bool { return v.Stated && v.First <= i && i <= v.Last })
		strange = strange || a.Classes[i] == "" && !a.m.isFunctionWord(i) && !a.knows(i)
	}
	return about && strange
}

// binds marks what a statement changes: an operator, or another value of a kind that the request
// has.
func (a *roleReading) binds(s Segment) {
	for i := s.From; i < s.To; i++ {
		hit, ok := a.operator(i, s.To)
		if !ok || !decides(hit.Value) || a.excused(hit, i) {
			continue
		}
		class := contracts.WordUnresolved
		if v, ok := a.next(i+hit.Tokens, s.To); ok && hit.Value == lexicon.Until && (v.End || a.ends(v)) {
			class = contracts.WordCommand // a used end date: "she is ill until Friday"
		}
		a.set(i, i+hit.Tokens, class)
	}
	for _, e := range a.m.entities {
		if e.First >= s.From && e.Last < s.To && a.takes(e) {
			a.set(e.First, e.Last+1, contracts.WordUnresolved)
		}
	}
	for i := s.From; i < s.To; i++ {
		if i < len(a.Takes) && a.Takes[i] || a.m.code[i] && a.valueLike(func(v RoleValue) bool { return a.m.code[v.First] }) {
			a.set(i, i+1, contracts.WordUnresolved)
		}
	}
}

// decides reports whether an operator changes the action from anywhere in the message.
func decides(o lexicon.Operator) bool {
	return slices.Contains([]lexicon.Operator{lexicon.Except, lexicon.Unless, lexicon.Instead, lexicon.Only, lexicon.Until, lexicon.Provided}, o)
}

// takes reports whether the request has a value of the kind of an entity.
func (a *roleReading) takes(e values.Entity) bool {
	for _, o := range a.m.entities {
		if o.Kind == e.Kind && a.valueLike(func(v RoleValue) bool { return v.First <= o.Last && o.First <= v.Last }) {
			return true
		}
	}
	return false
}

func (a *roleReading) valueLike(is func(RoleValue) bool) bool {
	return slices.ContainsFunc(a.Values, is)
}

// operator returns the longest operator at a token that is no value, courtesy or quotation.
// "First, …" and "then" only put requests in order.
func (a *roleReading) operator(i, to int) (lexicon.Hit[lexicon.Operator], bool) {
	if a.Classes[i] != "" || a.m.Tokens[i].Is(tokenize.FormQuoted) {
		return lexicon.Hit[lexicon.Operator]{}, false
	}
	// "Se" is "if" in Portuguese and a pronoun in Spanish, so languages that are ruled out are
	// skipped.
	hit, ok := lexicon.FindIn(&a.m.lex.Operators, a.m.Tokens[:to], i, a.m.languages.At(i).Possible)
	if ok && hit.Value == lexicon.Or && (a.article(i, to) || hit.Language != a.m.language && a.m.is(i, lexicon.Article)) {
		return hit, false
	}
	if ok && hit.Tokens == 1 && a.then(i) && (hit.Value == lexicon.Order || hit.Value == lexicon.Afterwards || hit.Value == lexicon.Instead) {
		return hit, false
	}
	return hit, ok
}

// article reports whether a word for "or" is an article of another language: right behind a verb,
// and with no other action behind it.
func (a *roleReading) article(i, to int) bool {
	return a.m.has(i, lexicon.Article) && i > 0 && i+1 < to && a.m.kin(i-1) != 0 && a.m.kin(i+1)&lexicon.ActionKinds() == 0
}

// excused reports whether an operator is part of how the capability is asked for.
func (a *roleReading) excused(hit lexicon.Hit[lexicon.Operator], i int) bool {
	if slices.Contains([]lexicon.Operator{lexicon.Except, lexicon.Unless, lexicon.Instead, lexicon.NotMeant}, hit.Value) {
		return false
	}
	folds := make([]string, hit.Tokens)
	for k := range folds {
		folds[k] = a.m.Tokens[i+k].Fold
	}
	return a.Knows.Says(folds)
}
