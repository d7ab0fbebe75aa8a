package ask

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Kept is the test suite stored for a flow.
type Kept struct {
	// DomainScopes are the domains that the tests are about.
	DomainScopes []string `json:"domain_scopes"`
	// Tests are asked one by one, Trials times each; all trials must pass.
	Tests  []KeptTest `json:"integration_tests"`
	Trials int        `json:"trials"`
}

// KeptTest is one test of the suite.
type KeptTest struct {
	ID         string      `json:"id"`
	Domain     string      `json:"domain"`
	Question   string      `json:"question"`
	Assertions []Assertion `json:"assertions"`
	// Source is the origin of the test: a person, or a conversation.
	Source string `json:"source"`
}

// MaxKept is the maximum number of tests of a flow: they run before each approval.
const MaxKept = 20

// Scope is the domain of flow tests.
const Scope = "flowise"

// ReadKept decodes a stored suite; empty data is an empty suite.
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

// Hash returns a hash of the suite.
func (k Kept) Hash() string {
	raw, err := json.Marshal(k)
	if err != nil {
		return "" // strings and numbers can always be encoded
	}
	return contracts.HashBytes(raw)
}

// With returns the suite with a test added, unless it has one with the same question and
// assertions.
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

// Without returns the suite without a test.
func (k Kept) Without(id string) (kept Kept, removed bool) {
	before := len(k.Tests)
	k.Tests = slices.DeleteFunc(slices.Clone(k.Tests), func(t KeptTest) bool { return t.ID == id })
	return k, len(k.Tests) < before
}

// Cases returns the tests to ask.
func (k Kept) Cases() []Case {
	out := []Case{}
	for _, t := range k.Tests {
		if t.Domain == Scope { // a flow does not answer tests of other domains
			out = append(out, Case{Name: t.ID + ": " + t.Question, Kind: Happy, Question: t.Question, Assertions: t.Assertions})
		}
	}
	return out
}
