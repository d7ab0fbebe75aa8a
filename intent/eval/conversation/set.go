package conversation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// TurnApprove is the turn in which an approver approves what waits.
const TurnApprove = "@approve"

// Outcome is what a message should lead to.
type Outcome string

// The outcomes.
const (
	// OutcomeDo wants the actions of the item.
	OutcomeDo Outcome = "do"
	// OutcomeAsk wants a question.
	OutcomeAsk Outcome = "ask"
	// OutcomeDecline wants a refusal: nothing here can do it.
	OutcomeDecline Outcome = "decline"
	// OutcomeAnswer wants something to be told and nothing done.
	OutcomeAnswer Outcome = "answer"
	// OutcomeNoWrite wants anything but a write.
	OutcomeNoWrite Outcome = "no-write"
)

// Set is a file of conversations.
type Set struct {
	Items []Item `json:"items"`
	// Seed is done before the first conversation, without words.
	Seed []Action `json:"seed,omitempty"`
	// Roles are those of the people who speak [operator].
	Roles []string `json:"roles,omitempty"`
	Rules Rules    `json:"rules,omitzero"`
	// Surface maps a value to the words that people use for it.
	Surface map[string]string `json:"surface,omitempty"`
}

// Rules are how values of this set are compared.
type Rules struct {
	// Free are optional parameters that may be there although nothing was
	// expected of them.
	Free []string `json:"free,omitempty"`
	// Lists are parameters whose value is a list; a list of any other parameter
	// means one call for each of its values.
	Lists []string `json:"lists,omitempty"`
	// Stem are parameters whose values are equal up to the first dot.
	Stem []string `json:"stem,omitempty"`
	// Versions are parameters whose values may have a "v" in front.
	Versions []string `json:"versions,omitempty"`
}

// DefaultRules serve where a set has none.
func DefaultRules() Rules {
	return Rules{
		Free:     []string{"comment", "reason", "title", "starter", "stream", "graph_sha256", "description", "credential", "request_id", "part"},
		Lists:    []string{"types", "node_names", "criteria"},
		Stem:     []string{"symbol"},
		Versions: []string{"version", "from", "to"},
	}
}

// Action is a call of a capability, and where it stands in the plan.
type Action struct {
	Capability string         `json:"capability"`
	Params     map[string]any `json:"params"`
	// State is what has become of the call: awaiting_approval for a gate; empty
	// takes any.
	State contracts.NodeState `json:"state,omitempty"`
	// When means that it depends on a condition.
	When bool `json:"when,omitempty"`
	// After are the actions whose end it waits for, counted from 1.
	After []int `json:"after,omitempty"`
}

// Expectation is what one message should lead to. A list among the values of
// an action means one call for each; {"any": […]} means one of them, "*" any.
type Expectation struct {
	Expect     Outcome        `json:"expect,omitempty"`
	Capability string         `json:"capability,omitempty"`
	Params     map[string]any `json:"params,omitempty"`
	Actions    []Action       `json:"actions,omitempty"`
	// Reply is the value that answers the open question.
	Reply any `json:"reply,omitempty"`
	// Plan is the draft of a model that writes plans, where calls cannot say it.
	Plan json.RawMessage `json:"plan,omitempty"`
	// For and Param are what a question has to be about.
	For   string `json:"for,omitempty"`
	Param string `json:"param,omitempty"`
	// Replaces means that the earlier request must not wait on.
	Replaces bool `json:"replaces,omitempty"`
	// Closes means that no question may stay open.
	Closes bool `json:"closes,omitempty"`
}

// Wanted are the actions that are expected.
func (e Expectation) Wanted() []Action {
	if len(e.Actions) > 0 || e.Capability == "" {
		return e.Actions
	}
	return []Action{{Capability: e.Capability, Params: e.Params}}
}

