package intent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/schema"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Carry understands a message that goes on from the requests before it: a word such as
// "her" stands for whom they were about, or, if it may be left out, nothing does and one
// thing is lacking. It is false where the message says all that it needs, where it is not
// plain with what those requests were about, and where they were about several of a kind.
func (a *Adapter) Carry(ctx context.Context, req Request, before []contracts.Intent, unsaid bool) (Understanding, bool) {
	things := thingsOf(req.Catalog, before)
	if len(things) == 0 || len(req.Message) > maxCarried {
		return Understanding{}, false
	}
	req.Local = true
	u, err := a.Understand(ctx, req)
	if err != nil {
		return Understanding{}, false
	}
	s := newReader(a.local.Index(req.Catalog), a.local.tools, req.query())
	pointers := s.pointers()
	if len(pointers) == 0 || unsaid {
		return leftOut(req.Catalog, u, things, unsaid)
	}
	if u.Outcome == contracts.GateAccept && !lacks(u.Intents, s.m, pointers) {
		return Understanding{}, false
	}
	var found []Understanding
	for _, t := range things {
		if read, ok := a.instead(ctx, req, s.m, pointers, t); ok {
			found = append(found, read)
		}
	}
	if len(found) != 1 {
		return Understanding{}, false
	}
	return found[0], true
}

// maxCarried bounds how many bytes a message may have that points at one before it.
const maxCarried = 400

// thing is a value of an earlier request that a later one may be about.
type thing struct{ domain, name, value string }

// thingsOf are the texts that requests were about, if they were about one of each kind.
func thingsOf(catalog *contracts.Catalog, before []contracts.Intent) []thing {
	var out []thing
	several := map[[2]string]bool{}
	for _, in := range before {
		for _, name := range slices.Sorted(maps.Keys(in.Parameters)) {
			value, ok := in.Parameters[name].(string)
			if !ok || value == "" || strings.Contains(value, "${") || !mayBeAnything(catalog, in.Ref(), name) {
				continue
			}
			t := thing{in.Domain, name, value}
			if at := slices.IndexFunc(out, func(o thing) bool { return o.domain == t.domain && o.name == t.name }); at < 0 {
				out = append(out, t)
			} else if out[at].value != value {
				several[[2]string{t.domain, t.name}] = true
			}
		}
	}
	return slices.DeleteFunc(out, func(t thing) bool { return several[[2]string{t.domain, t.name}] })
}

// mayBeAnything tells a parameter that takes any text, and so may name a thing: no day
// and none of a list.
func mayBeAnything(catalog *contracts.Catalog, ref, name string) bool {
	entry, ok := catalog.Capability(ref)
	var all schema.Schema
	if !ok || json.Unmarshal(entry.Capability.Schema, &all) != nil {
		return false
	}
	for _, p := range all.Members() {
		if p.Name == name {
			return len(p.Schema.Options()) == 0 && p.Schema.Format == ""
		}
	}
	return false
}

// pointers are the words of a message that point at something said before. A small word
// that hangs on a verb by a hyphen is one too: "supprime-le", "apaga-o".
func (s *sentenceReader) pointers() []int {
	var out []int
	for i, t := range s.m.Tokens {
		hangs := t.Glued && i > 0 && t.Start > 0 && s.m.Src[t.Start-1] == '-' && s.said.Says(i, lang.Article)
		polite := t.Is(text.FormTitle) && !t.Is(text.FormFirst)
		if !t.Is(text.FormQuoted) && !polite && (hangs || s.said.Says(i, lang.Third)) {
			out = append(out, i)
		}
	}
	return out
}

// lacks tells whether a request needs something that is not said, or takes a word that
// points at something for a value.
func lacks(intents []contracts.Intent, m *slot.Message, pointers []int) bool {
	return slices.ContainsFunc(intents, func(in contracts.Intent) bool {
		if len(in.Missing) > 0 {
			return true
		}
		for _, ev := range in.Evidence {
			for _, i := range pointers {
				if t := m.Tokens[i]; ev.Kind != kindCarried && t.Start < ev.Span[1] && ev.Span[0] < t.End {
					return true
				}
			}
		}
		return false
	})
}

