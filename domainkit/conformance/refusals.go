package conformance

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// unknownName is a capability that no manifest has.
const unknownName = "conformance_no_such_capability"

// checkRefusals sends requests that a domain must refuse. Wrong parameters are sent to reads only,
// because a service without validation would execute a write.
func (s *suite) checkRefusals(ctx context.Context, p *probe) {
	s.refuses(ctx, p, "unknown-capability", contracts.ExecuteRequest{Capability: unknownName, Parameters: map[string]any{}},
		http.StatusNotFound, "an unknown capability")
	if c := s.anyRead(); c != nil {
		poll := s.call(c, map[string]any{})
		poll.Context.Operation = "conformance-no-such-operation"
		s.refuses(ctx, p, "unknown-operation", poll, http.StatusGone, "an unknown operation")
		s.refusesGarbage(ctx, p)
	}
	for i := range s.manifest.Capabilities {
		c := &s.manifest.Capabilities[i]
		if !c.Metadata.SideEffectClass.Writes() {
			s.refusesWrongParameters(ctx, p, c, capabilityPointer(i))
		}
	}
}

func capabilityPointer(i int) string { return "/capabilities/" + strconv.Itoa(i) }

func (s *suite) anyRead() *contracts.Capability {
	for i := range s.manifest.Capabilities {
		if c := &s.manifest.Capabilities[i]; !c.Metadata.SideEffectClass.Writes() {
			return c
		}
	}
	return nil
}

func (s *suite) refuses(ctx context.Context, p *probe, rule string, request contracts.ExecuteRequest, status int, what string) {
	body, err := json.Marshal(request)
	if err != nil {
		p.fail(rule, "", "", "%s", err)
		return
	}
	got, err := s.send(ctx, http.MethodPost, "/execute", body, nil)
	if err != nil {
		p.fail("reachable", "", "", "%s: %s", what, err)
	} else if got.status != status {
		p.fail(rule, "", "Answer "+strconv.Itoa(status)+".", "%s is answered with %d: %s", what, got.status, got.excerpt())
	}
}

func (s *suite) refusesGarbage(ctx context.Context, p *probe) {
	for _, try := range [][2]string{{"a body that is no JSON", "{capability"}, {"an empty body", ""}, {"a list", "[]"}} {
		what := try[0]
		got, err := s.send(ctx, http.MethodPost, "/execute", []byte(try[1]), nil)
		if err != nil {
			p.fail("reachable", "", "", "%s: %s", what, err)
		} else if got.status < 400 || got.status >= 500 {
			p.fail("garbage", "", "Answer 400.", "%s is answered with %d: %s", what, got.status, got.excerpt())
		}
	}
}

func (s *suite) refusesWrongParameters(ctx context.Context, p *probe, c *contracts.Capability, pointer string) {
	wrong := wrongParameters(c)
	if wrong == nil {
		return // the schema accepts everything
	}
	got, err := s.execute(ctx, c, s.call(c, wrong))
	switch {
	case err != nil:
		p.fail("reachable", "", "", "%s: %s", c.Name, err)
	case got.status == http.StatusBadRequest:
	case got.isResult && !got.result.OK && got.status == http.StatusOK:
		p.warn("wrong-parameters-status", pointer, "Answer 400 when parameters do not fit the schema.",
			"%s refuses wrong parameters with 200 ok:false", c.Name)
	default:
		p.fail("wrong-parameters", pointer, "Check parameters against the schema and answer 400.",
			"%s with %v is answered with %d: %s", c.Name, wrong, got.status, got.excerpt())
	}
}

// wrongParameters returns parameters that violate the schema, based on an example if there is one,
// or nil if none can be found.
func wrongParameters(c *contracts.Capability) map[string]any {
	schema, err := contracts.CompileSchema(c.Schema)
	if err != nil {
		return nil
	}
	base := map[string]any{}
	if len(c.Metadata.Examples) > 0 {
		base = sent(c, c.Metadata.Examples[0].Parameters)
	}
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(c.Schema, &declared); err != nil {
		return nil
	}
	var candidates []map[string]any
	for _, name := range slices.Sorted(maps.Keys(declared.Properties)) {
		for _, value := range []any{map[string]any{"wrong": true}, 7, "wrong"} {
			changed := maps.Clone(base)
			changed[name] = value
			candidates = append(candidates, changed)
		}
	}
	candidates = append(candidates, map[string]any{})
	for _, candidate := range candidates {
		if len(schema.Validate(candidate)) > 0 {
			return candidate
		}
	}
	return nil
}
