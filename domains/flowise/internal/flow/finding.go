package flow

import (
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a finding prevents a write.
type Severity string

// The severities. An error fails at run time or is rejected by the server. A warning works, but is
// probably not intended.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Category is the kind of fix that a finding needs.
type Category string

// The categories.
const (
	Credential Category = "CREDENTIAL"
	Structure  Category = "STRUCTURE"
	Logic      Category = "LOGIC"
	Incomplete Category = "INCOMPLETE"
)

// CodeAnchorMissing is the rule that a required anchor is connected.
const CodeAnchorMissing = "anchor_missing"

// CodeParamMissing is the rule that a required parameter has a value.
const CodeParamMissing = "param_missing"

// CodeNodeUnknown is the rule that the server has the kind of the node.
const CodeNodeUnknown = "node_unknown"

// Finding is one fault of a flow.
type Finding struct {
	// Pointer is the JSON pointer into flowData.
	Pointer  string   `json:"pointer"`
	Severity Severity `json:"severity"`
	Category Category `json:"category"`
	// Code identifies the rule.
	Code string `json:"code"`
	// NodeID is the affected node, if there is one.
	NodeID  string `json:"node_id,omitempty"`
	Message string `json:"message"`
	// Fix says how to fix it.
	Fix string `json:"fix"`
}

// String formats a finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s %s at %s: %s; %s", f.Severity, f.Category, f.Code, orRoot(f.Pointer), f.Message, f.Fix)
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}

// Report is the result of Validate, in the order of the flow.
type Report struct {
	Kind     Kind      `json:"kind"`
	Findings []Finding `json:"findings"`
	// SHA256 is the hash of the validated bytes.
	SHA256 string `json:"sha256"`
}

// OK reports whether the flow may be written, that is, has no errors.
func (r Report) OK() bool { return len(r.Errors()) == 0 }

// Errors returns the findings of severity error.
func (r Report) Errors() []Finding { return r.of(SeverityError) }

// Warnings returns the findings of severity warning.
func (r Report) Warnings() []Finding { return r.of(SeverityWarning) }

func (r Report) of(s Severity) []Finding {
	out := make([]Finding, 0, len(r.Findings))
	for _, f := range r.Findings {
		if f.Severity == s {
			out = append(out, f)
		}
	}
	return out
}

// Since returns the findings that an earlier report does not have, so that an edit is not blamed
// for older faults. Positions in the lists of nodes and edges are ignored.
func (r Report) Since(earlier Report) []Finding {
	known := map[string]int{}
	for _, f := range earlier.Findings {
		known[f.identity()]++
	}
	var out []Finding
	for _, f := range r.Findings {
		if known[f.identity()]--; known[f.identity()] < 0 {
			out = append(out, f)
		}
	}
	return out
}

// Split splits the errors into new ones, as Since does, and those that the earlier report has too.
func (r Report) Split(earlier Report) (added, old []Finding) {
	added = Report{Findings: r.Since(earlier)}.Errors()
	return added, slices.DeleteFunc(r.Errors(), func(f Finding) bool { return slices.Contains(added, f) })
}

func (f Finding) identity() string {
	place := strings.Split(f.Pointer, "/")
	if len(place) > 3 {
		place = place[3:]
	}
	return strings.Join(append([]string{string(f.Severity), f.Code, f.NodeID, f.Message}, place...), "\x00")
}

// UnknownKinds returns the kinds of nodes without a definition. The flow may be valid with newer
// definitions.
func (r Report) UnknownKinds() []string {
	var out []string
	for _, f := range r.Findings {
		if name, ok := strings.CutPrefix(f.Message, unknownKind); ok {
			name, _, _ = strings.Cut(name, `"`)
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

const unknownKind = `there is no kind of node "`
