package scripted

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
)

// Answerer chooses the answer to a request. It must be safe for concurrent use.
type Answerer interface {
	Answer(asked Asked) Answer
}

// Nothing answers everything with a text and no call.
type Nothing struct{}

// Answer returns a text that says that there is no script.
func (Nothing) Answer(Asked) Answer { return Answer{Text: "There is no script for this."} }

// Rule is an answer with its conditions. A rule with calls matches only requests that offer tools.
type Rule struct {
	// Contains must occur in the newest text of the user, ignoring case; empty matches all.
	Contains string `json:"contains,omitempty"`
	// System must occur in the instructions; empty matches all.
	System string `json:"system,omitempty"`
	// Told must each occur in some text of the user or the assistant, such as an earlier message,
	// an open interrupt or a result.
	Told []string `json:"told,omitempty"`
	// Times is how often the rule matches; 0 means always.
	Times int `json:"times,omitempty"`
	Answer
}

// Script answers by the first matching rule, and otherwise by Else. It counts how often each rule was
// used. It is safe for concurrent use.
type Script struct {
	Rules []Rule   `json:"rules"`
	Else  Answerer `json:"-"`

	mu   sync.Mutex // guards used
	used map[int]int
}

var _ Answerer = (*Script)(nil)

// ReadScript reads a script from a JSON file.
func ReadScript(path string) (*Script, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	s, err := ParseScript(data)
	if err != nil {
		return nil, fmt.Errorf("script %s: %w", path, err)
	}
	return s, nil
}

// ParseScript parses a script from JSON.
func ParseScript(data []byte) (*Script, error) {
	var s Script
	err := contracts.DecodeStrict(data, &s)
	return &s, err
}

// Answer returns the answer of the first matching rule.
func (s *Script) Answer(asked Asked) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.Rules {
		if r.fits(asked) && (r.Times == 0 || s.used[i] < r.Times) {
			if s.used == nil {
				s.used = map[int]int{}
			}
			s.used[i]++
			return r.Answer
		}
	}
	if s.Else != nil {
		return s.Else.Answer(asked)
	}
	return Nothing{}.Answer(asked)
}

func (r Rule) fits(asked Asked) bool {
	told := func(part string) bool {
		return slices.ContainsFunc(asked.Turns, func(t Turn) bool { return holds(t.Text, part) })
	}
	callable := len(r.Calls) == 0 || len(asked.Tools) > 0
	return callable && holds(asked.Last(), r.Contains) && holds(asked.System, r.System) && !slices.ContainsFunc(r.Told, func(p string) bool { return !told(p) })
}

func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Recording returns the recorded answers of a real model to the same requests.
type Recording struct {
	byText map[string][]*recordedCase
	byID   map[string]*recordedCase
	Else   Answerer
}

// recordedCase is a model's answer to a request with its offered functions.
type recordedCase struct {
	offered []string
	answer  Answer
}

var _ Answerer = (*Recording)(nil)

// recorded is the file format of answers: by model, by case.
type recorded struct {
	Models map[string]map[string]struct {
		Calls     []Call `json:"calls"`
		TokensIn  int    `json:"tokens_in"`
		TokensOut int    `json:"tokens_out"`
	} `json:"models"`
}

// cases is the file format of requests.
type cases struct {
	Cases []struct {
		ID      string   `json:"id"`
		Text    string   `json:"text"`
		Offered []string `json:"offered"`
	} `json:"cases"`
}

// ReadRecording reads the answers of a model (answersPath) to the requests of a data set (casesPath).
// A request is found by its text, and by the offered functions if several cases have the same
// text.
func ReadRecording(casesPath, answersPath, model string) (*Recording, error) {
	var set cases
	var answers recorded
	for path, into := range map[string]any{casesPath: &set, answersPath: &answers} {
		data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, into); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	given, ok := answers.Models[model]
	if !ok {
		return nil, fmt.Errorf("%s has no answers of %q; it has those of %s", answersPath, model, strings.Join(names(answers.Models), ", "))
	}
	r := &Recording{byText: map[string][]*recordedCase{}, byID: map[string]*recordedCase{}}
	for _, c := range set.Cases {
		if a, ok := given[c.ID]; ok {
			text := strings.TrimSpace(c.Text)
			one := &recordedCase{c.Offered, Answer{Calls: a.Calls, Tokens: contracts.Tokens{In: a.TokensIn, Out: a.TokensOut}}}
			r.byText[text], r.byID[c.ID] = append(r.byText[text], one), one
		}
	}
	return r, nil
}

// Answer returns the recorded answer, or else that of Else.
func (r *Recording) Answer(asked Asked) Answer {
	if of := r.byText[strings.TrimSpace(asked.Last())]; len(of) > 0 {
		return slices.MaxFunc(of, func(a, b *recordedCase) int { return a.match(asked) - b.match(asked) }).answer
	}
	if r.Else != nil {
		return r.Else.Answer(asked)
	}
	return Nothing{}.Answer(asked)
}

// Case returns the recorded answer to a case, by the id of the case.
func (r *Recording) Case(id string) (Answer, bool) {
	c, ok := r.byID[id]
	if !ok {
		return Answer{}, false
	}
	return c.answer, true
}

// match counts the functions of a case that a request offers.
func (c *recordedCase) match(asked Asked) int {
	n := 0
	for _, name := range c.offered {
		if _, ok := asked.offered(name); ok {
			n++
		}
	}
	return n
}
