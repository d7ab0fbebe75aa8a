package intent

import (
	"context"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/piece"
	"github.com/manifold-run/manifold/intent/internal/slot"
	"github.com/manifold-run/manifold/intent/internal/text"
	"github.com/manifold-run/manifold/intent/internal/value"
)

const (
	// How sure the local matcher must be of what an engine proposes for it to be
	// believed; below it somebody is asked. likelyChosen is for a capability that was
	// chosen among several and is the likeliest to the local matcher too; where there
	// was no choice, an engine tends to take what there is, and likelyAlone counts. Of
	// several different requests to read something, which the local matcher hears less
	// well, one must reach likelyTogether.
	likelyChosen   = 0.12
	likelyTogether = 0.04
	// Chosen among so many, with nothing invented and a value that stands in the
	// message, a capability need not be likely to the local matcher.
	manyOffered = 8
	// longestCode is how many letters a code has at most.
	longestCode = 5
	// believed is the confidence that a believed proposal gets.
	believed = 0.9
	// kindModel is the evidence of a value that an engine found in the message.
	kindModel = "model"
)

// adopt reads a message again with what an engine proposes: the message is cut as
// the local matcher cuts it, each proposal takes the part that holds its values,
// and all goes through finish.
func (l *Local) adopt(ctx context.Context, q Query, offered int, proposals []Proposal) []Clause {
	s := newReader(l.Index(q.Catalog), l.tools, q)
	s.hear = l.hearing(ctx)
	if len(s.m.Tokens) == 0 {
		return nil
	}
	d, parts := adoption{s, offered}, s.propose()
	if len(parts) == 0 {
		parts = d.whole()
	}
	known := d.known(proposals)
	d.together(known)
	return s.finish(d.claim(parts, known))
}

// adoption settles what an engine proposes for one message.
type adoption struct {
	s *sentenceReader
	// offered is how many capabilities the engine chose from.
	offered int
}

// whole is the message as one part.
func (d adoption) whole() []*part {
	d.s.pieces = []piece.Piece{{To: len(d.s.m.Tokens), Joint: piece.Joint{Strong: true}}}
	d.s.parts = map[[2]int]*part{}
	return []*part{d.s.read(0, 0)}
}

// adopted is a proposal with its values settled and found in the message.
type adopted struct {
	idx       *indexed
	candidate Candidate
	taken     [][2]int // token ranges of its values
	// together is how likely the likeliest of several different requests is.
	together float64
}

// known settles the proposals for capabilities that may be chosen.
func (d adoption) known(proposals []Proposal) []adopted {
	var out []adopted
	for _, p := range proposals {
		idx, ok := d.s.x.refs[p.Entry.Ref()]
		if !ok || !d.s.allowed(idx) {
			continue
		}
		out = append(out, d.settleProposal(idx, p))
	}
	return out
}

// settleProposal keeps the values that fit the schema, with their places in the
// message; a required value that the engine left out is taken from the local
// reading.
func (d adoption) settleProposal(idx *indexed, p Proposal) adopted {
	set, all := d.s.x.set(idx), slot.Range{To: len(d.s.m.Tokens)}
	local := set.Complete(d.s.m, all, nil, set.Fill(d.s.m, all, nil))
	values, evidence := map[string]any{}, map[string]contracts.Evidence{}
	schema, err := idx.entry.Input()
	for name, v := range p.Parameters {
		if err != nil || schema == nil || v == nil {
			continue
		}
		property, declared := schema.Property(name)
		if !declared || len(property.Validate(v)) > 0 {
			continue // the local value stands in, if there is one
		}
		values[name] = v
		if ev, ok := d.place(local, name, v); ok {
			evidence[name] = ev
		} else if ev, ok := d.abbreviated(v); ok && !idx.entry.Policy.SideEffectClass.Writes() {
			evidence[name] = ev // a write shows such values as the engine's
		}
	}
	asked := slot.AskedWith(set)
	for _, name := range asked.Lacks(values, nil) {
		if v, ok := local.Values[name]; ok {
			values[name], evidence[name] = v, local.Evidence[name]
		}
	}
	a := adopted{idx: idx, candidate: Candidate{Entry: idx.entry, Parameters: values, Evidence: evidence, Missing: asked.Lacks(values, nil)}}
	for _, ev := range evidence {
		if first, last := d.s.m.TokensIn(ev.Span); last >= first {
			a.taken = append(a.taken, [2]int{first, last + 1})
		}
	}
	return a
}