// Item is a conversation. Its last message is graded, with what is approved after it.
type Item struct {
	Expectation

	ID    string   `json:"id"`
	Lang  string   `json:"lang"`
	Tags  []string `json:"tags"`
	Note  string   `json:"note,omitempty"`
	Turns []string `json:"turns"`
	// As names the key that speaks; empty makes a person with Roles [the set's].
	As    string   `json:"as,omitempty"`
	Roles []string `json:"roles,omitempty"`
	// Expects are the expectations of the turns before the last, for models that
	// answer by expectation; null leaves a turn to the local reader.
	Expects []*Expectation `json:"expects,omitempty"`

	OrActions [][]Action `json:"or_actions,omitempty"`
	// Accept are other outcomes that are right too.
	Accept []Outcome `json:"accept,omitempty"`
	// MustNot are capabilities that must not be used.
	MustNot []string `json:"must_not,omitempty"`
	// Base may be done although a detail cannot be honoured, if one of Told is
	// named and said not to be used.
	Base    []Action                  `json:"base,omitempty"`
	Told    []string                  `json:"told,omitempty"`
	ActsOK  [][]Action                `json:"acts_ok,omitempty"`
	DoOK    bool                      `json:"do_ok,omitempty"`
	ReadsOK bool                      `json:"reads_ok,omitempty"`
	ReadsAs map[string]map[string]any `json:"reads_as,omitempty"`
	Never   map[string]map[string]any `json:"never,omitempty"`
	// Says are patterns that the answer has to have.
	Says     []string `json:"says,omitempty"`
	GateOnly bool     `json:"gate_only,omitempty"`
	// Script is what a scripted model answers in this conversation, as rules of
	// internal/model/scripted: calls, drafts, further rounds and worded answers.
	Script   json.RawMessage `json:"script,omitempty"`
	NotThere bool            `json:"not_there,omitempty"`
	Partial  bool            `json:"partial,omitempty"`
}

// Tagged reports whether the item has a tag.
func (i Item) Tagged(tag string) bool { return slices.Contains(i.Tags, tag) }

// At is the expectation of a turn; nil where the item has none.
func (i Item) At(turn int) *Expectation {
	if turn == i.last() {
		return &i.Expectation
	}
	if turn < len(i.Expects) {
		return i.Expects[turn]
	}
	return nil
}

// last is the turn that is graded.
func (i Item) last() int {
	last := len(i.Turns) - 1
	for last > 0 && i.Turns[last] == TurnApprove {
		last--
	}
	return last
}

// Parse reads a set and puts dates relative to today in the place of {M}, {T+1}
// and the like.
func Parse(data []byte, today time.Time) (Set, error) {
	var raw any
	if err := json.Unmarshal(data, &raw); err != nil {
		return Set{}, contracts.Errorf(contracts.CodeInvalid, "no set of conversations: %v", err)
	}
	filled, err := json.Marshal(newCalendar(today).fill(raw))
	if err != nil {
		return Set{}, err
	}
	var s Set
	if err := contracts.DecodeStrict(filled, &s); err != nil {
		return Set{}, fmt.Errorf("set of conversations: %w", err)
	}
	s.defaults()
	return s, s.check()
}

func (s *Set) defaults() {
	if s.Rules.empty() {
		s.Rules = DefaultRules()
	}
	if len(s.Roles) == 0 {
		s.Roles = []string{"operator"}
	}
	for i := range s.Items {
		item := &s.Items[i]
		item.Lang = cmp.Or(item.Lang, "und")
		item.ID = cmp.Or(item.ID, fmt.Sprintf("%s-%03d", item.Lang, i+1))
		if len(item.Roles) == 0 {
			item.Roles = s.Roles
		}
	}
}

func (r Rules) empty() bool { return len(r.Free)+len(r.Lists)+len(r.Stem)+len(r.Versions) == 0 }

// check refuses items that cannot be graded.
func (s *Set) check() error {
	seen := map[string]bool{}
	for n, i := range s.Items {
		fault := i.fault()
		if seen[i.ID] {
			fault = "another item has this id"
		}
		if fault != "" {
			return contracts.Errorf(contracts.CodeInvalid, "item %d (%q): %s", n+1, i.ID, fault)
		}
		seen[i.ID] = true
	}
	return nil
}

func (i Item) fault() string {
	switch {
	case len(i.Turns) == 0 || i.Turns[0] == TurnApprove:
		return "turns must begin with a message"
	case !slices.Contains([]Outcome{OutcomeDo, OutcomeAsk, OutcomeDecline, OutcomeAnswer, OutcomeNoWrite}, i.Expect):
		return fmt.Sprintf("expect must be do, ask, decline, answer or no-write, not %q", i.Expect)
	case i.Expect == OutcomeDo && len(i.Wanted()) == 0:
		return "expect do needs a capability or actions"
	case len(i.Expects) > i.last():
		return "expects is for the turns before the last message"
	case !i.ordered():
		return "after names actions before this one, counted from 1"
	}
	return ""
}

// ordered reports whether actions come after earlier ones only.
func (i Item) ordered() bool {
	for n, a := range i.Wanted() {
		if slices.ContainsFunc(a.After, func(of int) bool { return of < 1 || of > n }) {
			return false
		}
	}
	return true
}
