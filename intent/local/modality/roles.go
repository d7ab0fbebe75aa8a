package modality

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// Vocabulary is what a capability is asked for with.
type Vocabulary interface {
	// Head tells a word of the name, the keywords, the examples, the known values and
	// the names of parameters.
	Head(t tokenize.Token) bool
	// Describes tells a word of its description, or of one of a parameter.
	Describes(t tokenize.Token) bool
	// Verbs are the stems that its sentences begin with.
	Verbs() []string
	// Like tells a word that means much the same as one of the heads: another word for
	// it, which is not read but binds nothing.
	Like(t tokenize.Token) bool
	// Labels tells a word that means much the same as the name of a parameter, whose
	// value stands behind it.
	Labels(t tokenize.Token, parameter string) bool
	// Measures tells that the numbers of a parameter are of a unit.
	Measures(parameter, unit string) bool
	// Says reports whether one of its examples has these folded words in a row.
	Says(folds []string) bool
}

// RoleValue is a value of a request with its tokens.
type RoleValue struct {
	First, Last int
	Parameter   string
	// Up is 1 for a parameter that a number is the lower end of ("above"), -1 for one
	// that it is the upper end of ("below"), else 0.
	Up int
	// Start and End tell that the parameter is that end of a period.
	Start, End bool
	// Loose tells that the words were taken as they stand, as a name is: no word such
	// as "except" is one of them.
	Loose bool
	// Stated tells a value that is what a statement says.
	Stated bool
	// List tells several values with what stands between them.
	List bool
}

// RoleRequest is one reading of a part of a message, whose token roles are asked for.
type RoleRequest struct {
	// From and To are its tokens, [From, To).
	From, To int
	Values   []RoleValue
	Knows    Vocabulary
	// Reads tells a capability without an effect: every verb of showing and finding
	// asks for it.
	Reads bool
	// Gives tells a capability that gives what somebody wants: "needs" asks for it.
	Gives bool
	// Kinds tells a capability of several kinds, of which none was read: what is told of
	// somebody may tell which ("Ana is ill").
	Kinds bool
	// Takes tells by token what a parameter without a value could take.
	Takes []bool
	// Open are the nouns of switches without a value: what is said of them is no filler.
	Open []string
	// Others are the tokens of the other requests of the message.
	Others [][2]int
}

// Roles gives the role of each token in a request.
type Roles struct {
	Classes    []contracts.WordClass
	Parameters []string // of the tokens that are values
	// Misused are parameters whose value stands behind a word such as "except": it is
	// not what is meant.
	Misused []string
	// Operated tells that an operator binds: what is done would be another thing.
	Operated bool
	// Excepted tells one of those that leave something out, such as "except".
	Excepted bool
	// Retracted tells words such as "just kidding".
	Retracted bool
	// Unknown tells words of a command itself that the capability does not know, though
	// they change nothing.
	Unknown bool
}

// roleReading is an account in the making.
type roleReading struct {
	m *Message
	RoleRequest
	Roles

	kinds   lexicon.Kinds
	command int  // the first token that commands
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
	a.Retracted = a.Retracted || denies(m, a.command)
	for i := range a.Classes { // what is left stands between requests
		if a.Classes[i] == "" {
			a.Classes[i] = contracts.WordCommand
			if !a.inside(i) {
				a.Classes[i] = contracts.WordOther
			}
		}
	}
	return a.Roles
}

// ToldClause gives what is told behind the command of a request, from its first word to its last and
// without a word such as "because"; nothing of it binds. False where nothing is, or it only
// says who asked.
func ToldClause(m *Message, from, to int, classes []contracts.WordClass) (first, last int, ok bool) {
	command := false
	for _, s := range m.Segments {
		if s.To <= from || s.From >= to || s.Kind == Courtesy {
			continue
		}
		if !s.Kind.Silent() {
			if ok {
				return 0, 0, false // which of the two it is said of is not told
			}
			command = true
			continue
		}
		unread := func(c contracts.WordClass) bool {
			return c == contracts.WordAside || c == contracts.WordBeside || c == contracts.WordCourtesy
		}
		if !command || slices.ContainsFunc(classes[s.From:s.To], func(c contracts.WordClass) bool { return !unread(c) }) || hands(m, s) {
			return 0, 0, false
		}
		if start := behindReason(m, s); !ok {
			first, ok = start, start < s.To
		}
		last = s.To - 1
	}
	return first, last, ok
}

