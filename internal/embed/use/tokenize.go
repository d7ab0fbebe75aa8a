package use

import (
	"math"
	"slices"
	"unicode/utf8"
)

// unknownPenalty is how much worse than the worst piece an unknown character is.
const unknownPenalty = 10

// maxText is how many bytes of a text are cut; MaxPieces pieces are always less.
const maxText = 2048

// tokenizer cuts texts into pieces as SentencePiece's unigram model does. It may
// be used by several goroutines.
type tokenizer struct {
	words *vocabulary
	chars *normalizer
}

func newTokenizer(model []byte) (*tokenizer, error) {
	words, charsmap, err := readModel(model)
	if err != nil {
		return nil, err
	}
	chars, err := newNormalizer(charsmap)
	if err != nil {
		return nil, err
	}
	return &tokenizer{words, chars}, nil
}

// step is the best way to reach a place in a text.
type step struct {
	score float32
	from  int
	id    int32
}

// pieces returns the most likely division of a text. Characters that stand in no
// piece are unknown, a run of them is one piece.
func (t *tokenizer) pieces(text string) []int32 {
	if len(text) > maxText {
		text = text[:maxText]
	}
	in := t.chars.normalize(text)
	best := make([]step, len(in)+1)
	for i := 1; i < len(best); i++ {
		best[i].score = -math.MaxFloat32
	}
	reach := func(at, to int, id int32, score float32) {
		if score += best[at].score; score > best[to].score {
			best[to] = step{score, at, id}
		}
	}
	for at := 0; at < len(in); {
		_, size := utf8.DecodeRune(in[at:])
		single := false
		t.words.begins(in[at:], func(length, place int) {
			single = single || length == size
			reach(at, at+length, t.words.id[place], t.words.score[place])
		})
		if !single {
			reach(at, at+size, pieceUnknown, t.words.worst-unknownPenalty)
		}
		at += size
	}
	var out []int32
	for at := len(in); at > 0; at = best[at].from {
		if id := best[at].id; id != pieceUnknown || len(out) == 0 || out[len(out)-1] != pieceUnknown {
			out = append(out, id)
		}
	}
	slices.Reverse(out)
	return out
}
