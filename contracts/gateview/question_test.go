package gateview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

func TestAQuestionShowsWhatItRestsOn(t *testing.T) {
	t.Parallel()
	i := contracts.Interrupt{
		Value: map[string]any{"name": "Answers", "success_criteria": []any{"answers", "cites"}, "limits": map[string]any{"max_cost": 2.5}},
		Show: map[string]any{
			"missing":  []any{map[string]any{"name": "openai", "create_at": "https://flows.example.com/credentials/new"}},
			"problems": []any{}, "verdict": nil, "note": "a\nb",
		},
		Answers: []string{contracts.SayApprove, contracts.SayEdit, contracts.SayReject},
	}
	want := [][2]string{
		{"limits max cost", "2.5"},
		{"name", "Answers"},
		{"success criteria", "answers, cites"},
		{"missing 1", "create at: https://flows.example.com/credentials/new, name: openai"},
		{"note", "a b"},
		{"problems", "none"},
	}
	if diff := cmp.Diff(want, gateview.Lines(i)); diff != "" {
		t.Error(diff)
	}
	if words := gateview.Words(i); !cmp.Equal(words, []string{"edit: name = value", "reject: why"}) {
		t.Errorf("%q", words)
	}
}

func TestAQuestionIsBounded(t *testing.T) {
	t.Parallel()
	show := map[string]any{}
	for n := range 100 {
		show[fmt.Sprint("fact_", n)] = strings.Repeat("x", 10_000)
	}
	lines := gateview.Lines(contracts.Interrupt{Show: show})
	if len(lines) != 41 || lines[40][1] != "60 lines more" {
		t.Errorf("%d lines, the last is %v", len(lines), lines[len(lines)-1])
	}
	for _, l := range lines {
		if len([]rune(l[1])) > contracts.MaxSummaryChars {
			t.Errorf("a line of %d characters", len([]rune(l[1])))
		}
	}
}
