package local

import (
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Index is a searchable snapshot of a catalog. It is never changed after it
// was built; a new catalog makes a new one.
type Index struct {
	snapshot string
	id       string
	// provisional tells that training and calibration are still to come.
	provisional    bool
	tools          *slots.Tools
	modalityReader *modality.Reader
	caps           []*indexed
	refs           map[string]*indexed
	words          wording
	segmenter      slots.Segmenter
	// vectors are the weights of the capabilities, first centroids and then
	// trained ones, and bm25 the weights of the words of their documents. Later
	// layers hold capabilities that came later.
	vectors []retrieve.Matrix
	bm25    []retrieve.Matrix
	capDF   []int32 // capabilities that have a feature
	// meanTerms is the mean length of documents, in words.
	meanTerms float64
	// patched tells that it was made of an earlier index.
	patched bool
	docs    []sentence
	exact   map[string][]int32
	domains []domainName
	// shareBest is what the likeness to a single sentence counts.
	shareBest float64
	// calibration turns signals into a confidence.
	calibration Calibration
	// calibrates tells that it was learned from this catalog, where there are
	// examples.
	calibrates bool
	// embeddings is what is known of meanings; nil without a scorer.
	embeddings *embeddings
	scratch    *sync.Pool
}

// wording is what the words of all capabilities are worth. It makes vectors of
// texts, and reads mistyped words as what they are meant for.
type wording struct {
	// features gives the dense number of each hashed feature, idf its weight, and
	// isChar which are runs of characters.
	features map[uint32]int32
	idf      []float32
	isChar   []bool
	// values are the words of known values.
	values map[string]bool
	// spellers know the words of statements, one for each layer.
	spellers []*tokenize.Speller
}

// indexed is one routable capability.
type indexed struct {
	entry  *contracts.CapabilityEntry
	number int32 // in the index
	domain int32
	title  string // of the domain
	family *slots.Family
	// docs[first:last] are its sentences: examples, then hard negatives.
	firstDoc, lastDoc int32
	firstNot          int32
	examples          int
	open              bool // to all roles, in all phases

	slots *compiledSlots
	// modalities are what the examples themselves have, such as a condition.
	modalities modality.Modality
	// begins are the stems of the verbs that the examples and the name begin with.
	begins []string
	// actions are these verbs with what each is done to.
	actions modality.Actions
	// kinds are those of these verbs.
	kinds lexicon.Kinds
	// figures is how many examples hold a number or a date.
	figures int
}

// compiledSlots are compiled parameters, and what the capability is about.
type compiledSlots struct {
	once    sync.Once
	set     *slots.Set
	subject subject
}

// set compiles the parameters of a capability when they are first needed.
func (x *Index) set(c *indexed) *slots.Set { return x.compiled(c).set }

func (x *Index) subject(c *indexed) *subject { return &x.compiled(c).subject }

func (x *Index) compiled(c *indexed) *compiledSlots {
	c.slots.once.Do(func() {
		c.slots.set, c.slots.subject = slots.Compile(x.tools, c.entry, c.title, c.family), x.newSubject(c)
	})
	return c.slots
}

// domainName is how people name a domain.
type domainName struct {
	name    string
	phrases [][]string
}

// sentence is the vector of one example: feature numbers only, because a short
// sentence says each word once. Words come before characters.
type sentence struct {
	features  []int32
	words     int32
	wordNorm  float32
	charNorm  float32
	modality  modality.Modality
	statement bool // an example or a name, that is, no hard negative
}

// Snapshot is the snapshot of the catalog that the index was made from.
func (x *Index) Snapshot() string { return x.snapshot }

// Provisional tells that training and calibration are still to come.
func (x *Index) Provisional() bool { return x.provisional }

// Size is the number of capabilities that can be chosen.
func (x *Index) Size() int { return len(x.refs) }

// saying are the capabilities that have a text as an example or a name, word for word;
// or the one that has it with other words in quotation marks.
func (x *Index) saying(tokens []tokenize.Token) []int32 {
	if all := x.exact[tokenize.Normal(tokens)]; len(all) > 0 {
		return all
	}
	if all := x.exact[tokenize.Quoting(tokens)]; len(all) == 1 {
		return all
	}
	return nil
}
