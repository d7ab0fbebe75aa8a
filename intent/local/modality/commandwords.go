package modality

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// longestNaming is the maximum length in tokens of a phrase such as "under the name of".
const longestNaming = 4

// markIntroducers marks the words that introduce a value, such as "that says".
func (a *roleReading) markIntroducers(from, to int) {
	for _, v := range a.Values {
		for i := v.First - 1; i >= from && i < to && a.Classes[i] == "" && a.m.has(i, lexicon.Says, lexicon.Saying, lexicon.Utters, lexicon.Conveys, lexicon.Relative, lexicon.Links); i-- {
			a.Classes[i] = contracts.WordCommand
		}
		for i := max(from, v.First-longestNaming); i < min(v.First, to); i++ {
			if NamingPhrase(a.m, i) == v.First-1 {
				a.set(i, v.First, contracts.WordCommand)
			}
		}
		if i := v.Last + 1; i < to && a.Classes[i] == "" && a.m.Tokens[v.Last].Is(tokenize.FormQuoted) && !a.m.Tokens[i].Break && a.m.has(i, lexicon.Says) {
			a.Classes[i] = contracts.WordCommand // "der „Hallo“ sagt"
		}
		if !v.End && a.m.inEntity[max(v.First, 0)] {
			a.markStartWords(v.First-1, from)
		}
	}
}

// bindSpeech marks a relative clause with speech that is no value as binding: "a bot that answers
// hello".
func bindSpeech(a *roleReading, from, to int) {
	for i := from + 1; i+1 < to; i++ {
		if a.m.is(i, lexicon.Utters) && a.m.is(i-1, lexicon.Relative) && a.Classes[i] == "" && !a.m.is(i+1, lexicon.Function) && !slices.Contains(a.Classes[i+1:to], contracts.WordValue) {
			a.set(i+1, to, contracts.WordUnresolved)
		}
	}
}

// bindCoordinated marks a coordinated verb with an object pronoun as binding, even if it may be a
// noun of the capability: "take the bot and call it Desk".
func bindCoordinated(a *roleReading, from, to int) {
	for i := from + 1; i+1 < to; i++ {
		if a.m.isCoordinating(i-1) && a.Classes[i] == "" && a.m.is(i+1, lexicon.Third) && !a.m.isFunctionWord(i) && a.m.kin(i)&a.kinds == 0 && !slices.Contains(a.Knows.Verbs(), a.m.Tokens[i].Stem) {
			a.bind(i, i+1, from)
		}
	}
}

// markOrdered marks the verb of a statement that a later request refers to as part of the
// command: "Ana is going on leave on Monday, please enter that".
func markOrdered(a *roleReading, from, to int) {
	for i := from; i < to && a.m.Ordered(from, to); i++ {
		if a.Classes[i] != "" || !a.m.is(i, lexicon.Finite, lexicon.Helps, lexicon.Takes) {
			continue
		}
		a.set(i, i+1, contracts.WordCommand)
		if i+1 < to && a.Classes[i+1] == "" && a.m.lex.Bends(a.m.language, a.m.Tokens[i+1].Fold) {
			a.set(i+1, i+2, contracts.WordCommand)
		}
		return
	}
}

// markStartWords marks words before a date that make it a start date: "à partir du".
func (a *roleReading) markStartWords(i, from int) {
	for ; i >= from && a.Classes[i] == "" && !a.m.Tokens[i+1].Break && (a.m.isFunctionWord(i) || a.m.has(i, lexicon.Starts)); i-- {
		if a.m.has(i, lexicon.Starts) {
			a.Classes[i] = contracts.WordCommand
		}
	}
}

// open classifies the tokens of a command, or of a part of one.
func (a *roleReading) open(from, to int) {
	a.markIntroducers(from, to)
	a.operators(from, to)
	bindFilters(a, from, to)
	a.joinParticle(from, to)
	bindSpeech(a, from, to)
	bindCoordinated(a, from, to)
	markOrdered(a, from, to)
	verb := a.verb(from, to)
	particle(a, verb, to)
	run := -1
	for i := from; i <= to; i++ {
		content := i < to && a.Classes[i] == "" && i != verb && !a.m.small(i) && !a.isUnreadValue(i) && !a.then(i) && (!a.Reads || !a.m.has(i, lexicon.Asks))
		if content && (run < 0 || a.m.Tokens[i].Break) {
			a.noun(run, i, from)
			run = i
			continue
		}
		if !content && run >= 0 {
			a.noun(run, i, from)
			run = -1
		}
		if i < to && a.Classes[i] == "" && i != verb && a.isUnreadValue(i) {
			a.bind(i, i+1, from)
		}
	}
	for i := from; i < to; i++ {
		if a.Classes[i] == "" {
			a.Classes[i] = contracts.WordCommand
		}
	}
}

