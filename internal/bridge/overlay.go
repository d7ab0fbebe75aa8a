package bridge

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/manifold-run/manifold/contracts"
)

// Overlay is what an operator says of a service.
type Overlay struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Trusted lets the claims of the service count; without it they are shown and
	// not believed.
	Trusted bool `json:"trusted,omitempty"`
	// Select names what is served; absent, all of it.
	Select *Select `json:"select,omitempty"`
	// Tools are operations by their names; "*suffix" is the one whose name ends so.
	Tools map[string]Tool `json:"tools,omitempty"`
	// Remote are the hosts whose documents may be referred to.
	Remote []string                `json:"remote,omitempty"`
	Tests  []contracts.RoutingTest `json:"tests,omitempty"`
	// Pins are the definitions that somebody has looked at.
	Pins map[string]Definition `json:"pins,omitempty"`
}

// Select is a choice of operations: those that fit one of the lists.
type Select struct {
	// Names and Paths may have "*".
	Names []string `json:"names,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Tags  []string `json:"tags,omitempty"`
}

// Tool is what an operator says of one operation.
type Tool struct {
	// Name is that of the capability [made of the operation's].
	Name string `json:"name,omitempty"`
	// Serve false leaves it out.
	Serve       *bool  `json:"serve,omitempty"`
	Description string `json:"description,omitempty"`
	// Metadata is that of a capability: its class, how it is verified and undone, who
	// may use it, the sentences that lead to it.
	Metadata     contracts.Metadata `json:"metadata,omitzero"`
	OutputSchema json.RawMessage    `json:"output_schema,omitempty"`
	// KeyParam is the parameter, KeyHeader the header, that takes the idempotency key
	// of a write.
	KeyParam  string `json:"key_param,omitempty"`
	KeyHeader string `json:"key_header,omitempty"`
	// Matches makes a search of a read, for the look-ups of others.
	Matches *Matches `json:"matches,omitempty"`
	// ErrorEffect is what a write did that answers with an error [unknown].
	ErrorEffect contracts.Effect `json:"error_effect,omitempty"`
	// AskEffect is what a write did that asks a person while it is under way [unknown].
	AskEffect contracts.Effect `json:"ask_effect,omitempty"`
}

// Matches says where the answer of a read has its list, and what of each item is the
// value that a look-up wants, and how that is called.
type Matches struct {
	Items  string `json:"items,omitempty"` // a path with dots ["items"]
	Value  string `json:"value"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
}

// ParseOverlay reads an overlay in YAML, of which JSON is a part. Unknown keys are
// errors.
func ParseOverlay(text []byte) (Overlay, error) {
	var o Overlay
	if len(strings.TrimSpace(string(text))) == 0 {
		return o, nil
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return o, contracts.Errorf(contracts.CodeInvalid, "the overlay is no YAML: %s", yaml.FormatError(err, false, false))
	}
	if string(raw) == "null\n" || string(raw) == "null" { // comments alone
		return o, nil
	}
	if err := contracts.DecodeStrict(raw, &o); err != nil {
		return o, fmt.Errorf("overlay: %w", err)
	}
	return o, nil
}

// tool gives what is said of an operation. A "*suffix" must fit one operation
// only; the names of all are needed for that.
func (o Overlay) tool(name string) Tool {
	if t, ok := o.Tools[name]; ok {
		return t
	}
	for pattern, t := range o.Tools {
		if suffix, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasSuffix(name, suffix) {
			return t
		}
	}
	return Tool{}
}

// faults lists what the overlay says of operations that are not there, or that
// cannot be told apart.
func (o Overlay) faults(defs []Definition) []contracts.Fault {
	var out []contracts.Fault
	for _, pattern := range sortedKeys(o.Tools) {
		suffix, open := strings.CutPrefix(pattern, "*")
		n := 0
		for _, d := range defs {
			if d.Name == pattern || open && strings.HasSuffix(d.Name, suffix) {
				n++
			}
		}
		if n != 1 {
			out = append(out, contracts.Fault{Pointer: "/tools/" + contracts.EscapeToken(pattern), Message: fmt.Sprintf("fits %d operations; it must fit one", n)})
		}
	}
	return out
}

// takes tells whether an operation is served by the selection.
func (s *Select) takes(d Definition) bool {
	if s == nil {
		return true
	}
	return slices.ContainsFunc(s.Names, func(p string) bool { return fits(p, d.Name) }) ||
		slices.ContainsFunc(s.Paths, func(p string) bool { return d.Path != "" && fits(p, d.Path) }) ||
		slices.ContainsFunc(s.Tags, func(t string) bool { return slices.Contains(d.Tags, t) })
}

func fits(pattern, text string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return err == nil && ok
}
