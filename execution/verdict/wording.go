package verdict

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/metrics"
	"github.com/manifold-run/manifold/execution/grounding"
	"github.com/manifold-run/manifold/execution/runstate"
)

// Limits of what a model reads: the total size, and the number of nodes.
const (
	maxToldBytes = 48 << 10
	maxToldNodes = 60
	// maxSentences is the most sentences of an answer; a table shows more.
	maxSentences = 8
)

// AnswerQuestion is the name of the input with the question.
const AnswerQuestion = "question"

// AnswerNodeID is the id of the answer node.
const AnswerNodeID = "answer"

// AnswerNode returns the node that words the results of a run, and the id of a node with a result.
// ok is false if there is nothing to word: nothing was read, or all results are empty.
func AnswerNode(s *runstate.State) (by string, node contracts.Node, ok bool) {
	node = contracts.Node{NodeID: AnswerNodeID, Kind: contracts.KindAnswer, Title: "Answer", Importance: contracts.ImportanceQuiet}
	if s.Node(AnswerNodeID) != nil {
		return "", node, false // already worded, or a step with that name
	}
	for _, n := range found(s) {
		node.RunAfter = append(node.RunAfter, n.ID())
		if by == "" && reads(n) {
			by = n.ID()
		}
	}
	return by, node, by != ""
}

// reads reports whether a node has a result that was asked for.
func reads(n *runstate.Node) bool {
	if n.Spec.Kind == contracts.KindResult {
		return len(n.Row.Result.Facts) > 0
	}
	return !n.Writes() && len(n.Row.Result.Facts) > 0 && n.Spec.Role != contracts.RolePreSearch && n.Spec.Role != contracts.RolePreChoose
}

// found returns the nodes whose results a model reads: calls and choices of a plan; of a workflow,
// its result and its writes.
func found(s *runstate.State) []*runstate.Node {
	var out []*runstate.Node
	for _, n := range s.Nodes() {
		switch {
		case n.Superseded() || n.State() != contracts.NodeCompleted || n.Row.Result == nil || len(out) == maxToldNodes:
		case n.Spec.Kind == contracts.KindResult, n.InWorkflow() && n.Spec.Kind == contracts.KindTool && n.Writes():
			out = append(out, n)
		case !n.InWorkflow() && n.Spec.ForEach == nil && (n.Spec.Kind == contracts.KindTool || n.Spec.Kind == contracts.KindHuman):
			out = append(out, n)
		}
	}
	return out
}

// Wording has the inputs of a model for an answer, and the sources that its sentences are checked
// against.
type Wording struct {
	Inputs map[string]contracts.Compact

	sources []grounding.Source
}

// WordingOf returns the inputs and sources of a run, without the values of personal parameters.
func WordingOf(s *runstate.State, catalog *contracts.Catalog) Wording {
	asked := question(s)
	out := Wording{Inputs: map[string]contracts.Compact{AnswerQuestion: contracts.CompactWords(asked)}, sources: []grounding.Source{{Texts: []string{asked}}}}
	size := 0
	for i, n := range found(s) {
		entry, _ := catalog.Capability(n.Spec.Tool)
		source, value := told(n, entry)
		out.sources = append(out.sources, source)
		text, err := contracts.CompactFacts(value)
		if err != nil || size+len(text.String()) > maxToldBytes { // only the summary is used
			text = contracts.CompactWords(strings.Join(source.Texts, ": "))
		}
		size += len(text.String())
		out.Inputs[fmt.Sprintf("found %02d", i+1)] = text
	}
	return out
}