// bindFilters marks the negations of a read that say which things are meant, and that no example
// has: the result would be too large without them.
func bindFilters(a *roleReading, from, to int) {
	if !a.Reads || StartsNegated(a.m.Tokens[from:to]) {
		return
	}
	for i := from; i < to; i++ {
		if a.Classes[i] == "" && a.m.has(i, lexicon.Negation) && saysWhich(a.m.Tokens[from:i+1]) && !a.Knows.Says([]string{a.m.Tokens[i].Fold}) {
			a.Excepted = true
			a.bind(i, i+1, from)
		}
	}
}

// isUnreadValue reports whether a token is a number, a date, a name, an identifier or a quotation
// that is no value.
func (a *roleReading) isUnreadValue(i int) bool {
	t := a.m.Tokens[i]
	if t.Is(tokenize.FormQuoted) || a.m.code[i] {
		return true
	}
	if a.Knows.Head(t) || asksForAnother(a, i, i+1) {
		return false
	}
	if a.m.inEntity[i] {
		return true
	}
	if !t.Named() || a.m.small(i) {
		return false
	}
	return t.Is(tokenize.FormMixed|tokenize.FormCaps|tokenize.FormDigits) || !a.m.lex.Languages[a.m.language].Capitalises
}

// verb returns the index of the verb of a segment, or -1, and marks it. A verb that is not the
// capability's is binding.
func (a *roleReading) verb(from, to int) int {
	for i := from; i < to; i++ {
		switch {
		case a.Classes[i] != "":
			if a.Classes[i] == contracts.WordValue {
				return -1
			}
			continue
		case a.m.isCoordinating(i), a.then(i):
			continue
		case a.m.is(i, lexicon.Light) || !a.m.isFunctionWord(i):
		default:
			continue
		}
		kin := a.m.kin(i)
		own := kin&a.kinds != 0 || a.Reads && (a.m.has(i, lexicon.Asks) || a.m.is(i, lexicon.Explains)) || a.Gives && a.m.is(i, lexicon.Want) || a.Knows.Head(a.m.Tokens[i]) && (!a.ordered || kin == 0) || slices.Contains(a.Knows.Verbs(), a.m.Tokens[i].Stem)
		switch {
		case own:
			a.ordered = true
			a.set(i, i+1, contracts.WordCommand)
			return i
		case a.m.is(i, lexicon.Light) && (a.Reads || kin == 0 && i == from):
			return -1 // such as "let me know"
		case a.phrasal(i, to):
			a.set(i, i+1, contracts.WordCommand)
			return i
		case kin != 0 && !a.m.named(i) || a.m.bids(i) || a.m.is(i, lexicon.Light) && i > from:
			a.bind(i, i+1, from)
			return i
		}
		return -1
	}
	return -1
}

// joinParticle joins the particle at the end of a command to its separable verb: "sag … ab" is
// "absagen", and "buche … um" is not "buchen".
func (a *roleReading) joinParticle(from, to int) {
	last := to - 1
	if last <= from || a.Classes[last] != "" || !a.m.is(last, lexicon.Separates) {
		return
	}
	verb := from
	for verb < last && (a.Classes[verb] != "" || a.m.isFunctionWord(verb) && !a.m.is(verb, lexicon.Light)) {
		verb++
	}
	switch {
	case verb < last && a.m.lex.Kin(a.m.Tokens[last].Fold+a.m.Tokens[verb].Fold)&a.kinds != 0:
		a.Classes[verb], a.Classes[last] = contracts.WordCommand, contracts.WordCommand
	case !a.Knows.Head(a.m.Tokens[last]):
		a.bind(last, to, from)
	}
}

// maxParticleDistance is the maximum distance between the parts of a phrasal verb in words.
const maxParticleDistance = 6

// particle marks the particle of a phrasal verb of the capability: "push the deadline back", "da …
// de alta".
func particle(a *roleReading, verb, to int) {
	for i := verb + 1; verb >= 0 && i < min(to, verb+1+maxParticleDistance); i++ {
		if a.Classes[i] == "" && a.m.word(i) && a.m.lex.Kin(a.m.Tokens[i].Fold+a.m.Tokens[verb].Fold)&a.kinds != 0 {
			a.Classes[i] = contracts.WordCommand
			return
		}
	}
}

// then reports whether a word only puts requests in order: "first", "dann".
func (a *roleReading) then(i int) bool {
	return a.m.then(i) || i+1 < len(a.m.Tokens) && a.Classes[i] == "" && a.m.bids(i+1) && a.m.isFunctionWord(i)
}

// phrasal reports whether the next word belongs to a phrasal verb of the capability: "get rid of",
// "call off".
func (a *roleReading) phrasal(i, to int) bool {
	return i+1 < to && a.Classes[i+1] == "" && !a.m.Tokens[i+1].Break && (a.m.kin(i+1)|a.m.lex.Kin(a.m.Tokens[i+1].Fold+a.m.Tokens[i].Fold))&a.kinds != 0
}

