package flow

import (
	"fmt"
	"slices"
	"strings"
)

// Severity reports whether a finding forbids a write.
type Severity string

// The severities. An error fails when the flow runs, or is refused by the
// server; a warning works, but is most likely not what was meant.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Category describes what kind of repair a finding needs.
type Category string

// The categories.
const (
	Credential Category = "CREDENTIAL"
	Structure  Category = "STRUCTURE"
	Logic      Category = "LOGIC"
	Incomplete Category = "INCOMPLETE"
)

// CodeAnchorMissing is the rule that what a node cannot do without is connected.
const CodeAnchorMissing = "anchor_missing"

// CodeParamMissing is the rule that what a node cannot do without has a value.
const CodeParamMissing = "param_missing"

// CodeNodeUnknown is the rule that the server has a kind of node.
const CodeNodeUnknown = "node_unknown"

// Finding is one thing that is wrong with a flow.
type Finding struct {
	// Pointer is the JSON pointer of the place in flowData.
	Pointer  string   `json:"pointer"`
	Severity Severity `json:"severity"`
	Category Category `json:"category"`
	// Code names the rule, for programs.
	Code string `json:"code"`
	// NodeID is the node that it concerns, if it concerns one.
	NodeID  string `json:"node_id,omitempty"`
	Message string `json:"message"`
	// Fix is what to do about it.
	Fix string `json:"fix"`
}

// String writes a finding in one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s %s at %s: %s; %s", f.Severity, f.Category, f.Code, orRoot(f.Pointer), f.Message, f.Fix)
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}

// Report is what the validator found, in the order of the flow.
type Report struct {
	Kind     Kind      `json:"kind"`
	Findings []Finding `json:"findings"`
	// SHA256 is the hash of the bytes that were looked at.
	SHA256 string `json:"sha256"`
}

// OK reports whether nothing forbids to write the flow.
func (r Report) OK() bool { return len(r.Errors()) == 0 }

// Errors lists what forbids to write the flow.
func (r Report) Errors() []Finding { return r.of(SeverityError) }

// Warnings lists the rest.
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

// Since lists the findings that an earlier report does not have, so that an
// edit is not blamed for what was wrong before. The place in the lists of nodes
// and edges does not count.
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

// Split divides the errors into those that an earlier report does not have, as
// Since does, and those that it has.
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

// UnknownKinds lists the kinds of nodes that the definitions do not have; with
// fresher definitions the flow may be right.
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
