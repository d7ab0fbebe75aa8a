package conversations

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/model/scripted"
)

// recorded plays back the answers of a real model: by the id of a conversation, and for a turn
// before the last by "ID#1", "ID#2" and so on.
type recorded struct {
	*script

	answers map[string]recordedAnswer
}

type recordedAnswer struct {
	Text      string          `json:"text"`
	Calls     []scripted.Call `json:"calls"`
	TokensIn  int             `json:"tokens_in"`
	TokensOut int             `json:"tokens_out"`
}

// readRecorded reads the answers of one model from a file.
func readRecorded(path, model string, s *script) (*recorded, error) {
	var file struct {
		Models map[string]map[string]recordedAnswer `json:"models"`
	}
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(file.Models))
	if model == "" && len(names) == 1 {
		model = names[0]
	}
	answers, ok := file.Models[model]
	if !ok {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%s has no answers of %q; it has those of %s", path, model, strings.Join(names, ", "))
	}
	return &recorded{s, answers}, nil
}

// Answer returns the recorded answer, or declines if there is none.
func (r *recorded) Answer(asked scripted.Asked) scripted.Answer {
	at, known := r.find(asked)
	got, ok := r.answers[key(at)]
	answer := declined()
	if known && ok && len(asked.Tools) > 0 {
		answer = scripted.Answer{Text: got.Text, Calls: got.Calls, Tokens: contracts.Tokens{In: got.TokensIn, Out: got.TokensOut}}
	}
	return r.counted(answer)
}

func key(at place) string {
	if at.turn == len(at.item.Turns)-1 {
		return at.item.ID
	}
	return at.item.ID + "#" + strconv.Itoa(at.turn+1)
}