// denies tells words that say no and nothing else behind a command: "cancel it, no, …".
func denies(m *Message, command int) bool {
	return slices.ContainsFunc(m.Segments, func(s Segment) bool {
		for i := s.From; i < s.To; i++ {
			if !m.has(i, lexicon.Denial) && !m.is(i, lexicon.Faint) {
				return false
			}
		}
		return s.From > command
	})
}

// behindReason is where what is told begins, behind a word such as "because".
func behindReason(m *Message, s Segment) int {
	hit, ok := lexicon.Find(&m.lex.Reasons, m.Tokens, s.From)
	if ok && s.Kind == Reason {
		return s.From + hit.Tokens
	}
	return s.From
}

// hands tells a segment that hands on what somebody said.
func hands(m *Message, s Segment) bool {
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

// values marks the tokens of values, with the units behind their numbers.
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
				last++ // "at" of a day and a time that fill a parameter each
			}
		}
		for i := max(v.First, 0); i <= last && i < len(a.Classes); i++ {
			a.Classes[i], a.Parameters[i] = contracts.WordValue, v.Parameter
		}
		measured(a, v, last+1)
	}
}

// measured marks the unit right behind a number that its parameter is counted in: "kilos".
func measured(a *roleReading, v RoleValue, i int) {
	if i >= len(a.Classes) || a.Classes[i] != "" || a.m.Tokens[i].Break || a.m.light(i) {
		return
	}
	if slices.ContainsFunc(a.m.entities, func(e values.Entity) bool {
		return e.Kind == values.Number && e.Last+1 == i && e.First >= v.First && a.Knows.Measures(v.Parameter, e.Unit)
	}) {
		a.Classes[i] = contracts.WordCommand
	}
}

// excludes reports whether a value holds a word such as "except": "everybody except
// Ana" is nobody's name, and "everybody on Helena's team but Ana" are not these two.
func (a *roleReading) excludes(v RoleValue) bool {
	for i := range min(v.Last+1, len(a.Classes)) {
		hit, ok := a.operator(i, len(a.Classes))
		if end := i + hit.Tokens - 1; ok && v.First <= end && end <= v.Last && slices.Contains([]lexicon.Operator{lexicon.Except, lexicon.Unless, lexicon.Instead}, hit.Value) {
			return true
		}
	}
	return false
}

// excepted tells a value right behind a word such as "but", with nothing but an article
// between, that begins no clause of its own: it is what is left out.
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

// segment gives the tokens of a segment their classes.
func (a *roleReading) segment(s Segment) {
	replaced(a, s)
	for i := s.From; i < s.To; i++ {
		if a.m.frame[i] && a.Classes[i] == "" {
			a.Classes[i] = contracts.WordCourtesy
		}
	}
	for _, o := range a.Others {
		a.set(max(s.From, o[0]), min(s.To, o[1]), contracts.WordOther)
	}
	if a.states(s) {
		s.Kind = Statement // whatever it looks like, its value was read as what it says
	}
	switch {
	case s.Kind == Courtesy:
		a.set(s.From, s.To, contracts.WordCourtesy)
	case s.Kind.Silent() && (!a.Reads || a.command < len(a.Classes)): // "que carros estão livres" tells nothing
		a.statement(s)
	case s.To > a.From && s.From < a.To:
		a.open(max(s.From, a.From), min(s.To, a.To))
	}
}

// statement is an aside, or stands beside the command that it follows. What it says
// of values or conditions may still bind.
func (a *roleReading) statement(s Segment) {
	for i := s.From; i < s.To; i++ {
		if hit, ok := a.operator(i, s.To); ok && hit.Value == lexicon.NotMeant {
			a.Retracted = true
			a.set(i, i+hit.Tokens, contracts.WordBinding)
		}
	}
	if s.Kind == Statement {
		a.binds(s)
	}
	for i := s.From; i < s.To && s.Kind == Past; i++ {
		if i < len(a.Takes) && a.Takes[i] && a.m.Tokens[i].Is(tokenize.FormQuoted) {
			a.set(i, i+1, contracts.WordBinding) // "it says …" may tell what it shall say
		}
	}
	if a.Kinds && !a.Reads && s.Kind == Statement && told(a, s) {
		a.set(s.From, s.To, contracts.WordBinding)
	}
	class := contracts.WordBeside
	if s.Kind != Statement || s.From < a.command || a.states(s) {
		class = contracts.WordAside
	}
	a.set(s.From, s.To, class)
}

