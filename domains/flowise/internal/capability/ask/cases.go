package ask

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Case is one question with assertions on each answer.
type Case struct {
	Name string `json:"name"`
	// Domain is the domain that the case tests; the flow's own unless given.
	Domain     string      `json:"domain,omitempty"`
	Kind       string      `json:"kind"`
	Question   string      `json:"question"`
	Assertions []Assertion `json:"assertions"`
}

// Scope returns the domain that a case tests.
func (c Case) Scope() string { return cmp.Or(c.Domain, Scope) }

// Scopes returns the domains that cases test, in the order of the cases.
func Scopes(cases []Case) []string {
	out := []string{}
	for _, c := range cases {
		if !slices.Contains(out, c.Scope()) {
			out = append(out, c.Scope())
		}
	}
	return out
}

// Kinds of cases.
const (
	Happy = "happy"
	Edge  = "edge"
)

// Assertion is one condition on an answer.
type Assertion struct {
	// Type is one of the constants below.
	Type string `json:"type"`
	// Path selects a value in the answer, for example usedTools[0].tool; json_path compares it with
	// Value.
	Path  string `json:"path,omitempty"`
	Value string `json:"value,omitempty"`
	// Bound is a number of characters or milliseconds.
	Bound int `json:"bound,omitempty"`
}

// Types of assertions.
const (
	Answered    = "answered"
	Contains    = "contains"
	NotContains = "not_contains"
	Matches     = "regex"
	JSONPath    = "json_path"
	MinLength   = "min_length"
	MaxLength   = "max_length"
	MaxLatency  = "max_latency_ms"
	UsesTool    = "uses_tool"
)

// Outcome is the result of one trial of a case.
type Outcome struct {
	Text      string          `json:"text"`
	Error     string          `json:"error,omitempty"`
	LatencyMS int64           `json:"latency_ms"`
	Tools     []string        `json:"tools,omitempty"`
	Raw       json.RawMessage `json:"raw,omitempty"`
}

// Judge returns the assertions that an outcome violates.
func Judge(c Case, o Outcome) []string {
	if o.Error != "" {
		return []string{"failed: " + o.Error}
	}
	var out []string
	for _, a := range c.Assertions {
		if problem := a.check(o); problem != "" {
			out = append(out, problem)
		}
	}
	return out
}

func (a Assertion) check(o Outcome) string {
	length := len([]rune(o.Text))
	switch a.Type {
	case Answered:
		return unless(strings.TrimSpace(o.Text) != "", "the answer is empty")
	case Contains:
		return unless(strings.Contains(strings.ToLower(o.Text), strings.ToLower(a.Value)), "the answer does not contain %q", a.Value)
	case NotContains:
		return unless(!strings.Contains(strings.ToLower(o.Text), strings.ToLower(a.Value)), "the answer contains %q", a.Value)
	case Matches:
		re, err := regexp.Compile(a.Value)
		if err != nil {
			return fmt.Sprintf("%q is no regular expression", a.Value)
		}
		return unless(re.MatchString(o.Text), "the answer does not match %q", a.Value)
	case JSONPath:
		got, found := at(o, a.Path)
		return unless(found && got == a.Value, "%s is %q, not %q", a.Path, got, a.Value)
	case MinLength:
		return unless(length >= a.Bound, "the answer has %d characters, fewer than %d", length, a.Bound)
	case MaxLength:
		return unless(length <= a.Bound, "the answer has %d characters, more than %d", length, a.Bound)
	case MaxLatency:
		return unless(o.LatencyMS <= int64(a.Bound), "the answer took %d ms, more than %d", o.LatencyMS, a.Bound)
	case UsesTool:
		return unless(slices.Contains(o.Tools, a.Value), "the tool %s was not used", a.Value)
	default:
		return fmt.Sprintf("there is no assertion %q", a.Type)
	}
}

