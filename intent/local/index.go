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

// Index is an immutable searchable index of a catalog snapshot.
type Index struct {
	snapshot string
	id       string
	// provisional is set until training and calibration are done.
	provisional    bool
	tools          *slots.Tools
	modalityReader *modality.Reader
	caps           []*indexed
	refs           map[string]*indexed
	words          wording
	segmenter      slots.Segmenter
	// vectors are the weights of the capabilities, first centroids and then trained ones; bm25 are
	// the weights of the words of their documents. Later layers hold capabilities that were added
	// later.
	vectors []retrieve.Matrix
	bm25    []retrieve.Matrix
	capDF   []int32 // number of capabilities per feature
	// meanTerms is the mean document length in words.
	meanTerms float64
	// patched is set if it was derived from an earlier index.
	patched bool
	docs    []sentence
	exact   map[string][]int32
	domains []domainName
	// shareBest is the weight of the similarity to a single sentence.
	shareBest float64
	// calibration maps signals to a confidence.
	calibration Calibration
	// calibrates is set if the calibration was fitted to this catalog.
	calibrates bool
	// embeddings holds the sentence embeddings; nil without a scorer.
	embeddings *embeddings
	scratch    *sync.Pool
}

// wording holds the features of all capabilities. It vectorizes texts and corrects misspelled
// words.
type wording struct {
	// features maps each hashed feature to its dense number, idf holds the weights, and isChar
	// marks the character n-grams.
	features map[uint32]int32
	idf      []float32
	isChar   []bool
	// values holds the words of known values.
	values map[string]bool
	// spellers hold the words for spelling correction, one per layer.
	spellers []*tokenize.Speller
}

// indexed is a routable capability.
type indexed struct {
	entry  *contracts.CapabilityEntry
	number int32 // index in Index.caps
	domain int32
	title  string // domain title
	family *slots.Family
	// docs[firstDoc:lastDoc] are its sentences: examples, then from firstNot on hard negatives.
	firstDoc, lastDoc int32
	firstNot          int32
	examples          int
	open              bool // all roles, all phases

	slots *compiledSlots
	// modalities are those of the examples, such as a condition.
	modalities modality.Modality
	// begins holds the stems of the verbs that the examples and the name begin with.
	begins []string
	// actions holds these verbs with their objects.
	actions modality.Actions
	// kinds are the kinds of these verbs.
	kinds lexicon.Kinds
	// figures is the number of examples with a number or a date.
	figures int
}

// compiledSlots holds the lazily compiled parameters and the subject of a capability.
type compiledSlots struct {
	once    sync.Once
	set     *slots.Set
	subject subject
}

// set compiles the parameters of a capability on first use.
func (x *Index) set(c *indexed) *slots.Set { return x.compiled(c).set }

func (x *Index) subject(c *indexed) *subject { return &x.compiled(c).subject }

func (x *Index) compiled(c *indexed) *compiledSlots {
	c.slots.once.Do(func() {
		c.slots.set, c.slots.subject = slots.Compile(x.tools, c.entry, c.title, c.family), x.newSubject(c)
	})
	return c.slots
}

// domainName holds the names of a domain.
type domainName struct {
	name    string
	phrases [][]string
}

// sentence is the vector of one example. It holds feature numbers only, since a short sentence
// contains each word once. Words precede character n-grams.
type sentence struct {
	features  []int32
	words     int32
	wordNorm  float32
	charNorm  float32
	modality  modality.Modality
	statement bool // an example or a name, no hard negative
}

// Snapshot returns the catalog snapshot of the index.
func (x *Index) Snapshot() string { return x.snapshot }

// Provisional reports whether training and calibration are still pending.
func (x *Index) Provisional() bool { return x.provisional }

// Size returns the number of routable capabilities.
func (x *Index) Size() int { return len(x.refs) }

// exactMatches returns the capabilities with an example or a name that equals the text, or else
// the only one that equals it except for quotations.
func (x *Index) exactMatches(tokens []tokenize.Token) []int32 {
	if all := x.exact[tokenize.Normal(tokens)]; len(all) > 0 {
		return all
	}
	if all := x.exact[tokenize.Quoting(tokens)]; len(all) == 1 {
		return all
	}
	return nil
}