// leftOut gives a request that only looks the one thing that it needs and nobody said.
func leftOut(catalog *contracts.Catalog, u Understanding, things []thing, may bool) (Understanding, bool) {
	if !may || u.Outcome != contracts.GateAccept || len(u.Intents) != 1 || len(u.Unused) > 0 || len(u.Intents[0].Missing) != 1 {
		return u, false
	}
	in := u.Intents[0]
	entry, ok := catalog.Capability(in.Ref())
	at := slices.IndexFunc(things, func(t thing) bool { return t.domain == in.Domain && t.name == in.Missing[0] })
	if !ok || at < 0 || entry.Policy.SideEffectClass.Writes() {
		return u, false
	}
	in.Parameters = maps.Clone(in.Parameters)
	if in.Parameters == nil {
		in.Parameters = map[string]any{}
	}
	in.Parameters[in.Missing[0]] = things[at].value
	in.Said = in.Said.With(in.Missing[0], contracts.FromCarried)
	in.Missing = nil
	u.Intents = []contracts.Intent{in}
	return u, true
}

// instead reads a message with a thing in the place of the words that point at it. It
// must be plain then, and take the thing for what it was; a write points at it once.
func (a *Adapter) instead(ctx context.Context, req Request, m *slot.Message, pointers []int, t thing) (Understanding, bool) {
	e := exchange{src: req.Message}
	for _, i := range pointers {
		e.put(m.Tokens[i].Start, m.Tokens[i].End, t.value)
	}
	req.Message = e.done()
	u, err := a.Understand(ctx, req)
	if err != nil || u.Outcome != contracts.GateAccept || len(u.Unused) > 0 {
		return u, false
	}
	taken := false
	for n := range u.Intents {
		in := &u.Intents[n]
		entry, ok := req.Catalog.Capability(in.Ref())
		if !ok || entry.Policy.SideEffectClass.Writes() && len(pointers) > 1 {
			return u, false
		}
		_, here := in.Evidence[t.name]
		if here = here && in.Domain == t.domain && in.Parameters[t.name] == t.value; here {
			taken = true
		}
		e.restore(in, t, here)
	}
	return u, taken
}

// exchange is a text with other words in the place of some of it.
type exchange struct {
	src   string
	out   strings.Builder
	from  int
	edits []edit
}

// edit is [at, at+now) of the new text, which was [was[0], was[1]) of the old one.
type edit struct {
	at, now int
	was     [2]int
}

func (e *exchange) put(start, end int, words string) {
	between := e.src[e.from:start]
	if hung, ok := strings.CutSuffix(between, "-"); ok {
		between = hung + " "
	}
	e.out.WriteString(between)
	e.edits = append(e.edits, edit{at: e.out.Len(), now: len(words), was: [2]int{start, end}})
	e.out.WriteString(words)
	e.from = end
}

func (e *exchange) done() string {
	e.out.WriteString(e.src[e.from:])
	return e.out.String()
}

// back gives the place in the old text; inside of an exchange it is an edge of it.
func (e *exchange) back(at int, end bool) int {
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

// restore makes an intent one of the old text again, in which a word stands for the thing.
func (e *exchange) restore(in *contracts.Intent, t thing, here bool) {
	span := func(s [2]int) [2]int { return [2]int{e.back(s[0], false), e.back(s[1], true)} }
	word := e.src[e.edits[0].was[0]:e.edits[0].was[1]]
	in.Clause = strings.ReplaceAll(in.Clause, t.value, word)
	in.Evidence = maps.Clone(in.Evidence)
	for name, ev := range in.Evidence {
		ev.Span = span(ev.Span)
		if here && name == t.name {
			ev.Kind = kindCarried
		}
		in.Evidence[name] = ev
	}
	if in.Said == nil {
		return
	}
	said := *in.Said
	said.Text, said.Words = e.src, slices.Clone(said.Words)
	for i := range said.Words {
		said.Words[i].Span = span(said.Words[i].Span)
	}
	in.Said = &said
	if here {
		in.Said = in.Said.With(t.name, contracts.FromCarried)
	}
}
