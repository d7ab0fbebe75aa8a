package httpapi

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPiecesAreShortAndCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "short", strings.Repeat("ä€😀", 9000), strings.Repeat("x", 3*maxPiece), strings.Repeat("\x80", 2*maxPiece+5)} {
		joined := ""
		for piece := range pieces(text) {
			if len(piece) == 0 || len(piece) > maxPiece || utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("a piece of %d bytes", len(piece))
			}
			joined += piece
		}
		if joined != text {
			t.Error("something is lost")
		}
	}
}
