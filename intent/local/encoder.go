package local

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// The weights of names and descriptions relative to examples in the mean vector of a capability.
const (
	meantName  = 0.1
	meantAbout = 0.1
)

// maxEncoded limits how many parts of one message are encoded.
const maxEncoded = 12

// embeddings holds the sentence embeddings of an index with an encoder.
type embeddings struct {
	space *retrieve.Space
	// calibration replaces the calibration of the index for messages with an embedding.
	calibration Calibration
	calibrates  bool
	// foreign holds the weights for messages with few known words: in another language, or out of
	// scope.
	foreign weights
	// spoken holds the languages of the examples per domain number. glossaries holds the words of
	// the domains that lack a language.
	spoken     map[int32]map[int]bool
	glossaries map[int32]*slots.Glossary
}

// mostSpoken limits how many examples are used to detect the languages of a domain.
const mostSpoken = 60

// spokenIn detects the languages of the examples of each domain.
func spokenIn(x *Index) map[int32]map[int]bool {
	examples := map[int32][]string{}
	for _, c := range x.caps {
		if c != nil && c.entry.Capability.Metadata.IntentHints != nil {
			examples[c.domain] = append(examples[c.domain], c.entry.Capability.Metadata.IntentHints.Examples...)
		}
	}
	out := map[int32]map[int]bool{}
	for domain, all := range examples {
		some := make([]string, 0, mostSpoken)
		for i := range min(len(all), mostSpoken) {
			some = append(some, all[i*len(all)/min(len(all), mostSpoken)])
		}
		out[domain] = retrieve.LanguagesOf(x.tools.Lexicon.Lexica, some)
	}
	return out
}

// isForeign reports whether a token is in a language that the domain does not support.
func (s *sentenceReader) isForeign(c *indexed, from int) bool {
	return s.x.embeddings != nil && s.encode != nil && slots.IsForeignWord(s.m, s.x.embeddings.spoken[c.domain], from)
}

// knownLittle is the minimum share of known words outside of values.
const knownLittle = 0.34

// foreign reports whether only embeddings can match the message, since few of its words are known.
func (of readings) foreign() bool {
	return of.encoded && !slices.ContainsFunc(of.all, func(r rated) bool { return r.exact || r.cover.Spoken >= knownLittle })
}

// otherLanguage is the factor for the similarity of a translation.
const otherLanguage = 0.93

// asTranslation scales an embedding as if the text were in another language.
func asTranslation(v []float32) []float32 {
	for i := range v {
		v[i] *= otherLanguage
	}
	return v
}

// asForeign returns the tokens of a message as if it were in an unknown language, except for
// values.
func asForeign(x *Index, m *slots.Message) []tokenize.Token {
	out := slices.Clone(m.Tokens)
	small := x.tools.Lexicon.Languages[len(x.tools.Lexicon.Languages)-1].Words(lexicon.Function)
	for i, t := range out {
		inEntity := slices.ContainsFunc(m.Entities, func(e values.Entity) bool { return e.First <= i && i <= e.Last })
		switch {
		case inEntity, t.Is(tokenize.FormQuoted | tokenize.FormDigits | tokenize.FormMixed | tokenize.FormCaps), t.Named() && i > 0, x.words.values[t.Fold]:
		case x.tools.Lexicon.StopWord(t.Fold) && len(small) > 0:
			out[i] = t.Respelled(small[i%len(small)])
		default:
			letters := []rune(t.Fold)
			slices.Reverse(letters)
			out[i] = t.Respelled("q" + string(letters) + "q")
		}
	}
	return out
}

// encodeFunc returns the embedding of a text, or nil.
type encodeFunc func(text string) []float32

// encoder returns the encoder for the parts of one message. After the first error the message is
// read without embeddings.
func (l *Local) encoder(ctx context.Context) encodeFunc {
	if l.scorer == nil {
		return nil
	}
	calls := 0
	return func(text string) []float32 {
		if calls++; calls > maxEncoded {
			return nil
		}
		v, err := l.scorer.Score(ctx, text)
		if err != nil {
			calls = maxEncoded
			return nil
		}
		return v
	}
}

func (l *Local) report(err error) {
	if l.scorerTold != nil {
		l.scorerTold(err)
	}
}

// vector returns the embedding of a range of tokens, or nil.
func (s *sentenceReader) vector(from, to int) []float32 {
	if s.encode == nil || s.x.embeddings == nil || from >= to {
		return nil
	}
	v := s.encode(s.unquoted(from, to))
	if len(v) != s.x.embeddings.space.Dims() {
		return nil
	}
	return v
}

// quotedWords is the minimum length of a quotation that is speech and not part of the request, in
// words.
const quotedWords = 3

// unquoted returns the text of a range of tokens without long quotations.
func (s *sentenceReader) unquoted(from, to int) string {
	src, at := s.q.Message, s.m.Tokens[from].Start
	var b strings.Builder
	for i := from; i < to; {
		end := i
		for end < to && s.m.Tokens[end].Is(tokenize.FormQuoted) {
			end++
		}
		if end-i >= quotedWords && end-i < to-from {
			b.WriteString(src[at:s.m.Tokens[i].Start] + "…")
			at = s.m.Tokens[end-1].End
		}
		i = max(end, i+1)
	}
	b.WriteString(src[at:s.m.Tokens[to-1].End])
	return b.String()
}

// search ranks capabilities for a range of tokens, and reports whether it used an embedding.
func (s *sentenceReader) search(from, to int) ([]hit, bool) {
	v := s.vector(from, to)
	return s.x.search(s.said.Asking(s.m.Tokens[from:to], from), v, s.allowed), v != nil
}

