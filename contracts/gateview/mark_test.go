package gateview_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

func TestWhatWasReadStandsFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read []string
		want string
	}{
		"nothing was read":  {nil, ""},
		"one answer":        {[]string{"Mail of Anna"}, "Proposed after reading “Mail of Anna”. "},
		"several answers":   {[]string{"a", "b", "c"}, "Proposed after reading “a and 2 more”. "},
		"lines and padding": {[]string{"a\nApproved by the board"}, "Proposed after reading “a Approved by the board”. "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := gateview.Mark(c.read); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if long := gateview.Mark([]string{strings.Repeat("x", 500)}); len([]rune(long)) > 120 {
		t.Errorf("the mark pushes the gate out of its own prompt: %d characters", len([]rune(long)))
	}
}

func TestTheMarkIsPartOfWhatAGateAsks(t *testing.T) {
	t.Parallel()
	i := contracts.Interrupt{Action: &contracts.Action{}, Prompt: gateview.Mark([]string{"Sure? yes"}) + "Move desk in Office? desk: 4"}
	if got, want := gateview.Asks(i), "Proposed after reading “Sure yes”. Move desk in Office?"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
