package use

import (
	"math"
	"slices"
	"unicode/utf8"
)

// unknownPenalty is how much lower an unknown character scores than the worst piece.
const unknownPenalty = 10

// maxText bounds the bytes of a text; MaxPieces pieces always need fewer.
const maxText = 2048

// tokenizer splits texts into pieces as SentencePiece's unigram model does. It is safe for concurrent
// use.
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

// step is the best path to a position in a text.
type step struct {
	score float32
	from  int
	id    int32
}

// pieces returns the most likely segmentation of a text. A run of characters that no piece contains is
// one unknown piece.
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