// certainty returns the calibration with or without an embedding, and whether it was fitted to
// this catalog.
func (s *sentenceReader) certainty(encoded bool) (*Calibration, bool) {
	if encoded {
		return &s.x.embeddings.calibration, s.x.embeddings.calibrates
	}
	return &s.x.calibration, s.x.calibrates
}

// score computes the embedding similarity of every capability.
func (m *embeddings) score(s *scratch, means []float32) {
	s.meant = s.meant[:0]
	if len(means) == 0 {
		return
	}
	s.meant = slices.Grow(s.meant, m.space.Size())[:m.space.Size()]
	m.space.Score(means, s.meant)
}

// compare computes the similarity of the hits to single examples, and their softmax.
func (m *embeddings) compare(hits []hit, means []float32) {
	if len(means) == 0 {
		return
	}
	top, sum := 0.0, 0.0
	for i := range hits {
		h := &hits[i]
		h.meant, h.alike = m.space.Likeness(int(h.number), means)
		h.score += shareAlike * h.alike
		top = max(top, h.meant)
	}
	for i := range hits {
		hits[i].meantShare = math.Exp(hitSharpness * (hits[i].meant - top))
		sum += hits[i].meantShare
	}
	for i := range hits {
		hits[i].meantShare /= sum
	}
}

// withEmbeddings returns a copy of a trained index with embeddings. The cache must contain all
// texts. weights are the trained vectors, or nil to train them.
func withEmbeddings(x *Index, known *retrieve.VectorCache, weights []float32) *Index {
	capabilities := make([][]retrieve.Sentence, len(x.caps))
	for i, c := range x.caps {
		if c == nil {
			continue
		}
		for _, t := range textsOf(c.entry.Capability) {
			capabilities[i] = append(capabilities[i], retrieve.Sentence{Vector: known.Compact(t.text), Weight: t.weight, Example: t.example})
		}
		for _, w := range wordsOf(c.entry.Capability) {
			capabilities[i] = append(capabilities[i], retrieve.Sentence{Vector: known.Compact(w), Word: true})
		}
	}
	y := *x
	y.embeddings = &embeddings{space: retrieve.NewSpace(known.Dims(), capabilities, weights), calibration: shippedMeant(), foreign: shippedForeign(), spoken: spokenIn(x)}
	y.embeddings.glossaries = glossariesOf(x, y.embeddings.spoken, known)
	return &y
}

// describingText is a text that describes what a capability means.
type describingText struct {
	text    string
	weight  float32
	example bool
}

func textsOf(c *contracts.Capability) []describingText {
	out := []describingText{{tokenize.SplitName(c.Name), meantName, false}}
	if c.Description != "" {
		out = append(out, describingText{c.Description, meantAbout, false})
	}
	if hints := c.Metadata.IntentHints; hints != nil {
		for _, e := range hints.Examples {
			out = append(out, describingText{e, 1 / float32(len(hints.Examples)), true})
		}
	}
	return out
}

// mostWordsMeant limits the request words of one capability.
const mostWordsMeant = 24

// wordsOf returns the request words and names of a capability.
func wordsOf(c *contracts.Capability) []string {
	words := strings.Fields(tokenize.SplitName(c.Name))
	out := []string{}
	if c.Metadata.IntentHints != nil {
		out = append(out, retrieve.RepeatedWords(c.Metadata.IntentHints.Examples)...)
	}
	for i := range words { // "request time off" gives "time off" and "off"
		out = append(out, strings.Join(words[i:], " "), words[i])
	}
	if c.Metadata.IntentHints != nil {
		out = append(out, c.Metadata.IntentHints.Keywords...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Metadata.ParameterSpecs)) {
		out = append(out, tokenize.SplitName(name))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), mostWordsMeant)]
}

// likeForeign is likeWord for words of a language that the domain does not support.
const likeForeign = likeWord * otherLanguage

// Labels reports whether a token is similar to the name of a parameter.
func (v vocabulary) Labels(t tokenize.Token, parameter string) bool {
	s := v.reader
	if s.encodeWord == nil || s.x.embeddings == nil {
		return false
	}
	a, b := s.encodeWord(s.q.Message[t.Start:t.End]), s.encodeWord(tokenize.SplitName(parameter))
	if len(a) == 0 || len(a) != len(b) {
		return false
	}
	var like float64
	for i := range a {
		like += float64(a[i]) * float64(b[i])
	}
	return like >= likeForeign
}

// likeWord is the minimum similarity of a synonym of a request word.
const likeWord = 0.75

// Like reports whether a token is similar to a request word. For an irreversible write it returns
// false, so that the user is asked.
func (v vocabulary) Like(t tokenize.Token) bool {
	s := v.reader
	if s.crossLingual.at(v.of, t.Start) {
		return true // a replaced word: no synonym shows what else was meant
	}
	if s.encodeWord == nil || s.x.embeddings == nil || v.of.entry.Policy.SideEffectClass == contracts.ClassWriteIrreversible {
		return false
	}
	means := s.encodeWord(s.q.Message[t.Start:t.End])
	return len(means) == s.x.embeddings.space.Dims() && s.x.embeddings.space.Word(int(v.of.number), means) >= v.near()
}

// near returns the minimum similarity for this message.
func (v vocabulary) near() float64 {
	if v.reader.isForeign(v.of, v.from) {
		return likeForeign
	}
	return likeWord
}

func textsIn(catalog *contracts.Catalog) []string {
	var out []string
	for _, domain := range catalog.Domains {
		for _, entry := range domain.Capabilities {
			if !entry.Routable() {
				continue
			}
			for _, t := range textsOf(entry.Capability) {
				out = append(out, t.text)
			}
			out = append(out, wordsOf(entry.Capability)...)
			out = append(out, slices.Sorted(maps.Keys(slots.GlossaryWords(entry.Capability, titleOf(domain))))...)
		}
	}
	return out
}
