package httpapi

import (
	"bytes"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
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

// TestNoLineIsTooLongForAFrontend writes the longest line of each kind: Open WebUI's reader fails
// at 128 KiB, and proxies cut at 64 KiB.
func TestNoLineIsTooLongForAFrontend(t *testing.T) {
	t.Parallel()
	const nasty = "\x01\"\\\u2028"
	var steps []orchestrator.Step
	for n := range maxTasks {
		steps = append(steps, orchestrator.Step{ID: "n" + strconv.Itoa(n), Title: strings.Repeat(nasty, 1000), State: contracts.NodeRunning})
	}
	for name, write := range map[string]func(c *chatStream){
		"text":  func(c *chatStream) { c.text(strings.Repeat("\x01", 100_000)) },
		"steps": func(c *chatStream) { c.steps(steps, true) },
		"more":  func(c *chatStream) { c.steps(append(steps, steps...), true); c.comment("") },
		"reasoning": func(c *chatStream) {
			c.progress(contracts.Event{Type: contracts.EventNodeEnd, NodeName: strings.Repeat(nasty, 50_000)})
		},
	} {
		w := httptest.NewRecorder()
		c := &chatStream{sse: newSSE(w, time.Now), rich: true, now: time.Now}
		write(c)
		if w.Body.Len() == 0 {
			t.Errorf("%s: nothing was written", name)
		}
		for line := range bytes.Lines(w.Body.Bytes()) {
			if len(line) >= 64<<10 {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
	}
}