// states tells a segment whose value was read as what it says.
func (a *roleReading) states(s Segment) bool {
	return a.valueLike(func(v RoleValue) bool { return v.Stated && v.First >= s.From && v.Last < s.To })
}

// told tells a statement about a value of the request, in words that the capability
// does not have; one that it says itself is none.
func told(a *roleReading, s Segment) bool {
	about, strange := false, false
	for i := s.From; i < s.To; i++ {
		about = about || a.Classes[i] == contracts.WordValue && !a.valueLike(func(v RoleValue) bool { return v.Stated && v.First <= i && i <= v.Last })
		strange = strange || a.Classes[i] == "" && !a.m.light(i) && !a.knows(i)
	}
	return about && strange
}

// binds looks for what a statement changes: an operator, or a value of a kind that
// the request has another one of.
func (a *roleReading) binds(s Segment) {
	for i := s.From; i < s.To; i++ {
		hit, ok := a.operator(i, s.To)
		if !ok || !decides(hit.Value) || a.excused(hit, i) {
			continue
		}
		class := contracts.WordBinding
		if v, ok := a.next(i+hit.Tokens, s.To); ok && hit.Value == lexicon.Until && (v.End || a.ends(v)) {
			class = contracts.WordCommand // "she is ill until Friday", and it is used
		}
		a.set(i, i+hit.Tokens, class)
	}
	for _, e := range a.m.entities {
		if e.First >= s.From && e.Last < s.To && a.takes(e) {
			a.set(e.First, e.Last+1, contracts.WordBinding)
		}
	}
	for i := s.From; i < s.To; i++ {
		if i < len(a.Takes) && a.Takes[i] || a.m.code[i] && a.valueLike(func(v RoleValue) bool { return a.m.code[v.First] }) {
			a.set(i, i+1, contracts.WordBinding)
		}
	}
}

// decides tells operators that change the action from wherever they are said.
func decides(o lexicon.Operator) bool {
	return slices.Contains([]lexicon.Operator{lexicon.Except, lexicon.Unless, lexicon.Instead, lexicon.Only, lexicon.Until, lexicon.Provided}, o)
}

// takes reports whether the request has a value of an entity's kind.
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

// operator finds the longest operator at a token that is no value, no courtesy and
// no quotation. "First, …" and "then" only put requests in order.
func (a *roleReading) operator(i, to int) (lexicon.Hit[lexicon.Operator], bool) {
	if a.Classes[i] != "" || a.m.Tokens[i].Is(tokenize.FormQuoted) {
		return lexicon.Hit[lexicon.Operator]{}, false
	}
	// "Se" is "if" in Portuguese and a pronoun in Spanish: a language that is ruled out has none.
	hit, ok := lexicon.FindIn(&a.m.lex.Operators, a.m.Tokens[:to], i, a.m.languages.At(i).Possible)
	if ok && hit.Value == lexicon.Or && (a.article(i, to) || hit.Language != a.m.language && a.m.is(i, lexicon.Article)) {
		return hit, false
	}
	if ok && hit.Tokens == 1 && a.then(i) && (hit.Value == lexicon.Order || hit.Value == lexicon.Afterwards || hit.Value == lexicon.Instead) {
		return hit, false
	}
	return hit, ok
}

// article tells a word for "or" that is an article of another language: right behind a
// verb and before no other deed, where there is nothing to choose between.
func (a *roleReading) article(i, to int) bool {
	return a.m.has(i, lexicon.Article) && i > 0 && i+1 < to && a.m.kin(i-1) != 0 && a.m.kin(i+1)&lexicon.ActionKinds() == 0
}

// excused tells an operator that the capability itself is asked for with.
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