// place finds where a value stands: where the local reading has the same, else its
// words.
func (d adoption) place(local slot.Filled, name string, v any) (contracts.Evidence, bool) {
	if ev, ok := local.Evidence[name]; ok && reflect.DeepEqual(local.Values[name], v) {
		return ev, true
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		first, found := d.place(local, "", list[0])
		last, also := d.place(local, "", list[len(list)-1])
		if !found || !also {
			return contracts.Evidence{}, false
		}
		return contracts.Evidence{Span: [2]int{min(first.Span[0], last.Span[0]), max(first.Span[1], last.Span[1])}, Kind: kindModel, P: believed}, true
	}
	for _, e := range d.s.m.Entities {
		if number, ok := v.(float64); ok && e.Number == number {
			return contracts.Evidence{Span: [2]int{d.s.m.Tokens[e.First].Start, d.s.m.Tokens[e.Last].End}, Kind: kindModel, P: believed}, true
		}
	}
	words, ok := v.(string)
	if !ok {
		return contracts.Evidence{}, false
	}
	return d.literally(words)
}

// abbreviated finds the words that a code is made of: USD for "US dollars", LA for
// "Los Angeles".
func (d adoption) abbreviated(v any) (contracts.Evidence, bool) {
	code, _ := v.(string)
	if len(code) < 2 || len(code) > longestCode || strings.ToUpper(code) != code {
		return contracts.Evidence{}, false
	}
	for i := range d.s.m.Tokens {
		if n := text.Spells(strings.ToLower(code), d.s.m.Tokens[i:]); n > 1 {
			return contracts.Evidence{Span: [2]int{d.s.m.Tokens[i].Start, d.s.m.Tokens[i+n-1].End}, Kind: kindModel, P: believed}, true
		}
	}
	return contracts.Evidence{}, false
}

// literally finds words in the message, whatever their case and accents.
func (d adoption) literally(words string) (contracts.Evidence, bool) {
	sought := text.Tokens(words)
	if len(sought) == 0 {
		return contracts.Evidence{}, false
	}
	for i := 0; i+len(sought) <= len(d.s.m.Tokens); i++ {
		if slices.EqualFunc(sought, d.s.m.Tokens[i:i+len(sought)], func(a, b text.Token) bool { return a.Fold == b.Fold }) {
			last := d.s.m.Tokens[i+len(sought)-1]
			return contracts.Evidence{Span: [2]int{d.s.m.Tokens[i].Start, last.End}, Kind: kindModel, P: believed}, true
		}
	}
	return contracts.Evidence{}, false
}

// claim gives each proposal the part that holds most of its values. A part that no
// proposal takes is a request of its own only if the local matcher is sure that it
// asks for something else; otherwise it is said of the part beside it.
func (d adoption) claim(parts []*part, proposals []adopted) []*part {
	takers := make([][]adopted, len(parts))
	for k, a := range proposals {
		at := d.partFor(parts, a, k)
		takers[at] = append(takers[at], a)
	}
	another := func(p *part) bool {
		return len(p.candidates) > 0 && p.plain >= settledConfidence &&
			!slices.ContainsFunc(proposals, func(a adopted) bool { return a.idx.entry == p.candidates[0].Entry })
	}
	var out []*part
	from := -1 // of parts that wait for the next one
	for i, p := range parts {
		switch first := len(out); {
		case len(takers[i]) > 0:
			for k, a := range takers[i] {
				out = append(out, d.claimed(p, a, slices.Delete(slices.Clone(takers[i]), k, k+1)))
			}
			for _, q := range out[first:] {
				if from >= 0 {
					q.from = from
				}
			}
			from = -1
		case another(p):
			out = append(out, p)
		case len(out) > 0 && out[len(out)-1].adopted:
			out[len(out)-1].to = p.to
		case from < 0:
			from = p.from
		}
	}
	return out
}

// partFor chooses a part: by the values, then by what the local matcher takes the
// part for, then by order.
func (d adoption) partFor(parts []*part, a adopted, k int) int {
	best, most := min(k, len(parts)-1), 0.0
	for i, p := range parts {
		worth := confidenceIn(p, a.idx)
		for _, r := range a.taken {
			worth += float64(max(0, min(r[1], p.to)-max(r[0], p.from)))
		}
		if worth > most {
			best, most = i, worth
		}
	}
	return best
}

// together notes how likely the likeliest of several different requests is.
func (d adoption) together(known []adopted) {
	most, different := 0.0, false
	for _, a := range known {
		most = max(most, d.likelihood(a.idx))
		different = different || a.idx != known[0].idx
	}
	for i := range known {
		if different {
			known[i].together = most
		}
	}
}

// likelyAlone is how likely a proposal must be by how many of its values stand in the
// message: each is a witness that the message is about this. likelyInvented counts
// where there is a value besides that stands nowhere in it.
//
//nolint:gochecknoglobals // constants that Go cannot spell
var (
	likelyAlone    = [...]float64{0.70, 0.40, 0.25, 0.01}
	likelyInvented = [...]float64{0.70, 0.60, 0.50}
)

