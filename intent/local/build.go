package local

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// The weights of the texts of a capability other than its examples.
const (
	weightName     = 0.35
	weightAbout    = 0.35
	weightParams   = 0.2
	weightKeywords = 0.4
)

// lightShare is the factor for the weight of function words. In a small catalog their document
// frequency is too low.
const lightShare = 0.5

// commonChars is the maximum document frequency of a character n-gram, as a share of the
// capabilities. More frequent ones do not discriminate.
const commonChars = 0.15

// fewCapabilities is the minimum size of a catalog for its own document frequencies; from
// manyCapabilities on, common n-grams are dropped for speed.
const (
	fewCapabilities  = 50
	manyCapabilities = 1000
)

// builder collects the sentences of a catalog, or of the new part of it.
type builder struct {
	x       *Index
	df      []int32   // document frequency per feature
	seenBy  []int32   // last capability with the feature, plus one
	weights []float64 // weight of each new sentence in its centroid
	terms   [][]int32 // words of the document of each new capability, with repetition
	spelt   map[string]bool
	spelled []string // words for spelling correction
	// firstFeature, firstDoc and firstCap are the indexes at which the new part begins.
	firstFeature, firstDoc, firstCap int
}

// newIndex builds the index of a catalog.
func newIndex(catalog *contracts.Catalog, tools *slots.Tools) *Index {
	x := &Index{
		snapshot: catalog.Snapshot, provisional: true, tools: tools, modalityReader: modality.NewReader(),
		shareBest: shareBest, calibration: shipped(),
		exact: map[string][]int32{}, refs: map[string]*indexed{},
		words:     wording{features: map[uint32]int32{}, values: map[string]bool{}},
		segmenter: slots.NewSegmenter(tools.Lexicon),
	}
	x.segmenter.Values = x.words.values
	b := &builder{x: x, spelt: map[string]bool{}}
	for _, domain := range catalog.Domains {
		b.learnValues(domain)
		x.domains = append(x.domains, newDomainName(domain))
	}
	for d, domain := range catalog.Domains {
		b.addDomain(domain, int32(d))
	}
	b.finish()
	return x
}

// addDomain adds the routable capabilities of a domain.
func (b *builder) addDomain(domain *contracts.DomainEntry, number int32) {
	of := make([]*contracts.Capability, 0, len(domain.Capabilities))
	for _, entry := range domain.Capabilities {
		if entry.Routable() {
			of = append(of, entry.Capability)
		}
	}
	family := slots.NewFamily(b.x.tools, of)
	for _, entry := range domain.Capabilities {
		if entry.Routable() {
			b.addCapability(entry, number, titleOf(domain), family)
		}
	}
}

func titleOf(domain *contracts.DomainEntry) string {
	if domain.Manifest == nil {
		return ""
	}
	return domain.Manifest.Title
}

// finish computes what depends on all sentences.
func (b *builder) finish() {
	x := b.x
	b.weigh()
	b.centroids()
	b.rankWords()
	x.words.spellers = append(x.words.spellers, tokenize.NewSpeller(b.spelled))
	x.scratch = &sync.Pool{New: func() any { return x.newScratch() }}
}

// learnValues collects the words of all example values of a domain.
func (b *builder) learnValues(d *contracts.DomainEntry) {
	for _, e := range d.Capabilities {
		for _, spec := range e.Capability.Metadata.ParameterSpecs {
			for _, v := range spec.Examples {
				if s, ok := v.(string); ok && len(s) <= 200 {
					for _, w := range tokenize.Phrase(s) {
						b.x.words.values[w] = true
					}
				}
			}
		}
	}
}

func newDomainName(domain *contracts.DomainEntry) domainName {
	d := domainName{name: domain.Name}
	for _, s := range []string{domain.Name, tokenize.SplitName(domain.Name), titleOf(domain)} {
		words := tokenize.Phrase(s)
		if len(words) > 0 && !slices.ContainsFunc(d.phrases, func(p []string) bool { return slices.Equal(p, words) }) {
			d.phrases = append(d.phrases, words)
		}
	}
	return d
}

// count32 converts a length to the integer type of the index. A larger catalog does not fit into
// memory.
func count32(n int) int32 {
	if n < 0 || n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int32(n)
}

