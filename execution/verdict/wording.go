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

// What a model is told is bounded: all of it together, and how many nodes.
const (
	maxToldBytes = 48 << 10
	maxToldNodes = 60
	// maxSentences are shown at most; a table says more.
	maxSentences = 8
)

// AnswerQuestion is the name under which the model reads what was asked.
const AnswerQuestion = "question"

// AnswerNodeID is the id of the node that words the answer.
const AnswerNodeID = "answer"

// AnswerNode is the node that words what a run found, and one that found something; false
// where there is nothing to word: nothing was read, or all of it is empty.
func AnswerNode(s *runstate.State) (by string, node contracts.Node, ok bool) {
	node = contracts.Node{NodeID: AnswerNodeID, Kind: contracts.KindAnswer, Title: "Answer", Importance: contracts.ImportanceQuiet}
	if s.Node(AnswerNodeID) != nil {
		return "", node, false // worded, or a step of that name
	}
	for _, n := range found(s) {
		node.RunAfter = append(node.RunAfter, n.ID())
		if by == "" && reads(n) {
			by = n.ID()
		}
	}
	return by, node, by != ""
}

// reads reports whether a node found something that was asked for.
func reads(n *runstate.Node) bool {
	if n.Spec.Kind == contracts.KindResult {
		return len(n.Row.Result.Facts) > 0
	}
	return !n.Writes() && len(n.Row.Result.Facts) > 0 && n.Spec.Role != contracts.RolePreSearch && n.Spec.Role != contracts.RolePreChoose
}

// found are the nodes whose results are told: calls and choices of a plan, and of a
// workflow its result and what it wrote.
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

// Wording is what a model reads to word an answer, and what its sentences are checked against.
type Wording struct {
	Inputs map[string]contracts.Compact

	sources []grounding.Source
}

// WordingOf is what the model reads of a run. Values of parameters that are marked as personal are
// not told.
func WordingOf(s *runstate.State, catalog *contracts.Catalog) Wording {
	asked := question(s)
	out := Wording{Inputs: map[string]contracts.Compact{AnswerQuestion: contracts.CompactWords(asked)}, sources: []grounding.Source{{Texts: []string{asked}}}}
	size := 0
	for i, n := range found(s) {
		entry, _ := catalog.Capability(n.Spec.Tool)
		source, value := told(n, entry)
		out.sources = append(out.sources, source)
		text, err := contracts.CompactFacts(value)
		if err != nil || size+len(text.String()) > maxToldBytes { // its summary must do
			text = contracts.CompactWords(strings.Join(source.Texts, ": "))
		}
		size += len(text.String())
		out.Inputs[fmt.Sprintf("found %02d", i+1)] = text
	}
	return out
}

// told is a node as a source, and as what a model reads.
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

// openParams are the parameters of a call without personal ones.
func openParams(n *runstate.Node, entry *contracts.CapabilityEntry) map[string]any {
	private := personal(n, entry)
	out := maps.Clone(n.Row.Params)
	maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(private, name) })
	return out
}

// personal names the parameters that are marked as personal; all are where the
// capability is not declared any more.
func personal(n *runstate.Node, entry *contracts.CapabilityEntry) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(n.Row.Params)) {
		if entry == nil || entry.Capability.Metadata.ParameterSpecs[name].PII {
			out = append(out, name)
		}
	}
	return out
}

// question is what was asked, in the words of the asker where the run has them.
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

// WordingSchema is the JSON Schema of the answer of a model.
func WordingSchema() map[string]any {
	return map[string]any{
		"type": "object", "required": []any{"sentences"}, "additionalProperties": false,
		"properties": map[string]any{"sentences": map[string]any{
			"type": "array", "maxItems": maxSentences, "items": map[string]any{"type": "string", "maxLength": grounding.MaxSentence},
		}},
	}
}

// Result holds the sentences of a model to what was found: those that stay, and why
// others do not.
func (t Wording) Result(said map[string]any) *runstate.Result {
	words := t.words(said)
	facts, err := words.Facts()
	if err != nil { // plain structs of texts always encode
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
