package local

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/retrieve"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// sourceLocal is the source of intents from the local matcher.
const sourceLocal = "local"

// Local is the matcher that uses only manifests. It caches the indexes of the last snapshots.
type Local struct {
	tools *slots.Tools
	keep  int
	// scorer computes embeddings and library caches them; both are nil without embeddings. told is
	// called with the result of computing the embeddings of a catalog.
	scorer     Scorer
	library    *retrieve.VectorCache
	scorerTold func(error)
	// modelCache stores trained models; it may be nil.
	modelCache ModelCache
	// prior is the share of out-of-scope messages.
	prior float64

	// mu guards recent. Indexes are built outside of it.
	mu     sync.Mutex
	recent []*cachedIndex

	background retrieve.LatestWorker[*contracts.Catalog]
	// settling holds a token while a catalog is settled: one at a time, so that two who ask for
	// the same catalog do not both train it.
	settling chan struct{}
}

// cachedIndex is a cache entry for one index, which the first caller builds.
type cachedIndex struct {
	snapshot string
	once     sync.Once
	index    atomic.Pointer[Index]
}

var _ Matcher = (*Local)(nil)

// NewLocal returns a matcher that caches the indexes of the given number of snapshots; 0 means the
// default.
func NewLocal(snapshots int) *Local {
	l := &Local{tools: slots.NewTools(), keep: max(cmp.Or(snapshots, DefaultSnapshots), 1), prior: DefaultOutOfScope, settling: make(chan struct{}, 1)}
	l.background.Do = l.settleLatest
	return l
}

// Index returns the index of a catalog and builds it on first use. Concurrent callers with the
// same snapshot share one build. A catalog without a snapshot is not cached.
func (l *Local) Index(catalog *contracts.Catalog) *Index {
	if catalog.Snapshot == "" {
		return l.build(catalog)
	}
	place, before := l.place(catalog.Snapshot)
	place.once.Do(func() {
		x, ok := before.patch(catalog)
		if !ok {
			x = l.build(catalog)
		}
		place.index.Store(x)
		l.background.Request(catalog)
	})
	return place.index.Load()
}

// build builds an index from scratch and adapts the shipped calibration to the prior.
func (l *Local) build(catalog *contracts.Catalog) *Index {
	x := newIndex(catalog, l.tools)
	x.calibration.shift(odds(DefaultOutOfScope) - odds(l.prior))
	return x
}

// place returns the cache entry of a snapshot and moves it to the front. It also returns the
// latest index of another snapshot, or nil.
func (l *Local) place(snapshot string) (*cachedIndex, *Index) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.recent, func(s *cachedIndex) bool { return s.snapshot == snapshot })
	place := &cachedIndex{snapshot: snapshot}
	if at >= 0 {
		place = l.recent[at]
		l.recent = slices.Delete(l.recent, at, at+1)
	}
	var before *Index
	if len(l.recent) > 0 {
		before = l.recent[0].index.Load()
	}
	l.recent = slices.Insert(l.recent, 0, place)
	if len(l.recent) > l.keep {
		l.recent = l.recent[:l.keep]
	}
	return place, before
}

// Match implements Matcher.
func (l *Local) Match(ctx context.Context, q Query) ([]Clause, error) {
	if err := ctx.Err(); err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "read the message: %w", err)
	}
	x := l.Index(q.Catalog)
	s := newReader(x, l.tools, q)
	s.encode, s.encodeWord = l.encoder(ctx), l.encoder(ctx)
	return s.clauses(), nil
}

// fill reads the parameters of one capability from a text.
func (l *Local) fill(entry *contracts.CapabilityEntry, message string, only []string, now time.Time) slots.Filled {
	return l.slots(entry).Answer(l.tools.Read(message, now), only)
}

// slots returns the compiled parameters of an entry, from a cached index or newly compiled.
func (l *Local) slots(entry *contracts.CapabilityEntry) *slots.Set {
	l.mu.Lock()
	recent := slices.Clone(l.recent)
	l.mu.Unlock()
	for _, place := range recent {
		if x := place.index.Load(); x != nil {
			if c, ok := x.refs[entry.Ref()]; ok && c.entry == entry {
				return x.set(c)
			}
		}
	}
	return slots.Compile(l.tools, entry, "", nil)
}

// newReader returns a reader for a message and an index.
func newReader(x *Index, tools *slots.Tools, q Query) *sentenceReader {
	s := &sentenceReader{x: x, q: q, m: tools.Read(q.Message, q.Now), parts: map[[2]int]*part{}}
	x.words.repairSpelling(tools.Lexicon, s.m.Doc)
	s.crossLingual.s = s
	s.said = modality.Segmented(tools.Lexicon.Lexica, q.Message, s.m.Tokens, s.m.Entities,
		func(i int) bool { return x.segmenter.Bids(s.m.Tokens[i]) }, func(from, to int) bool { return x.modalityReader.Begins(s.m.Tokens[from:to]) })
	return s
}

// rereadAs reads a clause of a message as the capability that a user chose.
func (l *Local) rereadAs(catalog *contracts.Catalog, entry *contracts.CapabilityEntry, message, clause string, now time.Time) Candidate {
	s := newReader(l.Index(catalog), l.tools, Query{Message: message, Catalog: catalog, Now: now})
	p := &part{to: len(s.m.Tokens)}
	if at := strings.Index(message, clause); at >= 0 {
		if first, last := s.m.TokensIn([2]int{at, at + len(clause)}); last >= first {
			p.from, p.to = first, last+1
		}
	}
	p.since, p.until = p.from, p.to
	p.candidates = []Candidate{{Entry: entry, Confidence: 1, Parameters: map[string]any{}, Evidence: map[string]contracts.Evidence{}}}
	if p.to > p.from {
		j := judgement{s: s, alone: p.from == 0 && p.to == len(s.m.Tokens)}
		j.complete(p)
		j.assignRoles(p, []*part{p}, 0)
	}
	return p.candidates[0]
}
