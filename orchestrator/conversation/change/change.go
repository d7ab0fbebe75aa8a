// Package change edits an earlier request by a follow-up message: it finds the parameter that
// a fragment is about, and rewrites the request with it. It reads no text.
package change

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/internal/expr"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// GoneOn is what was said with what was said after it, which is a value of the
// parameter: the approver reads both.
func GoneOn(said *contracts.Utterance, message, parameter string) *contracts.Utterance {
	if said == nil || said.Text == "" {
		return said
	}
	out := *said
	begin := len(said.Text) + len("; ")
	out.Text += "; " + message
	out.Words = append(slices.Clone(said.Words), contracts.WordUse{Span: [2]int{begin, len(out.Text)}, Class: contracts.WordValue, Parameter: parameter})
	return &out
}

// Goal is what a request asks for, with what has changed it since.
func Goal(t orchestrator.Turn) string {
	if t.Goal != "" {
		return t.Goal
	}
	return t.Message
}

// Words are values as people read them.
func Words(values map[string]any) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, gateview.ParameterWords(name)+": "+chat.FormatValue(values[name]))
	}
	return strings.Join(out, ", ")
}

// Renamed returns the one name of an intent another value: the words as they stand, without
// their quotation marks.
func Renamed(in contracts.Intent, text string) (map[string]any, map[string]contracts.Evidence) {
	var named []string
	for name, value := range in.Parameters {
		if _, ok := value.(string); ok && chat.IsNameParameter(gateview.ParameterWords(name)) {
			named = append(named, name)
		}
	}
	if len(named) != 1 {
		return nil, nil
	}
	all := map[string]contracts.Evidence{named[0]: {Span: [2]int{0, len(text)}}}
	if inner, ok := chat.ParseQuoted(text); ok {
		text = inner
	}
	return map[string]any{named[0]: text}, all
}

// Twin is the list that a parameter is one item of, or the item of a list; a value
// of the one takes the place of the other.
func Twin(entry *contracts.CapabilityEntry, name string) string {
	if d := entry.Capability.Metadata.Decomposition; d != nil {
		for _, rule := range d.ArrayParams {
			switch name {
			case rule.SingleParamName:
				return rule.ParamName
			case rule.ParamName:
				return rule.SingleParamName
			}
		}
	}
	return ""
}

// IsLookedUp reports whether a parameter is found by its words before the call.
func IsLookedUp(entry *contracts.CapabilityEntry, name string) bool {
	flow := entry.Capability.Metadata.Flow
	return flow != nil && slices.ContainsFunc(flow.Pre, func(s contracts.PreStep) bool { return s.Param == name })
}

// LookedUp are the values of an intent that it needs, and that are found by their words.
func LookedUp(entry *contracts.CapabilityEntry, in contracts.Intent) (names []string) {
	if entry == nil || entry.Capability.Metadata.Flow == nil {
		return nil
	}
	var needs struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(entry.Capability.Schema, &needs) != nil {
		return nil
	}
	for _, step := range entry.Capability.Metadata.Flow.Pre {
		if _, said := in.Parameters[step.Param].(string); said && !step.IsLookup() && slices.Contains(needs.Required, step.Param) {
			names = append(names, step.Param)
		}
	}
	return names
}

// CanUndo tells a write whose manifest says what undoes it.
func CanUndo(catalog *contracts.Catalog, n contracts.NodeView) bool {
	entry, ok := catalog.Capability(n.Tool)
	return ok && entry.Capability.Metadata.Compensation != nil
}

// Undo is what somebody would ask for who wants the one write of a run undone, with what
// came of it: "delete alert al-9". False where nothing undoes it that is asked for in words,
// or the same write does, with what was before.
func Undo(catalog *contracts.Catalog, run contracts.RunView) (contracts.Intent, bool) {
	written := Written(run)
	if len(written) != 1 || !CanUndo(catalog, written[0]) {
		return contracts.Intent{}, false
	}
	n := written[0]
	entry, _ := catalog.Capability(n.Tool)
	rule := entry.Capability.Metadata.Compensation
	target, err := catalog.Resolve(rule.Capability, entry.Domain)
	if err != nil || target.Ref() == n.Tool || !target.Routable() {
		return contracts.Intent{}, false
	}
	params, _, err := expr.ResolveCall(rule.ParamMap, expr.Scope{"params": any(n.Params), "result": map[string]any{"facts": any(n.Facts)}})
	in := contracts.Intent{Domain: target.Domain, Capability: target.Capability.Name, Parameters: params, Confidence: 1}
	looked := LookedUp(target, in)
	if err != nil || len(looked) != 1 {
		return in, false
	}
	in.Parameters = map[string]any{looked[0]: params[looked[0]]}
	return in, true
}

// Contradicts reports whether values that come with an answer to what was asked are others
// than a request has already.
func Contradicts(in contracts.Intent, values map[string]any, asked string) bool {
	for name, value := range values {
		if had, ok := in.Parameters[name]; ok && name != asked && !reflect.DeepEqual(had, value) {
			return true
		}
	}
	return false
}

// Number is the one numeric parameter that an intent has, with another value.
func Number(entry *contracts.CapabilityEntry, in contracts.Intent, n float64) map[string]any {
	var named []string
	for name, value := range in.Parameters {
		switch value.(type) {
		case float64, int, int64:
			named = append(named, name)
		}
	}
	if len(named) != 1 || entry == nil {
		return nil
	}
	return map[string]any{named[0]: n}
}

// Written are the writes of a run that took effect, as far as is known, and were
// not taken back by the run itself.
func Written(run contracts.RunView) []contracts.NodeView {
	var out []contracts.NodeView
	undone := map[string]bool{}
	for _, n := range run.Nodes {
		if n.CompensatesNode != "" && n.State == contracts.NodeCompleted {
			undone[n.CompensatesNode], undone[n.NodeID] = true, true
		}
	}
	for _, n := range run.Nodes {
		if undone[n.NodeID] {
			continue
		}
		if n.Kind == contracts.KindTool && n.Role == "" && n.Policy != nil && n.Policy.SideEffectClass.Writes() && !run.Plan.DryRun &&
			(n.State == contracts.NodeCompleted || n.State == contracts.NodeOutcomeUnknown) {
			out = append(out, n)
		}
	}
	return out
}