// addCapability adds the texts of one capability.
func (b *builder) addCapability(entry *contracts.CapabilityEntry, domain int32, title string, family *slots.Family) {
	c := entry.Capability
	idx := &indexed{entry: entry, domain: domain, title: title, family: family, firstDoc: count32(len(b.x.docs)), slots: &compiledSlots{}, number: count32(len(b.x.caps))}
	idx.open = len(c.Metadata.Phases) == 0 && len(c.Metadata.AllowedRoles) == 0
	number := idx.number
	b.x.caps = append(b.x.caps, idx)
	b.x.refs[entry.Ref()] = idx
	b.terms = append(b.terms, nil)
	name := tokenize.SplitName(c.Name)
	var hints contracts.IntentHints
	if c.Metadata.IntentHints != nil {
		hints = *c.Metadata.IntentHints
	}
	for _, example := range hints.Examples {
		tokens := b.tokens(example)
		b.addExact(tokens, number)
		b.addHeads(tokens)
		b.addVerb(idx, tokens)
		if len(tokens) > 1 && !tokens[0].Is(tokenize.FormMixed|tokenize.FormCaps|tokenize.FormDigits) && (len(tokens) < 2 || !tokens[1].Is(tokenize.FormTitle)) {
			b.x.segmenter.Openers[tokens[0].Fold] = true
		}
		s := b.add(tokens, number, 1/float64(len(hints.Examples)))
		b.x.docs[s].modality = b.x.modalityReader.Of(tokens, nil, true)
		idx.modalities |= b.x.docs[s].modality
		idx.examples++
		if slices.ContainsFunc(tokens, func(t tokenize.Token) bool { return t.Is(tokenize.FormDigits) }) {
			idx.figures++
		}
	}
	nameTokens := b.tokens(name)
	b.addExact(nameTokens, number)
	b.addHeads(nameTokens)
	b.addVerb(idx, nameTokens)
	b.add(nameTokens, number, weightName)
	b.add(b.tokens(c.Description), number, weightAbout)
	b.add(b.tokens(paramText(c)), number, weightParams)
	if len(hints.Keywords) > 0 {
		tokens := b.tokens(strings.Join(hints.Keywords, ". "))
		b.addHeads(tokens)
		b.add(tokens, number, weightKeywords)
	}
	idx.firstNot = count32(len(b.x.docs))
	for _, not := range hints.Not {
		b.add(b.tokens(not), number, 0)
	}
	idx.lastDoc = count32(len(b.x.docs))
}

// paramText returns the texts of the parameters of a capability.
func paramText(c *contracts.Capability) string {
	var b strings.Builder
	for _, w := range slots.ParameterTexts(c) {
		b.WriteString(w)
		b.WriteString(". ")
	}
	return b.String()
}

// tokens tokenizes a text of a manifest like a message.
func (b *builder) tokens(of string) []tokenize.Token { return b.x.tools.Tokens(of, foldNow()) }

func (b *builder) addHeads(tokens []tokenize.Token) {
	for _, t := range tokens {
		value := t.Is(tokenize.FormDigits|tokenize.FormMixed|tokenize.FormCaps) || t.Is(tokenize.FormTitle) && !t.Is(tokenize.FormFirst)
		if !value && !b.x.tools.Lexicon.StopWord(t.Fold) {
			b.x.segmenter.Heads[t.Stem] = true
		}
	}
}

func (b *builder) addExact(tokens []tokenize.Token, number int32) {
	for _, key := range []string{tokenize.Normal(tokens), tokenize.Quoting(tokens)} {
		if key != "" && !slices.Contains(b.x.exact[key], number) {
			b.x.exact[key] = append(slices.Clip(b.x.exact[key]), number) // the slice may be shared with an earlier index
		}
	}
}

// add adds a sentence and counts its features. Weight 0 marks a hard negative, which is only used
// for comparison.
func (b *builder) add(tokens []tokenize.Token, number int32, weight float64) int {
	f := tokenize.FeaturesOf(tokens, b.x.words.values)
	s := sentence{features: make([]int32, 0, len(f.Words)+len(f.Chars)), statement: weight > 0}
	for _, h := range f.Words {
		s.features = append(s.features, b.feature(h, false, number, weight > 0))
	}
	s.words = count32(len(s.features))
	for _, h := range f.Chars {
		s.features = append(s.features, b.feature(h, true, number, weight > 0))
	}
	if weight > 0 {
		b.spell(tokens)
		for _, h := range f.Terms {
			of := &b.terms[int(number)-b.firstCap]
			*of = append(*of, b.x.words.features[h])
		}
	}
	b.x.docs = append(b.x.docs, s)
	b.weights = append(b.weights, weight)
	return len(b.x.docs) - 1
}

// spell adds words to the spelling dictionary.
func (b *builder) spell(tokens []tokenize.Token) {
	for _, t := range tokens {
		if tokenize.Spellable(t) && !b.spelt[t.Fold] {
			b.spelt[t.Fold] = true
			b.spelled = append(b.spelled, t.Fold)
		}
	}
}

func (b *builder) feature(h uint32, char bool, number int32, counts bool) int32 {
	id, ok := b.x.words.features[h]
	if !ok {
		id = count32(len(b.df))
		b.x.words.features[h] = id
		b.df = append(b.df, 0)
		b.seenBy = append(b.seenBy, 0)
		b.x.capDF = append(b.x.capDF, 0)
		b.x.words.isChar = append(b.x.words.isChar, char)
	}
	if counts {
		b.df[id]++
		if b.seenBy[id] != number+1 {
			b.seenBy[id] = number + 1
			b.x.capDF[id]++
		}
	}
	return id
}

