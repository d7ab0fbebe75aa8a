// Package change edits an earlier request by a follow-up message: it finds the parameter that a
// fragment is about, and changes the request. It parses no text.
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

// GoneOn appends a follow-up message to an utterance, as a value of the parameter, so that the
// approver reads both.
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

// Goal returns the text of a request, including the messages that have changed it.
func Goal(t orchestrator.Turn) string {
	if t.Goal != "" {
		return t.Goal
	}
	return t.Message
}

// Words formats values for people.
func Words(values map[string]any) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, gateview.ParameterWords(name)+": "+chat.FormatValue(values[name]))
	}
	return strings.Join(out, ", ")
}

// Renamed returns the text, without quotation marks, as the new value of the intent's only name
// parameter.
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

// Twin returns the list parameter that a parameter is one item of, or the item of a list parameter.
// A value for one replaces the other.
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

// IsLookedUp reports whether a step before the call searches for the parameter's value.
func IsLookedUp(entry *contracts.CapabilityEntry, name string) bool {
	flow := entry.Capability.Metadata.Flow
	return flow != nil && slices.ContainsFunc(flow.Pre, func(s contracts.PreStep) bool { return s.Param == name })
}

// LookedUp returns the required parameters of an intent whose values are search words.
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

// CanUndo reports whether the manifest declares a compensation for the write.
func CanUndo(catalog *contracts.Catalog, n contracts.NodeView) bool {
	entry, ok := catalog.Capability(n.Tool)
	return ok && entry.Capability.Metadata.Compensation != nil
}

// Undo returns the intent that undoes the only write of a run, with the result of that write:
// "delete alert al-9". It returns false if there is no such capability, or if the write is undone
// by calling it again with the earlier values.
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

// Contradicts reports whether the values of an answer, other than the one asked for, differ from
// values that the request already has.
func Contradicts(in contracts.Intent, values map[string]any, asked string) bool {
	for name, value := range values {
		if had, ok := in.Parameters[name]; ok && name != asked && !reflect.DeepEqual(had, value) {
			return true
		}
	}
	return false
}

// Number returns n as the new value of the intent's only numeric parameter, or nil.
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

// Written returns the writes of a run that took effect or may have, and that the run itself has not
// compensated.
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
