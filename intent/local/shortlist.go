package local

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// shareWhole is what a whole message counts beside its requests in a shortlist.
const shareWhole = 0.5

// shareWholeEncoded is the same where the requests are ranked by meaning too,
// which the whole never is.
const shareWholeEncoded = 2

// Ranked is a place in a shortlist.
type Ranked struct {
	Entry *contracts.CapabilityEntry
	// Score orders; it is no probability.
	Score float64
}

// Shortlist gives the capabilities that a message may be about, best first:
// each of its requests counts, and the whole. Parameters are not read.
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

// shortlist ranks by the request that a capability fits best and by the whole.
// A message that is one request is not cut.
func (s *sentenceReader) shortlist() []hit {
	pieces := s.x.segmenter.Cut(s.m)
	if len(pieces) < 2 || len(pieces) > slots.MaxSegments {
		whole, _ := s.search(0, len(s.m.Tokens))
		return whole
	}
	// What several requests mean together says little of each.
	whole := s.x.search(s.m.Tokens, nil, s.allowed)
	if len(pieces) > maxEncoded {
		s.encode = nil // all pieces are ranked in one way
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
