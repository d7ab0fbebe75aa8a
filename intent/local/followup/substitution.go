package followup

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Substitution is a text in which references are replaced with their referent.
type Substitution struct {
	thing Referent
	src   string
	out   strings.Builder
	from  int
	edits []edit
	// unsaid is the length of the removed prefix in bytes.
	unsaid int
}

// edit maps [at, at+now) of the new text to [was[0], was[1]) of the old one.
type edit struct {
	at, now int
	was     [2]int
}

// Substitute replaces references in a text with a referent.
func Substitute(src string, pointers []tokenize.Span, t Referent) *Substitution {
	e := &Substitution{src: src, thing: t}
	for _, p := range pointers {
		e.put(p.Start, p.End, t.Value)
	}
	e.out.WriteString(e.src[e.from:])
	return e
}

// Begun removes a leading word such as "und", which only marks a continuation.
func (e *Substitution) Begun(tokens []tokenize.Token) *Substitution {
	if len(tokens) > 0 && tokens[0].Has(lexicon.GoesOn) && len(e.edits) > 0 && tokens[0].End < e.edits[0].was[0] {
		e.unsaid = tokens[0].End
	}
	return e
}

// Nouns reports whether requests with an inserted noun, "delete the Tesla alert" for "the Tesla
// one", belong to the domain of the noun.
func (e *Substitution) Nouns(intents []contracts.Intent) bool {
	return e.thing.Name == "" && AllInDomain(intents, e.thing.Domain)
}

// Text returns the text after substitution.
func (e *Substitution) Text() string {
	return strings.Repeat(" ", e.unsaid) + e.out.String()[e.unsaid:]
}

func (e *Substitution) put(start, end int, words string) {
	between := e.src[e.from:start]
	if hung, ok := strings.CutSuffix(between, "-"); ok {
		between = hung + " "
	}
	e.out.WriteString(between)
	if last, _ := utf8.DecodeLastRuneInString(between); unicode.IsLetter(last) { // clitic of a word
		words = " " + words
	}
	if first, _ := utf8.DecodeRuneInString(e.src[end:]); start == end && unicode.IsLetter(first) { // between two words
		words += " "
	}
	e.edits = append(e.edits, edit{at: e.out.Len(), now: len(words), was: [2]int{start, end}})
	e.out.WriteString(words)
	e.from = end
}

// back maps a position to the old text. Inside of a replacement it returns an edge.
func (e *Substitution) back(at int, end bool) int {
	moved := 0
	for _, x := range e.edits {
		switch {
		case at <= x.at:
			return at + moved
		case at < x.at+x.now && !end:
			return x.was[0]
		case at <= x.at+x.now && (end || at < x.at+x.now):
			return x.was[1]
		}
		moved = x.was[1] - (x.at + x.now)
	}
	return at + moved
}

// Restore maps an intent of the substituted text back to the original one. It reports
// whether the intent uses the referent.
func (e *Substitution) Restore(in *contracts.Intent) bool {
	t, here := e.thing, e.takes(in)
	span := func(s [2]int) [2]int { return [2]int{e.back(s[0], false), e.back(s[1], true)} }
	word := e.src[e.edits[0].was[0]:e.edits[0].was[1]]
	in.Clause = strings.ReplaceAll(in.Clause, t.Value, word)
	in.Evidence = maps.Clone(in.Evidence)
	for name, ev := range in.Evidence {
		ev.Span = span(ev.Span)
		if here && name == t.Name {
			ev.Kind = CarriedEvidence
		}
		in.Evidence[name] = ev
	}
	if in.Utterance == nil {
		return here
	}
	said := *in.Utterance
	said.Text, said.Words = e.src, slices.Clone(said.Words)
	for i := range said.Words {
		said.Words[i].Span = span(said.Words[i].Span)
	}
	in.Utterance = &said
	if here {
		in.Utterance = in.Utterance.With(t.Name, contracts.FromCarried)
	}
	return here
}

// takes reports whether an intent uses the referent for the same parameter as before.
func (e *Substitution) takes(in *contracts.Intent) bool {
	t := e.thing
	_, here := in.Evidence[t.Name]
	return here && in.Domain == t.Domain && in.Parameters[t.Name] == t.Value
}
