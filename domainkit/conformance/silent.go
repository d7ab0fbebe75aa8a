package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// checkSilent warns of declarations that the core accepts but that have no effect or not the
// intended one.
func (s *suite) checkSilent(_ context.Context, p *probe) {
	for i := range s.manifest.Capabilities {
		c := &s.manifest.Capabilities[i]
		at := capabilityPointer(i) + "/metadata"
		silentPolicy(p, c, at)
		s.silentCalls(p, c, at)
		s.silentPaths(p, c, at)
		s.silentRoles(p, c, at)
	}
}

// silentPolicy warns of policy settings that the core ignores.
func silentPolicy(p *probe, c *contracts.Capability, at string) {
	m := c.Metadata
	if m.ApprovalRequired != nil && !*m.ApprovalRequired && policyOf(c).ApprovalRequired {
		p.warn("approval-ignored", at+"/approval_required", "Leave it out, or have the site lower the floor for this capability.",
			"%s says approval_required: false, which is ignored: %s", c.Name, policyOf(c).Reason)
	}
	if !m.SideEffectClass.Writes() && m.Idempotency != "" && m.Idempotency != contracts.IdempotencyNotApplicable {
		p.warn("idempotency-of-a-read", at+"/idempotency", "Leave it out: a read may be repeated anyway.",
			"%s is a %s, and its idempotency %q says nothing", c.Name, m.SideEffectClass, m.Idempotency)
	}
}

// ownCall is a call declared in the manifest, with its JSON pointer.
type ownCall struct {
	at       string
	target   string
	paramMap map[string]any
}

func callsOf(c *contracts.Capability, at string) []ownCall {
	m := c.Metadata
	var out []ownCall
	for place, call := range map[string]*contracts.CapabilityCall{"/compensation": m.Compensation, "/reconcile": m.Reconcile} {
		if call != nil {
			out = append(out, ownCall{at + place, call.Capability, call.ParamMap})
		}
	}
	if m.Verify != nil {
		out = append(out, ownCall{at + "/verify", m.Verify.Capability, m.Verify.ParamMap})
	}
	if m.Flow != nil {
		for i, step := range m.Flow.Pre {
			out = append(out, ownCall{fmt.Sprintf("%s/flow/pre/%d", at, i), step.SearchCapability, step.ParamMap})
		}
		for i, step := range m.Flow.Post {
			out = append(out, ownCall{fmt.Sprintf("%s/flow/post/%d", at, i), step.Capability, step.ParamMap})
		}
	}
	slices.SortFunc(out, func(a, b ownCall) int { return strings.Compare(a.at, b.at) })
	return out
}

// silentCalls validates the literals of a param_map against the schema of the called capability.
// Otherwise the call would only be refused at run time.
func (s *suite) silentCalls(p *probe, c *contracts.Capability, at string) {
	for _, call := range callsOf(c, at) {
		target := s.capabilityNamed(call.target)
		if target == nil {
			continue
		}
		schema, err := contracts.CompileSchema(target.Schema)
		if err != nil {
			continue // reported by the manifest check
		}
		for _, name := range slices.Sorted(maps.Keys(call.paramMap)) {
			property, ok := schema.Property(name)
			if !ok || computed(call.paramMap[name]) {
				continue
			}
			for _, f := range property.Validate(call.paramMap[name]) {
				p.fail("literal", call.at+"/param_map/"+name+f.Pointer, "Give a value that the schema of "+target.Name+" takes.",
					"%s calls %s with a %s that it refuses: %s", c.Name, target.Name, name, f.Message)
			}
		}
	}
}

// computed reports whether a value is only known at call time.
func computed(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${")
	case []any:
		return slices.ContainsFunc(v, computed)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), computed)
	default:
		return false
	}
}

