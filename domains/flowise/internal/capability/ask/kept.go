package ask

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Kept is what is kept beside a flow: questions with what must hold of the answers.
type Kept struct {
	// DomainScopes are the domains whose behaviour the tests are about.
	DomainScopes []string `json:"domain_scopes"`
	// Tests are asked one by one, each Trials times; all trials must pass.
	Tests  []KeptTest `json:"integration_tests"`
	Trials int        `json:"trials"`
}

// KeptTest is one of them.
type KeptTest struct {
	ID         string      `json:"id"`
	Domain     string      `json:"domain"`
	Question   string      `json:"question"`
	Assertions []Assertion `json:"assertions"`
	// Source specifies where it comes from: a person, or a conversation.
	Source string `json:"source"`
}

// MaxKept is how many tests a flow can have: they are asked before each approval.
const MaxKept = 20

// Scope is the domain of the tests of flows.
const Scope = "flowise"

// ReadKept reads what is kept; nothing is an empty suite.
func ReadKept(body []byte) (Kept, error) {
	k := Kept{DomainScopes: []string{Scope}, Tests: []KeptTest{}, Trials: 1}
	if len(body) == 0 {
		return k, nil
	}
	if err := json.Unmarshal(body, &k); err != nil {
		return Kept{}, fmt.Errorf("read the tests that are kept: %w", err)
	}
	return k, nil
}

// Hash names the suite as it is.
func (k Kept) Hash() string {
	raw, err := json.Marshal(k)
	if err != nil {
		return "" // texts and numbers can be written
	}
	return contracts.HashBytes(raw)
}

// With adds a test; one that asks the same and wants the same stays as it is.
func (k Kept) With(question string, assertions []Assertion, source string) (kept Kept, id string, added bool) {
	raw, err := json.Marshal([]any{question, assertions})
	if err != nil {
		raw = []byte(question)
	}
	id = "t" + contracts.HashBytes(raw)[:8]
	if slices.ContainsFunc(k.Tests, func(t KeptTest) bool { return t.ID == id }) {
		return k, id, false
	}
	k.Tests = append(slices.Clone(k.Tests), KeptTest{ID: id, Domain: Scope, Question: question, Assertions: assertions, Source: source})
	return k, id, true
}

// Without takes a test away.
func (k Kept) Without(id string) (kept Kept, removed bool) {
	before := len(k.Tests)
	k.Tests = slices.DeleteFunc(slices.Clone(k.Tests), func(t KeptTest) bool { return t.ID == id })
	return k, len(k.Tests) < before
}

// Cases are the tests to ask.
func (k Kept) Cases() []Case {
	out := []Case{}
	for _, t := range k.Tests {
		if t.Domain == Scope { // those of other domains are not for a flow to answer
			out = append(out, Case{Name: t.ID + ": " + t.Question, Kind: Happy, Question: t.Question, Assertions: t.Assertions})
		}
	}
	return out
}
