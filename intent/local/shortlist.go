package local

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// shareWhole is the weight of the whole message relative to its best segment in a shortlist.
const shareWhole = 0.5

// shareWholeEncoded is the same if the segments are ranked with embeddings, which the whole
// message never is.
const shareWholeEncoded = 2

// Ranked is an entry of a shortlist.
type Ranked struct {
	Entry *contracts.CapabilityEntry
	// Score orders the entries; it is no probability.
	Score float64
}

// Shortlist returns the capabilities that a message may be about, best first, by each of its
// segments and by the whole message. It reads no parameters.
func (l *Local) Shortlist(ctx context.Context, q Query, most int) ([]Ranked, error) {
	if err := ctx.Err(); err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "read the message: %w", err)
	}
	x := l.Index(q.Catalog)
	s := &sentenceReader{x: x, q: q, m: l.tools.Read(q.Message, q.Now), parts: map[[2]int]*part{}, encode: l.encoder(ctx)}
	hits := s.shortlist()
	out := make([]Ranked, 0, min(most, len(hits)))
	for _, h := range hits[:min(most, len(hits))] {
		out = append(out, Ranked{x.caps[h.number].entry, h.score})
	}
	return out, nil
}

// shortlist ranks capabilities by their best segment and by the whole message. A message with one
// segment is not split.
func (s *sentenceReader) shortlist() []hit {
	pieces := s.x.segmenter.Cut(s.m)
	if len(pieces) < 2 || len(pieces) > slots.MaxSegments {
		whole, _ := s.search(0, len(s.m.Tokens))
		return whole
	}
	// The embedding of several requests together says little about each.
	whole := s.x.search(s.m.Tokens, nil, s.allowed)
	if len(pieces) > maxEncoded {
		s.encode = nil // rank all segments in the same way
	}
	share, best := shareWhole, map[int32]float64{}
	for _, p := range pieces {
		hits, encoded := s.search(p.From, p.To)
		if encoded {
			share = shareWholeEncoded
		}
		for _, h := range hits {
			best[h.number] = max(best[h.number], h.score)
		}
	}
	for i, h := range whole {
		whole[i].score = share*h.score + best[h.number]
		delete(best, h.number)
	}
	for number, score := range best {
		whole = append(whole, hit{number: number, score: score})
	}
	sortHits(whole)
	return slices.Clip(whole)
}