// needed is how likely a proposal must be to the local matcher to be believed.
func (d adoption) needed(a adopted) float64 {
	invents, witnesses := d.invents(a), d.witnesses(a)
	if d.offered >= manyOffered && len(a.taken) > 0 && !invents {
		return 0
	}
	least := likelyAlone[min(witnesses, len(likelyAlone)-1)]
	if invents {
		least = likelyInvented[min(witnesses, len(likelyInvented)-1)]
	}
	if d.chosen(a.idx) {
		return min(least, likelyChosen)
	}
	return least
}

// witnesses counts the values of a proposal that stand in the message; values that are
// most of the message, such as a text to work on, count once more.
func (d adoption) witnesses(a adopted) int {
	covered := 0
	for i := range d.s.m.Tokens {
		if slices.ContainsFunc(a.taken, func(r [2]int) bool { return i >= r[0] && i < r[1] }) {
			covered++
		}
	}
	if 2*covered > len(d.s.m.Tokens) {
		return len(a.taken) + 1
	}
	return len(a.taken)
}

// invents tells whether a proposal has a value of which no word and no number stands
// in the message. Yes and no are ways to put things, and so is what a schema takes by
// default; to choose among what it lists takes a word.
func (d adoption) invents(a adopted) bool {
	schema, err := a.idx.entry.Input()
	for name, v := range a.candidate.Parameters {
		if _, found := a.candidate.Evidence[name]; found || err != nil {
			continue
		}
		if property, ok := schema.Property(name); ok {
			if usual, ok := property.Keyword("default"); ok && reflect.DeepEqual(usual, v) {
				continue
			}
		}
		if !d.hints(v) {
			return true
		}
	}
	return false
}

// hints tells whether a value shares a word or a number with the message.
func (d adoption) hints(v any) bool {
	switch v := v.(type) {
	case bool:
		return true
	case string:
		return slices.ContainsFunc(text.Tokens(v), func(t text.Token) bool {
			return len(t.Fold) > 1 && !t.Has(lang.Function) && slices.ContainsFunc(d.s.m.Tokens, func(said text.Token) bool { return said.Fold == t.Fold || said.Stem == t.Stem })
		})
	case []any:
		return slices.ContainsFunc(v, d.hints)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), d.hints)
	}
	number, ok := v.(float64)
	return ok && slices.ContainsFunc(d.s.m.Entities, func(e value.Entity) bool { return e.Number != 0 && digits(e.Number) == digits(number) })
}

// digits are what is left of a number without sign, point and zeros at its ends: a
// measure in another unit (50 mH for 0.05 H) and a share (5 % for 0.05) have the same.
func digits(f float64) string {
	mantissa, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(f), 'e', -1, 64), "e")
	return strings.Replace(mantissa, ".", "", 1)
}

// chosen tells whether a capability is the first of several to the local matcher.
func (d adoption) chosen(idx *indexed) bool {
	for _, p := range d.s.parts {
		if len(p.candidates) > 1 && p.candidates[0].Entry == idx.entry {
			return true
		}
	}
	return false
}

// likelihood is how sure the local matcher is, of any run of pieces that it read,
// that it asks for a capability.
func (d adoption) likelihood(idx *indexed) float64 {
	most := 0.0
	for _, p := range d.s.parts {
		most = max(most, confidenceIn(p, idx))
	}
	return most
}

func confidenceIn(p *part, idx *indexed) float64 {
	for _, c := range p.candidates {
		if c.Entry.Ref() == idx.entry.Ref() {
			return c.Confidence
		}
	}
	return 0
}

// claimed is a part with a proposal as its best reading, as sure as the local
// matcher lets it be. The values of other proposals for the same words are theirs.
func (d adoption) claimed(p *part, a adopted, others []adopted) *part {
	q := *p
	q.source, q.adopted = sourceModel, true
	local := d.likelihood(a.idx)
	best := a.candidate
	best.Confidence = max(DefaultClarify, local)
	// What has an effect is done by what the words plainly say, and asked about by what
	// an engine makes of them: "you needn't delete it" has the words of "get rid of it".
	writes := best.Entry.Policy.SideEffectClass.Writes()
	if !writes && (local >= d.needed(a) || a.together >= likelyTogether) {
		best.Confidence = max(believed, local)
	}
	best.Score = 1
	for _, c := range p.candidates {
		best.Score = max(best.Score, 2*c.Score) // it is no tie: the engine chose
	}
	q.candidates = []Candidate{best}
	for _, c := range p.candidates {
		if c.Entry.Ref() == a.idx.entry.Ref() {
			q.candidates[0].mood, q.candidates[0].nearest, q.candidates[0].begins, q.candidates[0].explained = c.mood, c.nearest, c.begins, c.explained
			continue
		}
		c.Confidence = min(c.Confidence, best.Confidence/2)
		q.candidates = append(q.candidates, c)
	}
	q.plain = q.candidates[0].Confidence
	for _, o := range others {
		q.apart = append(q.apart, o.taken...)
	}
	return &q
}
