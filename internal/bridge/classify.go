package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Finding is the classification of one operation.
type Finding struct {
	Operation string `json:"operation"`
	// Capability is the name of the capability, "" if it is not served.
	Capability string                    `json:"capability,omitempty"`
	Class      contracts.SideEffectClass `json:"class,omitempty"`
	// Why is the reason for the class, or for not serving it.
	Why string `json:"why"`
	// Quarantined means that the operation has changed since it was reviewed.
	Quarantined bool `json:"quarantined,omitempty"`

	definition Definition
	tool       Tool
	metadata   contracts.Metadata
}

// Served reports whether the operation may be called.
func (f Finding) Served() bool { return f.Capability != "" }

// judge classifies the operations, sorted by name.
func judge(o Overlay, defs []Definition, seen map[string]Definition, verbs contracts.WriteVerbs) []Finding {
	var out []Finding
	for _, d := range defs {
		f := Finding{Operation: d.Name, definition: d, tool: o.tool(d.Name)}
		f.Capability = f.tool.Name
		if f.Capability == "" {
			f.Capability = CapabilityName(d.Name)
		}
		if why := refusal(o, f, seen); why != "" {
			f.Capability, f.Why = "", why
			_, f.Quarantined = changed(o, d, seen)
		} else {
			f.metadata, f.Why = classify(o, d, f.tool, verbs)
			f.Class = f.metadata.Policy(f.metadata.Compensation != nil).SideEffectClass
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return strings.Compare(a.Operation, b.Operation) })
	return rejectDependents(rejectNameClashes(out))
}

// refusal returns why an operation is not served, "" if it is.
func refusal(o Overlay, f Finding, seen map[string]Definition) string {
	if f.tool.Serve != nil && !*f.tool.Serve || !o.Select.Takes(f.definition) {
		return "left out by the overlay"
	}
	if why := f.definition.fault(); why != "" {
		return why
	}
	if where, is := changed(o, f.definition, seen); is {
		return "quarantined, since it has changed: " + strings.Join(where, "; ")
	}
	if _, pinned := o.Pins[f.Operation]; !pinned && len(o.Pins) > 0 {
		return "it is new since the pins were written; confirm it"
	}
	return ""
}

// changed compares an operation with its pin, or else with its baseline.
func changed(o Overlay, d Definition, seen map[string]Definition) ([]string, bool) {
	known, ok := o.Pins[d.Name]
	if !ok {
		if known, ok = seen[d.Name]; !ok {
			return nil, false
		}
	}
	if known.Digest() == d.Digest() && d.Digest() != "" {
		return nil, false
	}
	return Differences(known, d), true
}

// classify returns the metadata of an operation and the reason for its class. Evidence for a write
// always counts. Evidence for a read counts only if the protocol defines it, or if an operator trusts
// the service's claims.
func classify(o Overlay, d Definition, t Tool, verbs contracts.WriteVerbs) (contracts.Metadata, string) {
	m := t.Metadata
	if m.SideEffectClass != "" {
		return m, "by the overlay"
	}
	verb := verbs.In(d.Name)
	switch {
	case d.Plain && d.Claims != nil && d.Claims.ReadOnly:
		m.SideEffectClass = contracts.ClassRead
		return m, "its method only reads"
	case d.Plain:
		m.SideEffectClass = contracts.ClassWriteIrreversible
		return m, "its method may change something"
	case d.Claims == nil:
		m.SideEffectClass = contracts.ClassWriteIrreversible
		return m, "the server says nothing of its effect"
	case d.Claims.ReadOnly && verb != "":
		m.SideEffectClass = contracts.ClassWriteIrreversible
		return m, fmt.Sprintf("the server says that it only reads, but its name has %q", verb)
	case !d.Claims.ReadOnly:
		m.SideEffectClass = contracts.ClassWriteIrreversible
		if o.Trusted && d.Claims.Idempotent && m.Idempotency == "" {
			m.Idempotency = contracts.IdempotencyNatural
		}
		return m, "the server says that it changes something"
	case !o.Trusted:
		m.SideEffectClass = contracts.ClassWriteIrreversible
		return m, "the server says that it only reads, and is not trusted"
	}
	m.SideEffectClass = contracts.ClassRead
	m.OpenWorld = m.OpenWorld || d.Claims.OpenWorld == nil || *d.Claims.OpenWorld
	return m, "the server says that it only reads, and is trusted"
}

// rejectNameClashes excludes operations that would have the same capability name.
func rejectNameClashes(found []Finding) []Finding {
	names := map[string]int{}
	for _, f := range found {
		names[f.Capability]++
	}
	for i := range found {
		if f := &found[i]; f.Served() && names[f.Capability] > 1 {
			f.Why = fmt.Sprintf("%d operations would be called %s; give them names in the overlay", names[f.Capability], f.Capability)
			f.Capability = ""
		}
	}
	return found
}

// rejectDependents excludes operations that depend on one that is not served.
func rejectDependents(found []Finding) []Finding {
	for again := true; again; {
		again = false
		served, missing := map[string]bool{}, map[string]bool{}
		for _, f := range found {
			if f.Served() {
				served[f.Capability] = true
				continue
			}
			missing[f.tool.Name], missing[CapabilityName(f.Operation)] = true, true
		}
		for i := range found {
			f := &found[i]
			if lean := leansOn(f.metadata, served, missing); f.Served() && lean != "" {
				f.Capability, f.Why, again = "", "it leans on "+lean+", which is not served", true
			}
		}
	}
	return found
}

func leansOn(m contracts.Metadata, served, missing map[string]bool) string {
	for _, ref := range calls(m) {
		if missing[ref] && !served[ref] {
			return ref
		}
	}
	return ""
}

// calls returns the capabilities that the metadata refers to.
func calls(m contracts.Metadata) []string {
	var out []string
	for _, c := range []*contracts.CapabilityCall{m.Compensation, m.Reconcile} {
		if c != nil {
			out = append(out, c.Capability)
		}
	}
	if m.Verify != nil {
		out = append(out, m.Verify.Capability)
	}
	if m.Flow != nil {
		for _, s := range m.Flow.Pre {
			out = append(out, s.SearchCapability)
		}
		for _, s := range m.Flow.Post {
			out = append(out, s.Capability)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