// silentPaths warns of paths to facts that the output schema does not declare.
func (s *suite) silentPaths(p *probe, c *contracts.Capability, at string) {
	m := c.Metadata
	if m.Verify != nil {
		read := s.capabilityNamed(m.Verify.Capability)
		for i, a := range m.Verify.Assertions {
			if a.Exists != nil && !*a.Exists {
				continue // asserts that the fact is absent
			}
			place := fmt.Sprintf("%s/verify/assertions/%d/path", at, i)
			path := strings.TrimSuffix(strings.TrimPrefix(a.Path, "${"), "}")
			if own, ok := strings.CutPrefix(path, "result."); ok {
				undeclared(p, c, own, place)
			} else if read != nil {
				undeclared(p, read, path, place)
			}
		}
	}
	if m.Composition != nil && m.Composition.EnabledIf != nil {
		undeclared(p, c, strings.TrimPrefix(m.Composition.EnabledIf.Path, "result."), at+"/composition/enabled_if/path")
	}
	if m.Flow != nil {
		for i, step := range m.Flow.Pre {
			if target := s.capabilityNamed(step.SearchCapability); target != nil && step.ResultPath != "" {
				undeclared(p, target, step.ResultPath, fmt.Sprintf("%s/flow/pre/%d/result_path", at, i))
			}
		}
	}
	if m.Present != nil {
		silentPresent(p, c, *m.Present, at+"/present")
	}
}

// silentPresent checks the columns of a table, which read the facts or the items of the list that
// gives its rows.
func silentPresent(p *probe, c *contracts.Capability, present contracts.Present, at string) {
	facts, err := contracts.CompileSchema(c.OutputSchema)
	if len(c.OutputSchema) == 0 || err != nil {
		return // reported by the checklist or the manifest check
	}
	rows := facts
	if present.Rows != "" {
		list, ok := declared(facts, strings.TrimPrefix(present.Rows, "facts."))
		if !ok {
			undeclared(p, c, present.Rows, at+"/rows")
			return
		}
		if list == nil {
			return
		}
		if rows, ok = list.Items(); !ok {
			return
		}
	}
	for i, column := range present.Columns {
		if _, ok := declared(rows, strings.TrimPrefix(column.Path, "facts.")); !ok {
			p.warn("undeclared-fact", fmt.Sprintf("%s/columns/%d/path", at, i), "Correct the path, or declare the fact in output_schema.",
				"%s shows %s, which its output_schema does not declare: the column stays empty", c.Name, column.Path)
		}
	}
}

// undeclared warns of a path to facts that a capability does not declare.
func undeclared(p *probe, of *contracts.Capability, path, at string) {
	inner, ok := strings.CutPrefix(path, "facts.")
	schema, err := contracts.CompileSchema(of.OutputSchema)
	if !ok || len(of.OutputSchema) == 0 || err != nil {
		return
	}
	if _, ok := declared(schema, inner); !ok {
		p.warn("undeclared-fact", at, "Correct the path, or declare the fact in the output_schema of "+of.Name+".",
			"facts.%s is read, and the output_schema of %s does not declare it", inner, of.Name)
	}
}

// declared follows a plain path through the properties of a schema. It returns nil and true if the
// schema does not restrict the value there.
func declared(schema *contracts.Schema, path string) (*contracts.Schema, bool) {
	for name := range strings.SplitSeq(path, ".") {
		if !isName(name) || len(schema.Properties()) == 0 {
			return nil, true
		}
		inner, ok := schema.Property(name)
		if !ok {
			return nil, false
		}
		schema = inner
	}
	return schema, true
}

// isName reports whether a path segment is a plain name.
func isName(part string) bool { return part != "" && !strings.ContainsAny(part, "[]{}()\"' ") }

// silentRoles warns of follow-up roles that no capability of the manifest plays: such a follow-up
// only happens if another domain plays the role.
func (s *suite) silentRoles(p *probe, c *contracts.Capability, at string) {
	if c.Metadata.Composition == nil {
		return
	}
	for i, role := range c.Metadata.Composition.FollowupRoles {
		if role == contracts.RoleNotifier || s.isPlayed(role) {
			continue // another domain sends messages
		}
		p.warn("role-unplayed", fmt.Sprintf("%s/composition/followup_roles/%d", at, i), "Correct the role, or say it in plays of the capability that is meant.",
			"%s is followed by whoever plays %q, and no capability here does", c.Name, role)
	}
}

func (s *suite) isPlayed(role string) bool {
	return slices.ContainsFunc(s.manifest.Capabilities, func(c contracts.Capability) bool {
		return slices.ContainsFunc(c.Metadata.Plays, func(play contracts.RolePlay) bool { return play.Role == role })
	})
}