// weigh computes the inverse document frequency of each feature and the length of each sentence.
func (b *builder) weigh() {
	x := b.x
	total := float64(len(x.docs))
	limit := int32(math.MaxInt32)
	if len(x.caps) > manyCapabilities {
		limit = int32(commonChars * float64(len(x.caps)))
	}
	for id := b.firstFeature; id < len(b.df); id++ {
		if x.words.isChar[id] && x.capDF[id] > limit {
			x.words.idf = append(x.words.idf, 0)
			continue
		}
		x.words.idf = append(x.words.idf, float32(math.Log((1+total)/(1+float64(b.df[id])))+1))
	}
	for _, h := range x.tools.Lexicon.Terms() {
		if id, ok := x.words.features[h]; ok && len(x.caps) < fewCapabilities && int(id) >= b.firstFeature {
			x.words.idf[id] *= lightShare
		}
	}
	for i := b.firstDoc; i < len(x.docs); i++ {
		s := &x.docs[i]
		s.wordNorm = x.words.inverseNorm(s.features[:s.words])
		s.charNorm = x.words.inverseNorm(s.features[s.words:])
	}
}

func (x *wording) inverseNorm(features []int32) float32 {
	sum := 0.0
	for _, id := range features {
		w := float64(x.idf[id])
		sum += w * w
	}
	if sum == 0 {
		return 0
	}
	return float32(1 / math.Sqrt(sum))
}

// centroids sums the sentences of each capability, and normalises words and character n-grams
// separately.
func (b *builder) centroids() {
	x := b.x
	sums := make([]float64, len(b.df))
	var cells []retrieve.Cell
	for number := b.firstCap; number < len(x.caps); number++ {
		c := x.caps[number]
		var touched []int32
		for d := c.firstDoc; d < c.firstNot; d++ {
			s := &x.docs[d]
			for k, id := range s.features {
				norm := s.wordNorm
				if int32(k) >= s.words {
					norm = s.charNorm
				}
				if sums[id] == 0 {
					touched = append(touched, id)
				}
				sums[id] += b.weights[int(d)-b.firstDoc] * float64(x.words.idf[id]*norm)
			}
		}
		slices.Sort(touched)
		cells = append(cells, b.normalised(touched, sums, c.number)...)
	}
	x.vectors = append(x.vectors, retrieve.NewMatrix(cells, len(b.df)))
}

// normalised converts sums to cells with unit length per block, and clears the sums.
func (b *builder) normalised(touched []int32, sums []float64, number int32) []retrieve.Cell {
	var words, chars float64
	for _, id := range touched {
		if b.x.words.isChar[id] {
			chars += sums[id] * sums[id]
		} else {
			words += sums[id] * sums[id]
		}
	}
	words, chars = math.Sqrt(words), math.Sqrt(chars)
	cells := make([]retrieve.Cell, 0, len(touched))
	var prev int32 = -1
	for _, id := range touched {
		length := words
		if b.x.words.isChar[id] {
			length = chars
		}
		if id != prev && sums[id] > 0 && length > 0 {
			cells = append(cells, retrieve.Cell{Feature: id, Owner: number, Weight: float32(sums[id] / length)})
		}
		sums[id] = 0
		prev = id
	}
	return cells
}

// The usual BM25 constants.
const (
	bmK = 1.2
	bmB = 0.75
)

// rankWords computes the BM25 weights of the words of each capability's document.
func (b *builder) rankWords() {
	total := 0
	for _, t := range b.terms {
		total += len(t)
	}
	mean := b.x.meanTerms
	if mean == 0 {
		mean = max(float64(total)/float64(max(len(b.terms), 1)), 1)
		b.x.meanTerms = mean
	}
	var cells []retrieve.Cell
	for number, t := range b.terms {
		slices.Sort(t)
		length := bmK * (1 - bmB + bmB*float64(len(t))/mean)
		for i := 0; i < len(t); {
			j := i
			for j < len(t) && t[j] == t[i] {
				j++
			}
			tf := float64(j - i)
			df := float64(b.x.capDF[t[i]])
			idf := math.Log(1 + (max(float64(len(b.x.caps)), df)-df+0.5)/(df+0.5))
			cells = append(cells, retrieve.Cell{Feature: t[i], Owner: count32(b.firstCap + number), Weight: float32(idf * tf * (bmK + 1) / (tf + length))})
			i = j
		}
	}
	b.x.bm25 = append(b.x.bm25, retrieve.NewMatrix(cells, len(b.df)))
}