func unless(holds bool, format string, args ...any) string {
	if holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

var step = regexp.MustCompile(`[^.\[\]]+`)

// at returns the value at a path: in the whole answer, or without one, in its text if that is JSON.
func at(o Outcome, path string) (string, bool) {
	var v any
	raw := []byte(o.Raw)
	if len(raw) == 0 {
		raw = []byte(o.Text)
	}
	if json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	for _, name := range step.FindAllString(path, -1) {
		switch inside := v.(type) {
		case map[string]any:
			v = inside[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i < 0 || i >= len(inside) {
				return "", false
			}
			v = inside[i]
		default:
			return "", false
		}
	}
	if text, is := v.(string); is {
		return text, true
	}
	encoded, err := json.Marshal(v)
	return string(encoded), err == nil && v != nil
}

// variable matches a placeholder that Flowise fills in.
var variable = regexp.MustCompile(`\{\{.*?\}\}`)

// Generate returns cases for a flow: happy ones from its nodes and the success criteria, and edge
// cases for any flow.
func Generate(g *flow.Graph, criteria []string) []Case {
	alive := []Assertion{{Type: Answered}}
	out := []Case{{Name: "greeting", Kind: Happy, Question: "Hello", Assertions: slices.Concat(alive, fixedReply(g))}}
	out = append(out, purposes(g)...)
	for i, c := range criteria {
		out = append(out, Case{Name: fmt.Sprintf("criterion %d", i+1), Kind: Happy, Question: "Please help me: " + c, Assertions: slices.Concat(alive, quoted(c))})
	}
	return append(
		out,
		Case{Name: "one letter", Kind: Edge, Question: "?", Assertions: alive},
		Case{Name: "other scripts", Kind: Edge, Question: "Olá, こんにちは, مرحبا 🙂", Assertions: alive},
		Case{Name: "long question", Kind: Edge, Question: strings.Repeat("This question is long. ", 100), Assertions: alive},
		Case{Name: "signs of templates", Kind: Edge, Question: `{{ x }} ${y} {"a": "b"} <b>c</b>`, Assertions: alive},
	)
}

// purposes returns cases about the purpose of a flow: its documents, tools and model instructions.
// A model's wording varies, so without a criterion they only assert that there is a non-trivial
// answer.
func purposes(g *flow.Graph) []Case {
	var out []Case
	said := []Assertion{{Type: Answered}, {Type: MinLength, Bound: 2}}
	add := func(name, question string) {
		if !slices.ContainsFunc(out, func(c Case) bool { return c.Name == name }) && len(out) < maxPurposes {
			out = append(out, Case{Name: name, Kind: Happy, Question: question, Assertions: said})
		}
	}
	for i, n := range g.Nodes() {
		label := n.Label()
		switch category := n.Category(); {
		case strings.Contains(strings.ToLower(n.Name()), "calculator"):
			add(fmt.Sprintf("arithmetic %d", i), "What is 12 times 12?")
		case category == "Document Loaders":
			add("documents of "+label, "What do the documents say? Name one thing from them"+about(n)+".")
		case category == "Vector Stores" && !slices.ContainsFunc(g.Nodes(), func(o flow.Node) bool { return o.Category() == "Document Loaders" }):
			add("documents of "+label, "What do your documents say? Name one thing from them.")
		case strings.HasPrefix(category, "Tools"):
			add("tool "+label, "Please use "+label+" for something that it is good for, and tell me what came of it.")
		case category == "Memory":
			add("memory", "My name is Robin. What is my name?")
		case category == "Chains" || category == "Agents":
			add("purpose", "What can you help me with?")
		}
	}
	return out
}

// maxPurposes bounds the cases of one flow: each is asked once per trial.
const maxPurposes = 6

var web = regexp.MustCompile(`https?://[^\s"]+`)

// about returns the page that a loader reads.
func about(n flow.Node) string {
	if raw, has := n.Input("url"); has {
		if found := web.FindString(string(raw)); found != "" {
			return " (" + found + ")"
		}
	}
	return ""
}

// fixedReply asserts the text of a flow that has only one answer.
func fixedReply(g *flow.Graph) []Assertion {
	var replies []string
	for _, n := range g.Nodes() {
		raw, has := n.Input("directReplyMessage")
		var text string
		if has && json.Unmarshal(raw, &text) == nil {
			replies = append(replies, text)
		}
	}
	if len(replies) != 1 {
		return nil
	}
	var out []Assertion
	for _, part := range variable.Split(replies[0], -1) {
		if part = strings.TrimSpace(part); part != "" && !strings.Contains(part, "<") {
			out = append(out, Assertion{Type: Contains, Value: part})
		}
	}
	return out
}

var quotation = regexp.MustCompile(`["“„']([^"“”„']{2,80})["”“']`)

// quoted asserts the quoted text of a criterion.
func quoted(criterion string) []Assertion {
	var out []Assertion
	for _, m := range quotation.FindAllStringSubmatch(criterion, -1) {
		out = append(out, Assertion{Type: Contains, Value: m[1]})
	}
	return out
}
