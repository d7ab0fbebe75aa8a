package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/contracts"
)

// linter reports what is valid but probably wrong.
type linter struct{ writeVerbs contracts.WriteVerbs }

func newLinter() (*linter, error) {
	verbs, err := contracts.LoadWriteVerbs()
	return &linter{verbs}, err
}

// unserved warns of the capabilities that cannot be served, with the reason.
func unserved(m *contracts.Manifest, warn func(pointer, format string, args ...any)) {
	for _, f := range m.UnservedFaults() {
		index, _, _ := strings.Cut(strings.TrimPrefix(f.Pointer, "/capabilities/"), "/")
		if i, err := strconv.Atoi(index); err == nil && i < len(m.Capabilities) {
			warn(f.Pointer, "%q is not in service: %s", m.Capabilities[i].Name, f.Message)
		}
	}
}

// lint reports what is probably wrong with a manifest in this set of domains, as warnings. A read
// whose name begins with a write verb needs a confirmation, unless the capability is active already.
func (l *linter) lint(others domainSet, domain string, m *contracts.Manifest) []contracts.Finding {
	var out []contracts.Finding
	warn := func(pointer, format string, args ...any) {
		out = append(out, contracts.Finding{Pointer: pointer, Message: fmt.Sprintf(format, args...), Severity: contracts.SeverityWarning})
	}
	taken := sentences(others, domain)
	unserved(m, warn)
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		at := fmt.Sprintf("/capabilities/%d", i)
		if m.Unserved[c.Name] != nil {
			continue
		}
		for _, f := range unchecked(c) {
			warn(at+f.Pointer, "%q: %s", c.Name, f.Message)
		}
		writes := c.Metadata.Policy(true).SideEffectClass.Writes()
		if verb := contracts.FirstWord(c.Name); !writes && l.writeVerbs[verb] {
			warn(at+"/metadata/side_effect_class", "%q is declared as %s, but its name begins with %q; reads run without approval", c.Name, c.Metadata.SideEffectClass, verb)
			if _, known := others.capability(domain+"."+c.Name, domain); !known {
				out[len(out)-1].Severity = contracts.SeverityConfirm
			}
		}
		if writes && c.Metadata.Verify == nil {
			warn(at+"/metadata", "%q is a write without verify; its verdict is at best degraded", c.Name)
		}
		hints := c.Metadata.IntentHints
		if routable(c) && (hints == nil || len(hints.Examples) == 0) {
			warn(at+"/metadata/intent_hints/examples", "%q may be chosen from text but gives no example of one", c.Name)
		}
		if hints == nil {
			continue
		}
		for j, example := range hints.Examples {
			if owner, ok := taken[plainWords(example)]; ok {
				warn(fmt.Sprintf("%s/metadata/intent_hints/examples/%d", at, j), "the same words are an example of %s", owner)
			}
		}
	}
	return out
}

// unchecked returns the rules in a capability's schemas that are not enforced.
func unchecked(c *contracts.Capability) []contracts.Fault {
	var out []contracts.Fault
	for place, raw := range map[string]json.RawMessage{"/schema": c.Schema, "/output_schema": c.OutputSchema} {
		schema, err := contracts.CompileSchema(raw)
		if err != nil {
			continue // absent, or reported already
		}
		for _, f := range schema.Unchecked() {
			out = append(out, contracts.Fault{Pointer: place + f.Pointer, Message: f.Message})
		}
	}
	slices.SortFunc(out, func(a, b contracts.Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	return out
}

func routable(c *contracts.Capability) bool {
	return c.Metadata.Routable == nil || *c.Metadata.Routable
}

// sentences maps the examples of all other domains to their capability.
func sentences(others domainSet, domain string) map[string]string {
	out := map[string]string{}
	for name, a := range others {
		if name == domain {
			continue
		}
		for i := range a.manifest.Capabilities {
			c := &a.manifest.Capabilities[i]
			if a.manifest.Unserved[c.Name] != nil {
				continue
			}
			if hints := c.Metadata.IntentHints; hints != nil && routable(c) {
				for _, example := range hints.Examples {
					out[plainWords(example)] = name + "." + c.Name
				}
			}
		}
	}
	return out
}

// plainWords removes case and punctuation, which do not distinguish sentences.
func plainWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}), " ")
}
