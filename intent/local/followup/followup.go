package followup

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// CarriedEvidence is the evidence kind of a value from a reference such as "her".
const CarriedEvidence = "carried"

// Referent is a value of an earlier request that a reference may refer to.
type Referent struct{ Domain, Name, Value string }

// Referents returns the values of earlier requests, except kinds with several different values.
func Referents(catalog *contracts.Catalog, before []contracts.Intent) []Referent {
	var out []Referent
	several := map[[2]string]bool{}
	for _, in := range before {
		for _, name := range slices.Sorted(maps.Keys(in.Parameters)) {
			value, ok := in.Parameters[name].(string)
			if !ok || value == "" || strings.Contains(value, "${") || !TakesText(catalog, in.Ref(), name) {
				continue
			}
			t := Referent{in.Domain, name, value}
			if at := slices.IndexFunc(out, func(o Referent) bool { return o.Domain == t.Domain && o.Name == t.Name }); at < 0 {
				out = append(out, t)
			} else if out[at].Value != value {
				several[[2]string{t.Domain, t.Name}] = true
			}
		}
	}
	return slices.DeleteFunc(out, func(t Referent) bool { return several[[2]string{t.Domain, t.Name}] })
}

// TakesText reports whether a parameter takes any text, so that a referent may fill it.
func TakesText(catalog *contracts.Catalog, ref, name string) bool {
	entry, ok := catalog.Capability(ref)
	if !ok {
		return false
	}
	p, ok := entry.View().Property(name)
	return ok && len(p.Enum) == 0 && p.Format == ""
}

// References returns the references of a message to something said before, including clitics:
// "supprime-le", "apaga-o", "cancellalo".
func References(lexica *lexicon.Lexica, m *modality.Message) []tokenize.Span {
	var out []tokenize.Span
	for i, t := range m.Tokens {
		hyphen := t.Glued && i > 0 && t.Start > 0 && m.Src[t.Start-1] == '-' && (m.May(i, lexicon.Article) || t.Has(lexicon.Hung))
		polite := t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst)
		switch hangs := lexica.Hangs(t.Word); {
		case t.Is(tokenize.FormQuoted) || polite:
		case hyphen || m.Says(i, lexicon.Third) || m.May(i, lexicon.Third):
			out = append(out, spanOf(t))
		case hangs > 0 && !hyphened(m, i):
			out = append(out, tokenize.Span{Start: t.End - hangs, End: t.End})
		}
	}
	return out
}

// ElidedNouns returns the positions of elided nouns: "one" in "the Tesla one", before "von" in
// "den von Tesla".
func ElidedNouns(m *modality.Message) []tokenize.Span {
	var out []tokenize.Span
	article := -1
	for i, t := range m.Tokens {
		switch {
		case t.Is(tokenize.FormQuoted) || i > 0 && t.Break:
			article = -1
		case m.Says(i, lexicon.Article):
			article = i
		case article < 0:
		case i == article+1 && announces(m, i):
			out = append(out, tokenize.Span{Start: t.Start, End: t.Start})
			article = -1
		case i > article+1 && m.Says(i, lexicon.Anaphor):
			out = append(out, spanOf(t))
			article = -1
		case i > article+mostTelling:
			article = -1
		}
	}
	return out
}

// mostTelling is the maximum number of words between the article and "one".
const mostTelling = 4

// announces reports whether a token is a preposition in the language of the message.
func announces(m *modality.Message, i int) bool {
	for c := lexicon.PrepPlaceTime; c <= lexicon.PrepOther; c++ {
		if m.Says(i, c) {
			return true
		}
	}
	return false
}

// ObjectNoun returns the object of requests by the name of their only capability: "book
// loan" for one that lists book loans; or "".
func ObjectNoun(before []contracts.Intent) string {
	if len(before) != 1 {
		return ""
	}
	_, noun, ok := strings.Cut(before[0].Capability, "_")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(strings.ReplaceAll(noun, "_", " "), "s")
}

// IsComplete reports whether requests are complete without the earlier ones.
func IsComplete(intents []contracts.Intent, tokens []tokenize.Token, nameless []tokenize.Span, domain string) bool {
	return AllInDomain(intents, domain) && !IsIncomplete(intents, tokens, nameless)
}

// AllInDomain reports whether all requests belong to a domain.
func AllInDomain(intents []contracts.Intent, domain string) bool {
	return !slices.ContainsFunc(intents, func(in contracts.Intent) bool { return in.Domain != domain })
}

func spanOf(t tokenize.Token) tokenize.Span { return tokenize.Span{Start: t.Start, End: t.End} }

// hyphened reports whether a token follows a hyphen.
func hyphened(m *modality.Message, i int) bool {
	at := m.Tokens[i].Start
	return at > 0 && m.Src[at-1] == '-'
}

// IsIncomplete reports whether a request misses a parameter, or uses a reference or a
// question word as a value.
func IsIncomplete(intents []contracts.Intent, tokens []tokenize.Token, pointers []tokenize.Span) bool {
	return slices.ContainsFunc(intents, func(in contracts.Intent) bool {
		if len(in.Missing) > 0 {
			return true
		}
		for _, ev := range in.Evidence {
			within := func(s tokenize.Span) bool {
				return ev.Kind != CarriedEvidence && s.Start < ev.Span[1] && ev.Span[0] < s.End
			}
			if slices.ContainsFunc(pointers, within) || slices.ContainsFunc(tokens, func(t tokenize.Token) bool {
				return (t.Has(lexicon.Asks) || t.Has(lexicon.HowMany)) && within(spanOf(t))
			}) {
				return true
			}
		}
		return false
	})
}

// FillMissing fills the only missing parameter of a read with a referent.
func FillMissing(catalog *contracts.Catalog, in contracts.Intent, things []Referent) (contracts.Intent, bool) {
	if len(in.Missing) != 1 {
		return in, false
	}
	entry, ok := catalog.Capability(in.Ref())
	at := slices.IndexFunc(things, func(t Referent) bool { return t.Domain == in.Domain && t.Name == in.Missing[0] })
	if !ok || at < 0 || entry.Policy.SideEffectClass.Writes() {
		return in, false
	}
	in.Parameters = maps.Clone(in.Parameters)
	if in.Parameters == nil {
		in.Parameters = map[string]any{}
	}
	in.Parameters[in.Missing[0]] = things[at].Value
	in.Utterance = in.Utterance.With(in.Missing[0], contracts.FromCarried)
	in.Missing = nil
	return in, true
}

// MissingParameter returns the only missing parameter of a request. For a read it may be an
// optional one, if it is the only referent of the request before it: "the price of Apple and
// the alerts on it".
func MissingParameter(catalog *contracts.Catalog, of *contracts.CapabilityEntry, missing []string, said map[string]any, before *contracts.CapabilityEntry, values map[string]any) string {
	if len(missing) == 1 {
		return missing[0]
	}
	if len(missing) > 1 || of.Policy.SideEffectClass.Writes() {
		return ""
	}
	name := ""
	for _, t := range Referents(catalog, []contracts.Intent{{Domain: before.Domain, Capability: before.Capability.Name, Parameters: values}}) {
		if said[t.Name] != nil || !TakesText(catalog, of.Ref(), t.Name) {
			continue
		}
		if name != "" {
			return ""
		}
		name = t.Name
	}
	return name
}