// told returns a node as a source, and as an input of the model.
func told(n *runstate.Node, entry *contracts.CapabilityEntry) (grounding.Source, map[string]any) {
	r := n.Row.Result
	masked := func(text string) string { return runstate.Mask(text, personal(n, entry), n.Row.Params) }
	source := grounding.Source{ID: n.ID(), Kind: n.Spec.Tool, Texts: []string{contracts.CleanSummary(masked(n.Spec.Title)), masked(r.Summary)}}
	value := map[string]any{"step": source.Texts[0], "summary": source.Texts[1]}
	if params := openParams(n, entry); len(params) > 0 {
		value["parameters"] = params
		source.Values = append(source.Values, params)
	}
	if len(r.Facts) > 0 {
		value["facts"] = r.Facts
		source.Values = append(source.Values, r.Facts)
	}
	if entry != nil && entry.Capability.Metadata.Present != nil {
		source.Units = map[string]string{}
		for _, col := range entry.Capability.Metadata.Present.Columns {
			if col.Unit != "" {
				source.Units[col.Path[strings.LastIndexByte(col.Path, '.')+1:]] = col.Unit
			}
		}
		if len(source.Units) > 0 {
			value["units"] = source.Units
		}
	}
	return source, value
}

// openParams returns the parameters of a call without personal ones.
func openParams(n *runstate.Node, entry *contracts.CapabilityEntry) map[string]any {
	private := personal(n, entry)
	out := maps.Clone(n.Row.Params)
	maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(private, name) })
	return out
}

// personal returns the names of the personal parameters: all, if the capability is not declared any
// more.
func personal(n *runstate.Node, entry *contracts.CapabilityEntry) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.Row.Params)) {
		if entry == nil || entry.Capability.Metadata.ParameterSpecs[name].PII {
			out = append(out, name)
		}
	}
	return out
}

// question returns the text of the requester, or the goal if the run does not have it.
func question(s *runstate.State) string {
	var said []string
	for _, n := range s.Nodes() {
		if n.Spec.Utterance != nil && !slices.Contains(said, n.Spec.Utterance.Text) {
			said = append(said, n.Spec.Utterance.Text)
		}
	}
	if len(said) == 0 {
		return s.Run.Plan.Goal
	}
	return strings.Join(said, "\n")
}

// WordingSchema returns the JSON Schema of the answer of a model.
func WordingSchema() map[string]any {
	return map[string]any{
		"type": "object", "required": []any{"sentences"}, "additionalProperties": false,
		"properties": map[string]any{"sentences": map[string]any{
			"type": "array", "maxItems": maxSentences, "items": map[string]any{"type": "string", "maxLength": grounding.MaxSentence},
		}},
	}
}

// Result checks the sentences of a model against the sources. It returns the sentences that pass,
// and why others were left out.
func (t Wording) Result(said map[string]any) *runstate.Result {
	words := t.words(said)
	facts, err := words.Facts()
	if err != nil { // structs of strings can always be encoded
		facts = nil
	}
	summary := fmt.Sprintf("%d sentences", len(words.Sentences))
	if left := len(words.LeftOut); left > 0 {
		summary += fmt.Sprintf(", %d left out: %s", left, words.LeftOut[0])
	}
	return &runstate.Result{Summary: contracts.CleanSummary(summary), Facts: facts}
}

func (t Wording) words(said map[string]any) metrics.Worded {
	out := metrics.Worded{Sentences: []metrics.Sentence{}}
	ground := grounding.New(t.sources)
	sentences, _ := said["sentences"].([]any)
	for _, s := range sentences[:min(len(sentences), maxSentences)] {
		text, _ := s.(string)
		checked, err := ground.Check(text)
		if why := new(grounding.Error); errors.As(err, &why) {
			out.LeftOut = append(out.LeftOut, why.Error())
			continue
		}
		if checked.LinkFrom != "" {
			checked.Text += fmt.Sprintf(" (This link is quoted from a text of %s.)", checked.LinkFrom)
		}
		nodes := checked.Sources
		if nodes == nil {
			nodes = []string{}
		}
		out.Sentences = append(out.Sentences, metrics.Sentence{Text: checked.Text, Nodes: nodes})
	}
	return out
}