// noun classifies a noun phrase. Its head must be known; modifiers change nothing.
func (a *roleReading) noun(from, to, segment int) {
	if from < 0 || from >= to {
		return
	}
	head := to - 1
	if a.m.headFirst() {
		head = from
	}
	if mentionsSwitch(a, from, to) {
		a.bind(from, to, segment)
		return
	}
	if asksForAnother(a, from, to) {
		a.set(from, to, contracts.WordCommand)
		return
	}
	if a.knows(head) {
		a.markBeside(from, to)
		return
	}
	governed := from > segment && a.Classes[from-1] == "" && a.m.isFunctionWord(from-1) && !a.m.has(from-1, lexicon.Pronoun, lexicon.Subject)
	if a.adverb(head) && !governed || a.adverb(head) && to-from > 1 {
		a.markBeside(from, to)
		return
	}
	labels := to-from == 1 && to < len(a.Classes) && a.Classes[to] == contracts.WordValue
	if labels && a.m.Tokens[to].Is(tokenize.FormQuoted) && speech(a.m, from) {
		a.set(from, to, contracts.WordCommand) // apposition to a quotation: "send the words “all is well”"
		return
	}
	label := labels && a.Knows.Labels(a.m.Tokens[from], a.Parameters[to]) // parameter name before its value: "in den Kanal sales"
	if to-from == 1 && a.isMisspelled(from) {
		a.set(from, to, contracts.WordCommand)
		return
	}
	if a.Knows.Like(a.m.Tokens[head]) && len(a.Open) == 0 || label {
		a.markBeside(from, to)
		return
	}
	a.bind(from, to, segment)
}

// speech reports whether a token is a noun for something that is said or written.
func speech(m *Message, i int) bool {
	return slices.ContainsFunc(m.lex.Languages[m.language].Words(lexicon.NameSpeech), func(w string) bool { return lexicon.Fold(w) == m.Tokens[i].Fold })
}

// asksForAnother reports whether words such as "another one" ask for one more of a kind.
func asksForAnother(a *roleReading, from, to int) bool {
	for i := from; i < to; i++ {
		if !a.m.is(i, lexicon.Anaphor) {
			return false
		}
	}
	return a.kinds&(lexicon.KindOf("create")|lexicon.KindOf("request")|lexicon.KindOf("reserve")) != 0
}

// mentionsSwitch reports whether a run contains the noun of a boolean parameter without a value:
// "visible to the customer".
func mentionsSwitch(a *roleReading, from, to int) bool {
	return slices.ContainsFunc(a.Open, func(noun string) bool {
		return slices.ContainsFunc(a.m.Tokens[from:to], func(t tokenize.Token) bool { return t.Stem == noun || a.Knows.Labels(t, noun) })
	})
}

// isMisspelled reports whether a function word is misspelled: the unit of a value ("2 dys"), or a
// preposition right before a value ("form 2026-12-07").
func (a *roleReading) isMisspelled(i int) bool {
	fold := a.m.Tokens[i].Fold
	valued := func(i int) bool { return i >= 0 && i < len(a.Classes) && a.Classes[i] == contracts.WordValue }
	near := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			w = lexicon.Fold(w)
			return len(w) >= minMisspelledLength && len(fold) >= minMisspelledLength-1 && w[0] == fold[0] && tokenize.OneSlip(fold, w)
		})
	}
	l := a.m.lex.Languages[a.m.language]
	if valued(i-1) && a.m.Tokens[i-1].Is(tokenize.FormDigits) && near(l.Numbers.UnitWords()) {
		return true
	}
	return valued(i+1) && near(l.Words(lexicon.Function))
}

// minMisspelledLength is the minimum length of a function word for which a misspelling is
// recognised.
const minMisspelledLength = 4

// markBeside marks words that change nothing. Known words belong to the command.
func (a *roleReading) markBeside(from, to int) {
	for i := from; i < to; i++ {
		class := contracts.WordUnused
		if a.knows(i) {
			class = contracts.WordCommand
		}
		a.Unknown = a.Unknown || class == contracts.WordUnused && a.Classes[i] == ""
		a.set(i, i+1, class)
	}
}

// knows reports whether a token is a request word in any form.
func (a *roleReading) knows(i int) bool {
	return a.Gives && a.m.is(i, lexicon.Want) || a.Knows.Head(a.m.Tokens[i]) || a.m.kin(i)&a.kinds != 0
}

// adverb reports whether a token is an adverb such as "quickly" or "rapidamente".
func (a *roleReading) adverb(i int) bool { return adverbial(a.m.Tokens[i].Fold) }

// bind marks unread words and the function words before them as binding.
func (a *roleReading) bind(from, to, segment int) {
	for from > segment && a.Classes[from-1] == "" && !a.m.Tokens[from].Break && a.m.isFunctionWord(from-1) && !a.m.isCoordinating(from-1) {
		from--
	}
	a.set(from, to, contracts.WordUnresolved)
}
