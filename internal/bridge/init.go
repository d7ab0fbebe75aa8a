package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Draft returns a first overlay for a service: each operation with its class and the reason for it,
// as without an overlay, and the pins of all operations.
func Draft(findings []Finding) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(`# What is said here holds; what is not said fails closed: an operation is an
# irreversible write that two people must see. Look at each one, and say what it is.
# A class that is proposed comes from the server itself; it counts when you say so.
trusted: false
tools:
`)
	pins := map[string]Definition{}
	for i := range findings {
		f := &findings[i]
		if f.definition.fault() != "" {
			fmt.Fprintf(&out, "  # %s is not served: %s\n", contracts.CleanSummary(f.Operation), f.Why)
			continue
		}
		pins[f.Operation] = f.definition
		draft(&out, f)
	}
	if len(pins) == 0 {
		return nil, contracts.Errorf(contracts.CodeInvalid, "there is no operation that could be served")
	}
	raw, err := Pins(pins)
	out.Write(raw)
	return out.Bytes(), err
}

func draft(out *bytes.Buffer, f *Finding) {
	name, _ := json.Marshal(f.Operation)
	fmt.Fprintf(out, "  # %s\n", described(f.definition.Description))
	fmt.Fprintf(out, "  %s:\n", name)
	fmt.Fprintf(out, "    # %s\n", f.Why)
	out.WriteString("    metadata:\n")
	proposed := "write_irreversible"
	if c := f.definition.Claims; c != nil && c.ReadOnly {
		proposed = "read"
	}
	if f.Class == contracts.ClassRead || proposed == string(contracts.ClassWriteIrreversible) {
		fmt.Fprintf(out, "      side_effect_class: %s\n", f.Class)
	} else {
		fmt.Fprintf(out, "      side_effect_class: %s # proposed: %s\n", f.Class, proposed)
	}
	if f.Class != contracts.ClassRead {
		out.WriteString("      # verify: {capability: …, param_map: {…}, assertions: [{path: facts.…, equals: …}]}\n")
	}
	out.WriteString("      # intent_hints: {examples: [\"…\"]}\n")
}

// pinsHead starts the generated part of an overlay.
const pinsHead = "\n# What was looked at. An operation that differs from this is not used until this\n# part is written anew, with \"manifold bridge … confirm\".\npins:\n"

// Pins returns definitions as the last part of an overlay.
func Pins(pins map[string]Definition) ([]byte, error) {
	out := bytes.NewBufferString(pinsHead)
	for _, name := range sortedKeys(pins) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(pins[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "  %s: %s\n", key, value)
	}
	return out.Bytes(), nil
}

// Repin returns an overlay with the current definitions of these operations as pins, and the changes
// of each. If the overlay has no pins yet, it pins all operations: one without a pin would count as
// new.
func Repin(text []byte, findings []Finding, names []string) (next []byte, changes []string, err error) {
	o, err := ParseOverlay(text)
	if err != nil {
		return nil, nil, err
	}
	pins := map[string]Definition{}
	maps.Copy(pins, o.Pins)
	for i := range findings {
		f := &findings[i]
		if len(names) > 0 && len(o.Pins) > 0 && !slices.Contains(names, f.Operation) || f.definition.fault() != "" {
			continue
		}
		before, known := pins[f.Operation]
		switch {
		case !known:
			changes = append(changes, f.Operation+" is new")
		case before.Digest() != f.definition.Digest():
			changes = append(changes, f.Operation+" has changed:\n    "+strings.Join(Differences(before, f.definition), "\n    "))
		}
		pins[f.Operation] = f.definition
	}
	kept, _, _ := bytes.Cut(text, []byte(pinsHead))
	if bytes.Contains(kept, []byte("\npins:")) || bytes.HasPrefix(kept, []byte("pins:")) {
		return nil, nil, contracts.Errorf(contracts.CodeInvalid, "the pins do not stand where the program wrote them; take them out, and confirm again")
	}
	raw, err := Pins(pins)
	if err != nil {
		return nil, nil, err
	}
	next = append(bytes.TrimRight(kept, "\n"), '\n')
	next = append(next, raw...)
	if _, err := ParseOverlay(next); err != nil {
		return nil, nil, fmt.Errorf("the new overlay: %w", err)
	}
	return next, changes, nil
}
